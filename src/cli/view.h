/* Offering one trace to a browser on this machine: what view.c asks of the server. */
#ifndef TAKT_CLI_VIEW_H
#define TAKT_CLI_VIEW_H

#include "cli/cli.h"

/* The page that may read the trace. */
#define VIEW_VIEWER "https://ui.perfetto.dev"

enum {
    VIEW_PORT = 9001, /* the only one that the page's security policy lets it read from */
    VIEW_TOKEN_DIGITS = 32, /* 128 bits at random, hexadecimal */
    VIEW_FOLDER = VIEW_TOKEN_DIGITS + 2, /* the length of "/TOKEN/" */
    VIEW_LINK_SIZE = 512
};

/* One file at one address, http://127.0.0.1:PORT/TOKEN/NAME. From another port than VIEW_PORT the
 * viewer cannot fetch it; then there is a page of ours at .../TOKEN/ that fetches it and posts it to
 * the viewer. */
typedef struct view_offer {
    int      listener; /* a socket that listens on the loopback device alone; the server closes it */
    uint16_t port;
    int      file;     /* open for reading; the server closes it */
    uint64_t size;
    char     path[VIEW_FOLDER + 128]; /* "/TOKEN/NAME"; NAME needs no escaping anywhere */
} view_offer;

/* Fills path: the name in it is the file's, without what would have to be escaped. CLI_OK, or told. */
int view_name_path(const char *file, view_offer *offer);

/* Fills listener and port: the port that is wished for; 0: where the viewer looks, or if that is in
 * use any that is free. CLI_OK, or told. */
int view_listen(long wish, view_offer *offer);

/* The viewer's page, with the address that it shall read from; or ours. */
void view_make_link(const view_offer *offer, char link[VIEW_LINK_SIZE]);

typedef enum view_end {
    VIEW_FETCHED,   /* once, to the end */
    VIEW_TIMED_OUT,
    VIEW_NO_SERVER /* it could not be started, or this command was built without */
} view_end;

/* The HTML of our page and the value of its header Content-Security-Policy; the caller frees both.
 * NULL: no memory. */
char *view_page(const view_offer *offer);
char *view_page_policy(const view_offer *offer);

/* Whether this command was built with a server. */
bool view_has_server(void);

/* Serves the offer until it has been fetched once to the end, or until `seconds` have passed; a
 * transfer that has begun by then may end. */
view_end view_serve(const view_offer *offer, unsigned seconds);

#endif
