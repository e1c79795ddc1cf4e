/* The link to the last trace. The command `takt` serves it and not this library: the host should
 * neither open a port nor wait for a browser. */
#include "profiler/view.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <string.h>

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

void tkt_view_keep(char **viewable, const char *output, const char *path)
{
    bool is_perfetto = begins_with(output, "perfetto");
    if (!is_perfetto && (*viewable || !begins_with(output, "chrome")))
        return;
    size_t size = strlen(path) + 1;
    tkt_free(*viewable);
    *viewable = tkt_alloc(size);
    if (*viewable)
        memcpy(*viewable, path, size);
}

void tkt_view(const char *path)
{
    if (!path) {
        tkt_log(TAKT_LOG_WARNING, "output.view: no perfetto or chrome trace was saved");
        return;
    }
    char program[] = "takt", verb[] = "view", background[] = "--background", end[] = "--";
    char *arguments[] = {program, verb, background, end, (char *)path, NULL};
    int status = tkt_run_program(arguments);
    if (status != 0)
        tkt_log(TAKT_LOG_WARNING, "output.view: %s: takt is looked for in PATH; type: takt view %s",
                strerror(status), path);
}
