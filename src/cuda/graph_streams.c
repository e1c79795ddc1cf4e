/* The streams on which graphs were launched. Nobody tells how many activities a graph's launch has.
 * But once its stream has done all that it was given, no more will come, however busy the device is
 * with other streams.
 *
 * A stream is asked only while it exists: its destruction takes it off the list first. One that is
 * being captured must not be asked, so captures that begin meanwhile wait. */
#include "cuda/collector.h"

#include <string.h>

#define MOST_STREAMS 256u

/* Handles by cuda.h: 1 is a context's legacy default stream, 2 the calling thread's own, which no
 * other thread can ask about. */
#define LEGACY_STREAM ((void *)1)
#define OWN_STREAM    ((void *)2)

static struct {
    tkt_mutex lock;
    uint32_t count;
    bool is_incomplete; /* there are others, too */
    struct {
        void *context;
        void *stream;
        bool is_done; /* when last asked */
    } items[MOST_STREAMS];
} streams = {.lock = TKT_MUTEX_INIT};

void tkt_graph_stream_used(void *context, void *stream, bool is_of_thread)
{
    if (!stream)
        stream = is_of_thread ? OWN_STREAM : LEGACY_STREAM;
    tkt_mutex_lock(&streams.lock);
    uint32_t i = 0;
    while (i < streams.count &&
           (streams.items[i].stream != stream || streams.items[i].context != context))
        i++;
    if (i == streams.count && i < MOST_STREAMS && stream != OWN_STREAM) {
        streams.items[i].context = context;
        streams.items[i].stream = stream;
        streams.count++;
    }
    streams.is_incomplete |= i == MOST_STREAMS || stream == OWN_STREAM;
    tkt_mutex_unlock(&streams.lock);
}

void tkt_graph_stream_ends(const void *stream)
{
    tkt_mutex_lock(&streams.lock);
    for (uint32_t i = 0; i < streams.count;)
        if (streams.items[i].stream == stream)
            streams.items[i] = streams.items[--streams.count];
        else
            i++;
    tkt_mutex_unlock(&streams.lock);
}

void tkt_graph_streams_forget(void)
{
    tkt_mutex_lock(&streams.lock);
    streams.count = 0;
    streams.is_incomplete = false;
    tkt_mutex_unlock(&streams.lock);
}

/* Asks the streams of the current context. */
static bool ask_streams(const tkt_driver *driver, void *unused)
{
    (void)unused;
    void *context = NULL;
    if (driver->context_current(&context) != TKT_CUDA_SUCCESS)
        return false;
    for (uint32_t i = 0; i < streams.count; i++) {
        int capturing = 0;
        if (streams.items[i].context != context || streams.items[i].is_done)
            continue;
        bool may_ask =
            driver->stream_is_capturing(streams.items[i].stream, &capturing) == TKT_CUDA_SUCCESS &&
            !capturing && !tkt_driver_is_capture_near(driver);
        streams.items[i].is_done =
            may_ask && driver->stream_query(streams.items[i].stream) == TKT_CUDA_SUCCESS;
    }
    return false;
}

bool tkt_graph_streams_are_done(const tkt_driver *driver)
{
    if (!driver || !driver->stream_is_capturing || !driver->stream_query)
        return false;
    tkt_capture_delay();
    tkt_mutex_lock(&streams.lock);
    for (uint32_t i = 0; i < streams.count; i++)
        streams.items[i].is_done = false;
    bool are_done = !streams.is_incomplete &&
                    (streams.count == 0 || tkt_driver_visit(driver, ask_streams, NULL));
    for (uint32_t i = 0; i < streams.count; i++)
        are_done &= streams.items[i].is_done;
    tkt_mutex_unlock(&streams.lock);
    tkt_capture_release();
    return are_done;
}
