/* The gaps of a trace, found once. */
#include "summary/gaps.h"

static void destroy(void *gaps)
{
    tkt_gaps_fini(gaps);
    tkt_free(gaps);
}

takt_status tkt_trace_gaps(const takt_trace *trace, const tkt_gaps **out)
{
    static const tkt_gaps_wish wish = {.longest = TKT_MOST_GAPS};
    /* The cast is safe: a sealed trace is constant except for this cache, which the lock protects.
     * Other threads wait here until the pass is done. */
    takt_trace *mine = (takt_trace *)trace;
    takt_status status = TAKT_OK;
    tkt_gaps *made = NULL;
    tkt_mutex_lock(&mine->gaps_lock);
    if (!mine->gaps) {
        made = tkt_alloc_zeroed(sizeof *made);
        status = made ? tkt_gaps_of(trace, &wish, made) : TAKT_NO_MEMORY;
        mine->destroy_gaps = destroy;
        mine->gaps = made;
    }
    if (status == TAKT_OK) {
        *out = mine->gaps;
    } else {
        tkt_free(made);
        mine->gaps = NULL;
    }
    tkt_mutex_unlock(&mine->gaps_lock);
    return status;
}
