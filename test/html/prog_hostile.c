/* A trace whose names attack the page that shows them.
 *
 *     prog_hostile FILE.pftrace [nothing]
 *
 * The same attacks come as scopes, arguments, tracks, marks, counters, threads and the run's
 * name; with "nothing" there is that name alone. */
#include <takt/export.h>
#include <takt/takt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VARIANTS = 10,
    LONG_NAME = 20000
};

static const char *const attacks[] = {
    "</script><script>window.pwned=1</script>",
    "<!--<script>window.pwned=1</script>",
    "--><img src=x onerror=window.pwned=1>",
    "\"><svg/onload=window.pwned=1>",
    "</style><style>body{display:none}</style>",
    "';window.pwned=1;//",
    "\\\";window.pwned=1;//",
    "`${window.pwned=1}`",
    "javascript:window.pwned=1",
    "{{window.pwned=1}}",
    "&lt;b&gt; &amp;#60;",
    "]]>]]&gt;<![CDATA[",
    "\033[31mred\033[0m\033]0;title\007",
    "\xE2\x80\xAE"
    "evil\xE2\x80\xAC bidi \xE2\x81\xA6x\xE2\x81\xA9",
    "\xE2\x80\xA8line\xE2\x80\xA9paragraph",
    "invalid \xFF\xC0\xAF\xED\xA0\x80 bytes",
    "tab\tnew\nline\rreturn\x01\x7F",
    "\xC2\x9B"
    "31m C1",
    "__proto__",
    "=HYPERLINK(\"http://example.invalid\")",
};

enum {
    ATTACKS = sizeof attacks / sizeof *attacks
};

static void save(const takt_trace *trace, void *user)
{
    takt_error error = {.status = TAKT_OK};
    if (takt_export_file(trace, "perfetto", user, NULL, &error) != TAKT_OK)
        fprintf(stderr, "%s\n", error.message);
}

static void record(const char *name)
{
    takt_begin(name);
    TAKT_ARG("attack", name);
    takt_begin("inside");
    takt_end();
    takt_end();
    takt_span_end(takt_span_begin(takt_track_named(name), name));
}

static void record_all(void)
{
    char name[256];
    char *longest = malloc(LONG_NAME + 1);

    for (int variant = 0; variant < VARIANTS; variant++)
        for (size_t i = 0; i < ATTACKS; i++) {
            snprintf(name, sizeof name, variant ? "%s %d" : "%s", attacks[i], variant);
            record(name);
        }
    if (longest) {
        memset(longest, '<', LONG_NAME);
        longest[LONG_NAME] = '\0';
        record(longest);
    }
    free(longest);
    takt_begin(""); /* no track of this name: viewers give such rows names of their own */
    takt_end();
    takt_thread_name(attacks[1]);
    TAKT_MARK("</script><script>window.pwned=1</script>");
    TAKT_COUNTER("<img src=x onerror=window.pwned=1>", 1.5);
}

int main(int argc, char **argv)
{
    takt_profiler_options options = TAKT_PROFILER_OPTIONS_INIT;
    takt_profiler *profiler;

    if (argc < 2)
        return 2;
    options.name = attacks[0];
    options.on_trace = save;
    options.user = argv[1];
    if (takt_profiler_create(&options, &profiler) != TAKT_OK ||
        takt_profiler_start(profiler) != TAKT_OK)
        return 1;
    if (argc == 2)
        record_all();
    takt_profiler_step(profiler);
    takt_profiler_stop(profiler);
    takt_profiler_destroy(profiler);
    return 0;
}
