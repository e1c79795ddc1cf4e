/* takt view: hands a trace to ui.perfetto.dev, once. The page runs in the browser and fetches the
 * trace from a server on this machine, which ends when it has done so: nothing leaves the machine,
 * and nothing stays behind. */
#include "cli/view.h"
#include "cli/html/page.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

enum {
    MOST_SECONDS = 86400,
    PATH_SIZE = 4096
};

typedef enum view_option {
    OPTION_OPEN,
    OPTION_TIMEOUT,
    OPTION_PORT,
    OPTION_BACKGROUND,
    OPTION_HTML,
    OPTION_COUNT
} view_option;

static const cli_option options[OPTION_COUNT] = {
    [OPTION_OPEN] = {0, "open", NULL, "opens the link with xdg-open, too"},
    [OPTION_TIMEOUT] = {0, "timeout", "SECONDS", "ends if nobody has come by then; else 300"},
    [OPTION_PORT] = {0, "port", "N", "serves from port N; else 9001, or any if that is in use"},
    [OPTION_BACKGROUND] = {0, "background", NULL, "prints the link, and waits in the background"},
    [OPTION_HTML] = {0, "html", NULL,
                     "writes the page of takt report --html instead, which needs no network"},
};

static const cli_syntax syntax = {
    .verb = "view",
    .usage = "[OPTIONS] FILE",
    .text = "Prints a link that opens a trace in ui.perfetto.dev, and serves the file to that\n"
            "page, on this machine only and once. Chrome, Edge and Firefox let the page read\n"
            "from the machine that they run on, and may ask you first; Safari does not. The\n"
            "page reads from port 9001 alone: on another port the link opens a page of\n"
            "Takt's own, which hands the trace over at a click, also in Safari.",
    .options = options,
    .option_count = OPTION_COUNT,
};

typedef struct view_request {
    const char *file;
    long timeout_seconds;
    long port; /* 0: not said */
    bool open;
    bool background;
    bool html;
} view_request;

/* ---- The command line ------------------------------------------------------------------------ */

static int take_number(int option, const char *value, long most, long *out)
{
    if (cli_parse_count(value, most, out))
        return CLI_OK;
    return cli_usage_error(&syntax, "--%s \"%s\": expected a number from 1 to %ld",
                           options[option].name, value, most);
}

static int take_item(view_request *request, int item, const char *value)
{
    switch (item) {
    case OPTION_OPEN:
        request->open = true;
        return CLI_OK;
    case OPTION_TIMEOUT:
        return take_number(item, value, MOST_SECONDS, &request->timeout_seconds);
    case OPTION_PORT:
        return take_number(item, value, UINT16_MAX, &request->port);
    case OPTION_BACKGROUND:
        request->background = true;
        return CLI_OK;
    case OPTION_HTML:
        request->html = true;
        return CLI_OK;
    default: /* an operand */
        if (request->file)
            return cli_usage_error(&syntax, "one file at a time");
        request->file = value;
        return CLI_OK;
    }
}

/* Returns CLI_NO_ITEM when all is read, otherwise the exit status. */
static int parse(view_request *request, int argc, char **argv)
{
    cli_args args = cli_args_of(&syntax, argc, argv);
    const char *value = NULL;
    int item;

    while ((item = cli_args_next(&args, &value)) != CLI_NO_ITEM) {
        if (item == CLI_HELP)
            return CLI_OK;
        int status = item == CLI_ERROR ? CLI_USAGE : take_item(request, item, value);
        if (status != CLI_OK)
            return status;
    }
    if (!request->file)
        return cli_usage_error(&syntax, "which file? name a trace");
    if (request->html && (request->port || request->background))
        return cli_usage_error(&syntax, "--html serves nothing: leave out --port and --background");
    return CLI_NO_ITEM;
}

/* ---- The file -------------------------------------------------------------------------------- */

/* Names of what the page reads by itself. It also tells what is wrong with such a file. */
static bool is_trace_name(const char *path)
{
    static const char *const endings[] = {".pftrace", ".pftrace.gz", ".json", ".json.gz"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t size = strlen(endings[i]);
        if (length > size && strcmp(path + length - size, endings[i]) == 0)
            return true;
    }
    return false;
}

/* Under any other name a file is served only if it is a trace: a slip of the hand should not give
 * away what it is not meant to. */
static bool is_trace(const char *path)
{
    takt_trace *trace = cli_open_trace(path);
    takt_trace_release(trace);
    return trace != NULL;
}

