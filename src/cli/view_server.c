/* The server of `takt view`: it serves one file to one page, once.
 *
 * Every program on this machine, and every page open in a browser on it, can connect to a loopback
 * port. Therefore:
 * - The address contains a random token that nobody can guess.
 * - The request must name the loopback interface as its host. Otherwise a page elsewhere could
 * reach the server under its own host name, which it points to this machine (DNS rebinding).
 * - A page that sends a request must be the viewer.
 * - No part of a request becomes a path in the file system: the file is already open.
 *
 * Idle connections must not keep the viewer out. All connections come from the same address, so a
 * limit per address would also limit the viewer, and a timeout would make the viewer wait. So the
 * server accepts every connection, and when there are too many it closes the oldest one without a
 * valid request. */
#include "cli/view.h"

#ifdef TKT_HAVE_MICROHTTPD

#include <microhttpd.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
    MOST_CONNECTIONS = 64,
    MOST_GUESTS = 32, /* a new connection then closes the oldest one, which takes a moment */
    IDLE_SECONDS = 60 /* the server closes a connection that is idle for so long */
};

/* libmicrohttpd before 0.9.71 has no such type. */
#if MHD_VERSION >= 0x00097100
typedef enum MHD_Result mhd_result;
#else
typedef int mhd_result;
#endif

typedef struct view_guest {
    struct MHD_Connection *connection; /* NULL: this entry is free */
    uint64_t number;                   /* order of arrival */
    bool may_stay;                     /* it sent a valid request, or is already being closed */
} view_guest;

typedef struct view_server {
    const view_offer *offer;
    struct MHD_Daemon *daemon;
    struct MHD_Response *file;
    struct MHD_Response *page; /* NULL: the viewer fetches the file itself */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_busy;                        /* protected by `lock`; a transfer is running */
    bool is_fetched;                     /* protected by `lock` */
    view_guest guests[MOST_CONNECTIONS]; /* only the server's thread uses this and the next field */
    uint64_t guest_count;                /* connections and disconnections so far */
} view_server;

/* ---- Connections ----------------------------------------------------------------------------- */

/* Shuts down our end of the socket. The server then sees the connection end and removes it. */
static void send_away(view_guest *guest)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(guest->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info)
        shutdown(info->connect_fd, SHUT_RDWR);
    guest->may_stay = true;
}

/* Closes the oldest connection without a valid request if there are too many. */
static void send_oldest_away(view_server *server)
{
    view_guest *oldest = NULL;
    int count = 0;
    for (view_guest *guest = server->guests; guest < server->guests + MOST_CONNECTIONS; guest++) {
        count += guest->connection != NULL;
        if (guest->connection && !guest->may_stay && (!oldest || guest->number < oldest->number))
            oldest = guest;
    }
    if (oldest && count >= MOST_GUESTS)
        send_away(oldest);
}

/* Returns the entry of a connection; for NULL, a free entry. NULL if there is none. */
static view_guest *guest_of(view_server *server, const struct MHD_Connection *connection)
{
    for (int i = 0; i < MOST_CONNECTIONS; i++)
        if (server->guests[i].connection == connection)
            return &server->guests[i];
    return NULL;
}

static void note_guest(void *user, struct MHD_Connection *connection, void **context,
                       enum MHD_ConnectionNotificationCode what)
{
    view_server *server = user;
    (void)context;
    bool has_come = what == MHD_CONNECTION_NOTIFY_STARTED;
    if (has_come)
        send_oldest_away(server);
    view_guest *guest = guest_of(server, has_come ? NULL : connection);
    if (guest)
        *guest = (view_guest){has_come ? connection : NULL, ++server->guest_count, false};
}

static void let_stay(view_server *server, const struct MHD_Connection *connection)
{
    view_guest *guest = guest_of(server, connection);
    if (guest)
        guest->may_stay = true;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool is_our_host(const view_server *server, const char *host)
{
    char address[32], name[32];
    snprintf(address, sizeof address, "127.0.0.1:%u", server->offer->port);
    snprintf(name, sizeof name, "localhost:%u", server->offer->port);
    return host && (strcmp(host, address) == 0 || strcmp(host, name) == 0);
}

/* Takes the same time wherever the first difference is, so that timing reveals nothing. */
static bool is_same_path(const char *asked, const char *ours)
{
    size_t length = strlen(ours);
    unsigned difference = 0;
    if (strlen(asked) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned char)asked[i] ^ (unsigned char)ours[i];
    return difference == 0;
}

static bool is_page(const view_server *server, const char *path)
{
    char folder[VIEW_FOLDER + 1];
    snprintf(folder, sizeof folder, "%.*s", VIEW_FOLDER, server->offer->path);
    return server->page && is_same_path(path, folder);
}

/* Returns the HTTP status with which to refuse a request; 0 if it is valid. */
static unsigned refusal(const view_server *server, struct MHD_Connection *connection,
                        const char *path, const char *method)
{
    const char *origin = header_of(connection, "Origin");
    if (!is_our_host(server, header_of(connection, "Host")))
        return MHD_HTTP_FORBIDDEN;
    if (origin && strcmp(origin, VIEW_VIEWER) != 0)
        return MHD_HTTP_FORBIDDEN;
    if (!is_same_path(path, server->offer->path) && !is_page(server, path))
        return MHD_HTTP_NOT_FOUND;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 && strcmp(method, "OPTIONS") != 0)
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    return 0;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void add_headers(struct MHD_Response *response, const char *type)
{
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
}

static mhd_result answer_empty(struct MHD_Connection *connection, unsigned status)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET, HEAD, OPTIONS");
    mhd_result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* Browsers send a preflight request before a page from the internet may read from this machine. It
 * asks for permission for another origin (CORS) and, in some versions, for a private network. */
static mhd_result answer_preflight(struct MHD_Connection *connection)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, "Access-Control-Allow-Origin", VIEW_VIEWER);
    MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, HEAD");
    if (header_of(connection, "Access-Control-Request-Private-Network"))
        MHD_add_response_header(response, "Access-Control-Allow-Private-Network", "true");
    mhd_result result = MHD_queue_response(connection, MHD_HTTP_NO_CONTENT, response);
    MHD_destroy_response(response);
    return result;
}

