/* Where `takt view` offers a trace: a port of the loopback device, a path that none can guess. */
#include "cli/view.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LONGEST_NAME = 100 /* of a file, as the link shows it */
};

/* A socket that only this machine reaches, or -1. What served from the same port a moment ago may
 * still be closing; what serves from it now is an error. */
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
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    size_t length = strlen(name), used = 1;

    if (getrandom(token, sizeof token, 0) != (ssize_t)sizeof token)
        return cli_error("no random number: %s", strerror(errno));
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
