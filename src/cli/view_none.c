/* Stands in for view_server.c where the command is built without libmicrohttpd. */
#include "cli/view.h"

#ifndef TKT_HAVE_MICROHTTPD

bool view_has_server(void)
{
    return false;
}

view_end view_serve(const view_offer *offer, unsigned seconds)
{
    (void)offer;
    (void)seconds;
    return VIEW_NO_SERVER;
}

#endif