static int open_file(const char *path, view_offer *offer)
{
    struct stat facts;
    offer->file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (offer->file < 0 || fstat(offer->file, &facts) != 0)
        return cli_error("%s: %s", path, strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return cli_error("%s: it is not a regular file", path);
    if (facts.st_size == 0)
        return cli_error("%s: the file is empty", path);
    if (!is_trace_name(path) && !is_trace(path))
        return CLI_FAILED;
    offer->size = (uint64_t)facts.st_size;
    return CLI_OK;
}

/* ---- The link -------------------------------------------------------------------------------- */

static void print_link(const view_request *request, const view_offer *offer, const char *link)
{
    char clean[512], size[32];

    printf("To see %s (%s), open this link in a browser; it works once:\n\n    %s\n\n",
           cli_clean(clean, sizeof clean, request->file),
           cli_bytes_text(size, sizeof size, offer->size), link);
    if (getenv("SSH_CONNECTION"))
        printf("Where the browser runs, first: ssh -L %u:127.0.0.1:%u HOST\n", offer->port,
               offer->port);
    if (!request->background)
        printf("Waiting for it, %ld s at most; Ctrl-C ends it.\n", request->timeout_seconds);
    fflush(stdout);
}

/* The program is found in PATH and gets the link as it is: there is no shell. */
static void open_link(char *link)
{
    char program[] = "xdg-open";
    char *arguments[] = {program, link, NULL};
    pid_t child;
    int status = posix_spawnp(&child, program, NULL, NULL, arguments, environ);
    if (status != 0)
        cli_error("%s: %s; open the link by hand", program, strerror(status));
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* The parent returns to whoever waits for this command; the child keeps nothing of theirs, so that
 * no pipe, lock or port of theirs stays open. Returns false in the parent, and where there is no
 * child, with *status set. */
static bool go_to_background(const view_offer *offer, int *status)
{
    pid_t child = fork();
    *status = child < 0 ? cli_error("cannot wait in the background: %s", strerror(errno)) : CLI_OK;
    if (child != 0)
        return false;
    setsid();
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; null >= 0 && i < 3; i++)
        dup2(null, i);
    for (int i = 3, most = (int)sysconf(_SC_OPEN_MAX); i < most && i < 65536; i++)
        if (i != offer->listener && i != offer->file)
            close(i);
    return true;
}

static int wait_for_browser(const view_request *request, const view_offer *offer)
{
    switch (view_serve(offer, (unsigned)request->timeout_seconds)) {
    case VIEW_FETCHED:
        puts("Fetched; the link is used up.");
        return CLI_OK;
    case VIEW_TIMED_OUT:
        return cli_error("nobody fetched %s within %ld s", request->file, request->timeout_seconds);
    default:
        return cli_error("the server could not be started");
    }
}

static int offer_file(const view_request *request, view_offer *offer)
{
    char link[VIEW_LINK_SIZE];
    int status = CLI_OK;

    view_make_link(offer, link);
    print_link(request, offer, link);
    if (request->open)
        open_link(link);
    if (request->background && !go_to_background(offer, &status))
        return status;
    return wait_for_browser(request, offer);
}

static int make_page(const view_request *request)
{
    char path[PATH_SIZE], *files[] = {(char *)request->file};
    int status = cli_report_html(&syntax, files, 1, NULL);
    if (status == CLI_OK && request->open &&
        cli_name_output(path, sizeof path, NULL, request->file, ".html"))
        open_link(path);
    return status;
}

static int tell_by_hand(const char *file)
{
    return cli_error(
        "%s cannot be served: this takt was built without libmicrohttpd. Open " VIEW_VIEWER
        " in a browser, choose \"Open trace file\" there and name the file",
        file);
}

int cli_view(int argc, char **argv)
{
    view_request request = {.timeout_seconds = 300};
    view_offer offer = {.listener = -1, .file = -1};

    int result = parse(&request, argc, argv);
    if (result != CLI_NO_ITEM)
        return result;
    if (request.html)
        return make_page(&request);
    result = open_file(request.file, &offer);
    if (result == CLI_OK && !view_has_server())
        result = tell_by_hand(request.file);
    if (result == CLI_OK)
        result = view_name_path(request.file, &offer);
    if (result == CLI_OK)
        result = view_listen(request.port, &offer);
    return result == CLI_OK ? offer_file(&request, &offer) : result;
}
