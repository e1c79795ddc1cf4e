/* takt view: opens a trace in ui.perfetto.dev. That page runs in the browser and fetches the trace,
 * once, from a server on this machine; then the server ends. The trace never leaves the machine. */
#include "cli/view.h"

#include "base/text.h"
#include "cli/html/html.h"
#include "report/table.h"

#include <takt/export.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
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
    OPTION_JSON,
    OPTION_COUNT
} view_option;

static const cli_option options[OPTION_COUNT] = {
    [OPTION_OPEN] = {0, "open", NULL, "opens the link with xdg-open, too"},
    [OPTION_TIMEOUT] = {0, "timeout", "SECONDS", "ends if nobody has come by then; else 300"},
    [OPTION_PORT] = {0, "port", "N", "serves from port N; else 9001, or any if that is in use"},
    [OPTION_BACKGROUND] = {0, "background", NULL, "prints the link, and waits in the background"},
    [OPTION_HTML] = {0, "html", NULL,
                     "writes the page of takt report --html instead, which needs no network"},
    [OPTION_JSON] = {0, "json", NULL, "prints the link as JSON"},
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
    long port; /* 0: not given */
    bool open;
    bool background;
    bool html;
    bool json;
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
    case OPTION_JSON:
        request->json = true;
        return CLI_OK;
    default: /* an operand */
        if (request->file)
            return cli_usage_error(&syntax, "name only one file");
        request->file = value;
        return CLI_OK;
    }
}

/* Returns CLI_NO_ITEM if the command line is valid, otherwise the exit status. */
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
        return cli_usage_error(&syntax, "no file given: name a trace");
    if (request->html && request->json)
        return cli_usage_error(&syntax, "--html writes a page: leave out --json");
    if (request->html && (request->port || request->background))
        return cli_usage_error(&syntax, "--html serves nothing: leave out --port and --background");
    return CLI_NO_ITEM;
}

/* ---- The file -------------------------------------------------------------------------------- */

/* True for file names that the viewer accepts. The viewer also reports what is wrong with such a
 * file. */
static bool is_trace_name(const char *path)
{
    static const char *const endings[] = {".pftrace", ".pftrace.gz", ".json", ".json.gz"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (tkt_has_ending(path, strlen(path), endings[i]))
            return true;
    return false;
}

static takt_status write_all(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? TAKT_OK : TAKT_IO_ERROR;
}

/* Replaces the offered file by the trace as Perfetto reads it, in a file without a name. */
static int convert(const takt_trace *trace, view_offer *offer)
{
    FILE *file = tmpfile();
    const takt_sink sink = {write_all, file};
    struct stat facts;
    bool is_good = file && takt_export(trace, "perfetto", &sink) == TAKT_OK && fflush(file) == 0;
    int copy = is_good ? dup(fileno(file)) : -1;
    is_good = copy >= 0 && fstat(copy, &facts) == 0;
    if (file)
        fclose(file);
    if (!is_good)
        return cli_error("cannot write the trace into a temporary file: %s", strerror(errno));
    close(offer->file);
    offer->file = copy;
    offer->size = (uint64_t)facts.st_size;
    return CLI_OK;
}

/* Files with other names are served only if they are traces, so that a typing mistake does not
 * expose a private file. The viewer does not know Nsight Systems' databases. */
static int check_content(const char *path, view_offer *offer)
{
    static const char database[] = "SQLite format 3";
    char head[sizeof database - 1] = "";
    takt_trace *trace = cli_open_trace(path);
    if (!trace)
        return CLI_FAILED;
    bool is_database = pread(offer->file, head, sizeof head, 0) == (ssize_t)sizeof head &&
                       memcmp(head, database, sizeof head) == 0;
    int status = is_database ? convert(trace, offer) : CLI_OK;
    takt_trace_release(trace);
    return status;
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
    offer->size = (uint64_t)facts.st_size;
    return is_trace_name(path) ? CLI_OK : check_content(path, offer);
}

/* ---- The link -------------------------------------------------------------------------------- */

static void put_link(const view_request *request, const view_offer *offer, const char *link)
{
    fputs("{\"file\": ", stdout);
    cli_put_json_text(request->file);
    printf(", \"bytes\": %llu, \"port\": %u, \"link\": ", (unsigned long long)offer->size,
           offer->port);
    cli_put_json_text(link);
    puts("}");
    fflush(stdout);
}

static void print_link(const view_request *request, const view_offer *offer, const char *link)
{
    char clean[512], size[TKT_VALUE_SIZE];

    tkt_value_text(size, TKT_CELL_BYTES, (tkt_cell){.u = offer->size});
    printf("To see %s (%s), open this link in a browser; it works once:\n\n    %s\n\n",
           cli_clean(clean, sizeof clean, request->file), size, link);
    if (getenv("SSH_CONNECTION"))
        printf("Where the browser runs, first: ssh -L %u:127.0.0.1:%u HOST\n", offer->port,
               offer->port);
    if (!request->background)
        printf("Waiting for it, %ld s at most; Ctrl-C ends it.\n", request->timeout_seconds);
    fflush(stdout);
}

/* Finds the program in PATH and passes the link unchanged; no shell is involved. */
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

/* Forks. The parent returns to its caller, such as a script. The child closes everything inherited
 * except the listener and the file, so that it holds no pipe, lock or port open. Returns true in
 * the child. Returns false in the parent, and after a failure; *status is then the exit status. */
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
        if (!request->json)
            puts("Fetched; the link is used up.");
        return CLI_OK;
    case VIEW_TIMED_OUT:
        return cli_error("no browser fetched %s within %ld s", request->file,
                         request->timeout_seconds);
    default:
        return cli_error("cannot start the server");
    }
}

