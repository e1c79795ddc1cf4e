/* Offers one trace to a browser on this machine. view.c uses the server through this header. */
#ifndef TAKT_CLI_VIEW_H
#define TAKT_CLI_VIEW_H

#include "cli/cli.h"

/* The web page that may read the trace. */
#define VIEW_VIEWER "https://ui.perfetto.dev"

enum {
    VIEW_PORT = 9001, /* the only port that this page's security policy lets it read from */
    VIEW_TOKEN_DIGITS = 32, /* 128 random bits in hexadecimal */
    VIEW_FOLDER = VIEW_TOKEN_DIGITS + 2, /* the length of "/TOKEN/" */
    VIEW_LINK_SIZE = 512
};

/* One file at one address, http://127.0.0.1:PORT/TOKEN/NAME. The viewer can fetch it only from
 * VIEW_PORT. On another port our own page at .../TOKEN/ fetches the file and posts it to the
 * viewer. */
typedef struct view_offer {
    int      listener; /* a socket that listens on the loopback interface only; the server closes
                        * it */
    uint16_t port;
    int      file;     /* open for reading; the server closes it */
    uint64_t size;
    char     path[VIEW_FOLDER + 128]; /* "/TOKEN/NAME"; no character needs escaping, in a URL or in
                                       * HTML */
} view_offer;

/* Fills `path` with a new token and the file's name, in which `_` replaces special characters.
 * Returns CLI_OK, or CLI_FAILED after reporting the error. */
int view_name_path(const char *file, view_offer *offer);

/* Fills `listener` and `port`. With port 0 it tries VIEW_PORT, then any free port. Returns CLI_OK,
 * or CLI_FAILED after reporting the error. */
int view_listen(long wish, view_offer *offer);

/* Makes the link for the user: on VIEW_PORT to the viewer's page with the address of the trace,
 * otherwise to our own page. */
void view_make_link(const view_offer *offer, char link[VIEW_LINK_SIZE]);

typedef enum view_end {
    VIEW_FETCHED,   /* once, completely */
    VIEW_TIMED_OUT,
    VIEW_NO_SERVER /* it did not start, or this command was built without one */
} view_end;

/* Return the HTML of our own page, and its Content-Security-Policy header. The caller frees both.
 * NULL: no memory. */
char *view_page(const view_offer *offer);
char *view_page_policy(const view_offer *offer);

/* True if this command was built with a server. */
bool view_has_server(void);

/* Serves the offer until a client has fetched it once completely, or until `seconds` have passed. A
 * transfer that is running then may finish. */
view_end view_serve(const view_offer *offer, unsigned seconds);

#endif
