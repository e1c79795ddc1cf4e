/* A plugin with scopes of its own; its names go away with it. Not a test: check_plugin.sh builds
 * it. */
#include <takt/takt.h>

#include <string.h>

void plugin_work(void);

void plugin_work(void)
{
    char name[] = "a name on the plugin's stack";
    TAKT_SCOPE("scope of the plugin");
    TAKT_PHASE("phase of the plugin");
    TAKT_ARG("key of the plugin", "value of the plugin");
    TAKT_COUNTER("counter of the plugin", 1);
    TAKT_MARK("mark of the plugin");
    {
        TAKT_ACTIVITY("device of the plugin", TAKT_TIMING_KERNEL, "activity of the plugin");
    }
    takt_begin(name);
    takt_end();
    memset(name, 'x', sizeof name - 1);
    TAKT_END("unmatched in the plugin");
}