static int offer_file(const view_request *request, view_offer *offer)
{
    char link[VIEW_LINK_SIZE];
    int status = CLI_OK;

    view_make_link(offer, link);
    (request->json ? put_link : print_link)(request, offer, link);
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

static int serve(const view_request *request)
{
    view_offer offer = {.listener = -1, .file = -1};
    int result = open_file(request->file, &offer);
    if (result == CLI_OK && !view_has_server())
        result = tell_by_hand(request->file);
    if (result == CLI_OK)
        result = view_name_path(request->file, &offer);
    if (result == CLI_OK)
        result = view_listen(request->port, &offer);
    return result == CLI_OK ? offer_file(request, &offer) : result;
}

int cli_view(int argc, char **argv)
{
    view_request request = {.timeout_seconds = 300};
    cli_files files = {0};
    int result = parse(&request, argc, argv);
    if (result != CLI_NO_ITEM)
        return result;
    result = cli_files_add_one(&files, request.file);
    if (result == CLI_OK) {
        request.file = files.paths[0];
        result = request.html ? make_page(&request) : serve(&request);
    }
    cli_files_free(&files);
    return result;
}

/* ======== The address ======== */

/* The trace's address: a port of the loopback interface and a path that nobody can guess. */

enum {
    LONGEST_NAME = 100 /* of the file's name in the link */
};

/* Returns a socket that only this machine can reach, or -1. SO_REUSEADDR allows a port whose last
 * connections are still closing; a port with an active server remains an error. */
static int listener_at(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int yes = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
        listen(listener, SOMAXCONN) == 0)
        return listener;
    int number = errno;
    if (listener >= 0)
        close(listener);
    errno = number;
    return -1;
}

int view_listen(long wish, view_offer *offer)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;

    offer->listener = listener_at(wish ? (uint16_t)wish : VIEW_PORT);
    if (offer->listener < 0 && !wish)
        offer->listener = listener_at(0);
    if (offer->listener < 0 ||
        getsockname(offer->listener, (struct sockaddr *)&address, &size) != 0)
        return cli_error("cannot serve from port %ld: %s", wish ? wish : VIEW_PORT,
                         strerror(errno));
    offer->port = ntohs(address.sin_port);
    return CLI_OK;
}