/* The file goes to one client at a time. After one complete transfer, nobody gets it again. */
static mhd_result answer_file(view_server *server, struct MHD_Connection *connection, void **state)
{
    pthread_mutex_lock(&server->lock);
    bool is_free = !server->is_busy && !server->is_fetched;
    if (is_free)
        server->is_busy = true;
    pthread_mutex_unlock(&server->lock);
    if (!is_free)
        return answer_empty(connection, MHD_HTTP_GONE);
    *state = server; /* end_request() recognises the file's request by this */
    return MHD_queue_response(connection, MHD_HTTP_OK, server->file);
}

static mhd_result answer(void *user, struct MHD_Connection *connection, const char *path,
                         const char *method, const char *version, const char *body,
                         size_t *body_size, void **state)
{
    view_server *server = user;
    (void)version;
    (void)body;
    (void)body_size;
    unsigned refused = refusal(server, connection, path, method);
    if (refused)
        return answer_empty(connection, refused);
    let_stay(server, connection);
    if (strcmp(method, "OPTIONS") == 0)
        return answer_preflight(connection);
    if (is_page(server, path))
        return MHD_queue_response(connection, MHD_HTTP_OK, server->page);
    if (strcmp(method, "HEAD") == 0)
        return MHD_queue_response(connection, MHD_HTTP_OK, server->file);
    return answer_file(server, connection, state);
}

static void end_request(void *user, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode why)
{
    view_server *server = user;
    (void)connection;
    if (*state != server)
        return;
    *state = NULL;
    pthread_mutex_lock(&server->lock);
    server->is_busy = false;
    server->is_fetched = why == MHD_REQUEST_TERMINATED_COMPLETED_OK;
    pthread_cond_signal(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

/* ---- The server ------------------------------------------------------------------------------ */

bool view_has_server(void)
{
    return true;
}

/* Keeps paths as they were sent: our own paths contain nothing that needs escaping. */
static size_t leave_escaped(void *user, struct MHD_Connection *connection, char *text)
{
    (void)user;
    (void)connection;
    return strlen(text);
}

static bool make_file(view_server *server)
{
    server->file = MHD_create_response_from_fd64(server->offer->size, server->offer->file);
    if (!server->file)
        return false;
    add_headers(server->file, "application/octet-stream");
    MHD_add_response_header(server->file, "Access-Control-Allow-Origin", VIEW_VIEWER);
    MHD_add_response_header(server->file, "Vary", "Origin");
    return true;
}

static bool make_page(view_server *server)
{
    char *page = view_page(server->offer), *policy = view_page_policy(server->offer);
    if (page && policy)
        server->page = MHD_create_response_from_buffer(strlen(page), page, MHD_RESPMEM_MUST_COPY);
    if (server->page) {
        add_headers(server->page, "text/html; charset=utf-8");
        MHD_add_response_header(server->page, "Content-Security-Policy", policy);
    }
    free(page);
    free(policy);
    return server->page != NULL;
}

static bool start(view_server *server)
{
    const view_offer *offer = server->offer;
    if (!make_file(server) || (offer->port != VIEW_PORT && !make_page(server)))
        return false;
    server->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, answer, server, MHD_OPTION_LISTEN_SOCKET,
        offer->listener, MHD_OPTION_NOTIFY_COMPLETED, end_request, server,
        MHD_OPTION_NOTIFY_CONNECTION, note_guest, server, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL, MHD_OPTION_END);
    return server->daemon != NULL;
}

static bool wait_for_fetch(view_server *server, unsigned seconds)
{
    struct timespec end;
    int status = 0;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += (time_t)seconds;
    pthread_mutex_lock(&server->lock);
    while (!server->is_fetched && (status == 0 || server->is_busy))
        status = status == 0 ? pthread_cond_timedwait(&server->changed, &server->lock, &end)
                             : pthread_cond_wait(&server->changed, &server->lock);
    bool is_fetched = server->is_fetched;
    pthread_mutex_unlock(&server->lock);
    return is_fetched;
}

view_end view_serve(const view_offer *offer, unsigned seconds)
{
    view_server server = {
        .offer = offer, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    view_end end = VIEW_NO_SERVER;

    if (start(&server))
        end = wait_for_fetch(&server, seconds) ? VIEW_FETCHED : VIEW_TIMED_OUT;
    if (server.daemon)
        MHD_stop_daemon(server.daemon);
    if (server.file)
        MHD_destroy_response(server.file);
    if (server.page)
        MHD_destroy_response(server.page);
    return end;
}

#endif