int view_name_path(const char *file, view_offer *offer)
{
    unsigned char token[VIEW_TOKEN_DIGITS / 2];
    const char *name = tkt_base_name(file);
    size_t length = strlen(name), used = 1;

    if (getrandom(token, sizeof token, 0) != (ssize_t)sizeof token)
        return cli_error("cannot get a random number for the link: %s", strerror(errno));
    offer->path[0] = '/';
    for (size_t i = 0; i < sizeof token; i++)
        used += (size_t)snprintf(offer->path + used, 3, "%02x", token[i]);
    offer->path[used++] = '/';
    for (name += length > LONGEST_NAME ? length - LONGEST_NAME : 0; *name; name++) {
        bool is_plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                        (*name >= '0' && *name <= '9') || strchr("._-", *name);
        offer->path[used++] = is_plain ? *name : '_';
    }
    offer->path[used] = '\0';
    return CLI_OK;
}

void view_make_link(const view_offer *offer, char link[VIEW_LINK_SIZE])
{
    if (offer->port == VIEW_PORT)
        snprintf(link, VIEW_LINK_SIZE, VIEW_VIEWER "/#!/?url=http://127.0.0.1:%u%s", offer->port,
                 offer->path);
    else
        snprintf(link, VIEW_LINK_SIZE, "http://127.0.0.1:%u%.*s", offer->port, VIEW_FOLDER,
                 offer->path);
}

/* ======== The page ======== */

/* Our own page, which fetches the trace from our server and posts it to the viewer:
 * https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui. The viewer answers PING with
 * PONG as soon as it listens, and trusts pages from the loopback interface. Browsers open the
 * viewer's window only after a click. */

/* %1$s is the token, %2$s the file name; neither needs escaping. */
static const char page[] =
    "<!doctype html>\n"
    "<html lang=\"en\">\n"
    "<meta charset=\"utf-8\">\n"
    "<title>%2$s - Takt</title>\n"
    "<p><button>Open %2$s in ui.perfetto.dev</button>\n"
    "<p role=\"status\"></p>\n"
    "<script nonce=\"%1$s\">\n"
    "'use strict';\n"
    "const viewer = '" VIEW_VIEWER "', name = '%2$s';\n"
    "const button = document.querySelector('button');\n"
    "const say = (text) => { document.querySelector('[role=status]').textContent = text; };\n"
    "\n"
    "function post(tab, buffer) {\n"
    "    const knock = setInterval(() => tab.postMessage('PING', viewer), 100);\n"
    "    addEventListener('message', (event) => {\n"
    "        if (event.source !== tab || event.origin !== viewer || event.data !== 'PONG')\n"
    "            return;\n"
    "        clearInterval(knock);\n"
    "        if (!button.hidden)\n"
    "            tab.postMessage({perfetto: {buffer, title: name, fileName: name}}, viewer);\n"
    "        button.hidden = true;\n"
    "        say('Handed over. This page can be closed.');\n"
    "    });\n"
    "}\n"
    "\n"
    "button.onclick = async () => {\n"
    "    const tab = open(viewer);\n"
    "    if (!tab)\n"
    "        return say('The browser has not opened a window: allow this page to do so.');\n"
    "    button.disabled = true;\n"
    "    say('Reading the trace ...');\n"
    "    const answer = await fetch(name).catch(() => null);\n"
    "    if (!answer || !answer.ok)\n"
    "        return say('The link is used up, or takt has ended: run takt view again.');\n"
    "    post(tab, await answer.arrayBuffer());\n"
    "};\n"
    "</script>\n";

static const char policy[] =
    "default-src 'none'; script-src 'nonce-%1$s'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

static char *fill_in(const char *text, const view_offer *offer)
{
    char token[VIEW_TOKEN_DIGITS + 1];
    char *filled = NULL;
    snprintf(token, sizeof token, "%.*s", VIEW_TOKEN_DIGITS, offer->path + 1);
    return asprintf(&filled, text, token, offer->path + VIEW_FOLDER) < 0 ? NULL : filled;
}

char *view_page(const view_offer *offer)
{
    return fill_in(page, offer);
}

char *view_page_policy(const view_offer *offer)
{
    return fill_in(policy, offer);
}
