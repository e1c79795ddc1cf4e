/* All events of a Chrome file except spans and activities of devices. Also strings and numbers. */
#include "base/own.h"
#include "export/chrome.h"
#include "export/devices.h"

#include <math.h>
#include <stdio.h>

/* ======== Events ======== */

/* Steps, marks, counters, flows, reported memory. */

/* Writes {"ph":"i"   and the caller adds further fields. */
static void begin_event(tkt_chrome *chrome, const char *phase)
{
    tkt_writer_text(chrome->writer, "{\"ph\":\"");
    tkt_writer_text(chrome->writer, phase);
    tkt_writer_text(chrome->writer, "\"");
}

/* Writes ,"pid":1,"tid":2,"ts":   and the caller adds the time. */
static void put_row(tkt_chrome *chrome, uint32_t tid)
{
    tkt_writer *writer = chrome->writer;
    tkt_writer_text(writer, ",\"pid\":");
    tkt_chrome_put_u64(writer, chrome->pid);
    tkt_writer_text(writer, ",\"tid\":");
    tkt_chrome_put_u64(writer, tid);
    tkt_writer_text(writer, ",\"ts\":");
}

static void put_place(tkt_chrome *chrome, uint32_t tid, uint64_t time_ns)
{
    put_row(chrome, tid);
    tkt_chrome_put_ts(chrome, time_ns);
}

static void end_event(tkt_chrome *chrome)
{
    tkt_writer_text(chrome->writer, "},\n");
}

/* Returns the id of a thread's row and announces it: events may come from threads without spans. */
static uint32_t announced_tid(tkt_chrome *chrome, uint32_t track)
{
    if (track < chrome->trace->tracks.count &&
        chrome->trace->tracks.items[track].kind == TAKT_TRACK_THREAD)
        tkt_chrome_announce(chrome, &chrome->tracks[track].row);
    return tkt_chrome_tid(chrome, track);
}

static void put_step(tkt_chrome *chrome, const tkt_step *step)
{
    tkt_writer *writer = chrome->writer;
    begin_event(chrome, "X");
    tkt_writer_text(writer, ",\"cat\":\"" TKT_CHROME_CAT_STEP "\",\"name\":\"ProfilerStep#");
    tkt_chrome_put_u64(writer, step->number);
    tkt_writer_text(writer, "\"");
    put_row(chrome, chrome->steps_row.tid);
    tkt_chrome_put_times(chrome, step->begin_ns, step->end_ns);
    end_event(chrome);
}

__attribute__((cold)) void tkt_chrome_steps(tkt_chrome *chrome, uint64_t last_ns)
{
    const takt_trace *trace = chrome->trace;
    for (; chrome->step < trace->steps.count; chrome->step++) {
        const tkt_step *step = &trace->steps.items[chrome->step];
        if (step->begin_ns > last_ns || !tkt_chrome_fits(chrome))
            return;
        put_step(chrome, step);
    }
}

static void put_instant(tkt_chrome *chrome, uint32_t name, uint32_t track, uint64_t time_ns)
{
    uint32_t tid = announced_tid(chrome, track);
    begin_event(chrome, "i");
    tkt_writer_text(chrome->writer, ",\"s\":\"t\",\"cat\":\"" TKT_CHROME_CAT_MARK "\",\"name\":");
    tkt_chrome_put_string(chrome, name);
    put_place(chrome, tid, time_ns);
}

static void put_mark(tkt_chrome *chrome, const tkt_mark *mark)
{
    const tkt_trace_site *site = &chrome->trace->sites.items[mark->site];
    tkt_writer *writer = chrome->writer;
    put_instant(chrome, site->name, mark->track, mark->time_ns);
    if (site->file) {
        const char *path = tkt_trace_text(chrome->trace, site->file);
        const char *name = tkt_base_name(path);
        tkt_writer_text(writer, ",\"args\":{\"file\":\"");
        tkt_chrome_put_text(writer, name, strlen(name));
        tkt_writer_format(writer, ":%u\"}", site->line);
    }
    end_event(chrome);
}

__attribute__((cold)) void tkt_chrome_marks(tkt_chrome *chrome, uint64_t last_ns)
{
    const takt_trace *trace = chrome->trace;
    for (; chrome->mark < trace->marks.count; chrome->mark++) {
        const tkt_mark *mark = &trace->marks.items[chrome->mark];
        if (mark->time_ns > last_ns || !tkt_chrome_fits(chrome))
            return;
        put_mark(chrome, mark);
    }
}

/* JSON and graphs cannot show NaN and infinities. Such a value is worth a look: it becomes a mark
 * on the thread that recorded it. */
static void put_counter(tkt_chrome *chrome, const tkt_counter *counter)
{
    tkt_writer *writer = chrome->writer;
    if (tkt_is_finite(counter->value)) {
        begin_event(chrome, "C");
        tkt_writer_text(writer, ",\"name\":");
        tkt_chrome_put_string(chrome, counter->name);
        put_place(chrome, tkt_chrome_tid(chrome, counter->track), counter->time_ns);
    } else {
        put_instant(chrome, counter->name, counter->track, counter->time_ns);
    }
    tkt_writer_text(writer, ",\"args\":{\"value\":");
    tkt_chrome_put_double(writer, counter->value);
    tkt_writer_text(writer, "}");
    end_event(chrome);
}

void tkt_chrome_counters(tkt_chrome *chrome, uint64_t last_ns)
{
    const takt_trace *trace = chrome->trace;
    for (; chrome->counter < trace->counters.count; chrome->counter++) {
        const tkt_counter *counter = &trace->counters.items[chrome->counter];
        if (counter->time_ns > last_ns || !tkt_chrome_fits(chrome))
            return;
        put_counter(chrome, counter);
    }
}

/* The id is a hexadecimal text, because browsers round numbers from 2^53 on. "bp":"e" ends the
 * arrow at the enclosing slice instead of the next one. */
static void put_flow(tkt_chrome *chrome, const tkt_flow *flow)
{
    uint32_t tid = announced_tid(chrome, flow->track);
    begin_event(chrome, flow->is_end ? "f\",\"bp\":\"e" : "s");
    tkt_writer_format(chrome->writer, ",\"cat\":\"flow\",\"name\":\"flow\",\"id\":\"0x%llx\"",
                      (unsigned long long)flow->id);
    put_place(chrome, tid, flow->time_ns);
    end_event(chrome);
}

void tkt_chrome_flows(tkt_chrome *chrome, uint64_t last_ns)
{
    const takt_trace *trace = chrome->trace;
    for (; chrome->flow < trace->flows.count; chrome->flow++) {
        const tkt_flow *flow = &trace->flows.items[chrome->flow];
        if (flow->time_ns > last_ns || !tkt_chrome_fits(chrome))
            return;
        put_flow(chrome, flow);
    }
}

/* Adds the event to a sum, and returns what is in use then. */
static int64_t add_memory(tkt_chrome *chrome, const tkt_memory_event *event, uint32_t device,
                          uint32_t kind)
{
    uint64_t *sum = tkt_memory_sum(&chrome->memories, chrome->trace, device, kind);
    if (!sum) {
        chrome->status = TAKT_NO_MEMORY;
        return 0;
    }
    *sum += (uint64_t)event->bytes;
    return (int64_t)*sum;
}

/* Writes the instant that TensorBoard's memory view reads. Device type 0 is the CPU, 1 a GPU; it
 * has one total for each, whatever the kind of memory. */
static void put_memory_instant(tkt_chrome *chrome, const tkt_memory_event *event, uint32_t tid)
{
    tkt_writer *writer = chrome->writer;
    uint32_t label = tkt_memory_is_host(event) ? 0 : event->device;
    uint32_t device = label ? tkt_chrome_device_index(chrome, label) : UINT32_MAX;
    bool is_device = device != UINT32_MAX;
    begin_event(chrome, "i");
    tkt_writer_text(writer,
                    ",\"s\":\"t\",\"cat\":\"" TKT_CHROME_CAT_MARK "\",\"name\":\"[memory]\"");
    put_place(chrome, tid, event->time_ns);
    tkt_writer_format(writer, ",\"args\":{\"Device Type\":%d,\"Device Id\":%d,\"Addr\":", is_device,
                      is_device ? (int)chrome->devices.items[device].pid : -1);
    tkt_chrome_put_u64(writer, event->address);
    tkt_writer_text(writer, ",\"Bytes\":");
    tkt_chrome_put_i64(writer, event->bytes);
    tkt_writer_text(writer, ",\"Total Allocated\":");
    tkt_chrome_put_i64(writer, add_memory(chrome, event, label, TKT_ALL_MEMORY));
    tkt_writer_text(writer, ",\"Total Reserved\":0}");
    end_event(chrome);
}

static void put_memory_name(tkt_chrome *chrome, const tkt_memory_event *event)
{
    tkt_writer *writer = chrome->writer;
    if (event->device == 0) {
        tkt_writer_text(writer, "host");
        return;
    }
    const tkt_string *label = &chrome->trace->strings.items[event->device];
    tkt_chrome_put_text(writer, label->bytes, label->size);
    tkt_writer_text(writer, " ");
    tkt_writer_text(writer, tkt_memory_kind_name(event->kind & ~TKT_MEMORY_POOL));
    if (event->kind & TKT_MEMORY_POOL)
        tkt_writer_text(writer, " pool");
}

/* Also writes a counter for viewers that draw graphs. Pools have only the counter, since they are
 * not allocations. */
static void put_memory_event(tkt_chrome *chrome, const tkt_memory_event *event)
{
    tkt_writer *writer = chrome->writer;
    uint32_t tid = announced_tid(chrome, event->track);
    if (!(event->kind & TKT_MEMORY_POOL))
        put_memory_instant(chrome, event, tid);
    begin_event(chrome, "C");
    tkt_writer_text(writer, ",\"name\":\"");
    put_memory_name(chrome, event);
    tkt_writer_text(writer, " memory\"");
    put_place(chrome, tid, event->time_ns);
    tkt_writer_text(writer, ",\"args\":{\"bytes\":");
    tkt_chrome_put_i64(writer, add_memory(chrome, event, event->device, event->kind));
    tkt_writer_text(writer, "}");
    end_event(chrome);
}

/* Cold: the file is compiled for speed, but this for size: programs report little memory. */
__attribute__((cold)) void tkt_chrome_memory(tkt_chrome *chrome, uint64_t last_ns)
{
    const takt_trace *trace = chrome->trace;
    for (; chrome->memory_event < trace->memory_events.count; chrome->memory_event++) {
        const tkt_memory_event *event = &trace->memory_events.items[chrome->memory_event];
        if (event->time_ns > last_ns || !tkt_chrome_fits(chrome))
            return;
        put_memory_event(chrome, event);
    }
}

/* ======== Strings and numbers ======== */

/* Strings and numbers in Chrome's JSON, outside the fast path.
 *
 * Doubles are written so that they read back equal. Most recorded doubles have few decimals. If n
 * is below 2^53, n / 10^k gives exactly the double that these digits denote, because both numbers
 * are exact and IEEE division rounds correctly. Others need printf, whose decimal point depends on
 * the host's locale and is replaced. */

#define TWO_53 9007199254740992.0

/* Escaping makes a byte at most six bytes, and the writer reserves at most half of its buffer. */
static size_t chunk_bytes(const tkt_writer *writer)
{
    size_t bytes = writer->capacity / 2 / 6;
    return bytes < 8192 ? bytes : 8192;
}

/* Returns a size at which the text can be cut without splitting a character. */
static size_t cut_at_character(const char *text, size_t size)
{
    size_t cut = size;
    while (cut > size - 3 && ((unsigned char)text[cut] & 0xC0) == 0x80)
        cut--;
    return cut;
}

void tkt_chrome_put_text(tkt_writer *writer, const char *text, size_t size)
{
    size_t chunk = chunk_bytes(writer);
    while (size) {
        size_t part = size > chunk ? cut_at_character(text, chunk) : size;
        char *out = tkt_writer_reserve(writer, part * 6);
        tkt_writer_commit(writer, tkt_json_escape(out, text, part));
        text += part;
        size -= part;
    }
}

void tkt_chrome_put_string(tkt_chrome *chrome, uint32_t string)
{
    const tkt_string *text = &chrome->trace->strings.items[string];
    tkt_writer_text(chrome->writer, "\"");
    tkt_chrome_put_text(chrome->writer, text->bytes, text->size);
    tkt_writer_text(chrome->writer, "\"");
}

void tkt_chrome_put_u64(tkt_writer *writer, uint64_t value)
{
    tkt_writer_commit(writer, tkt_put_u64(tkt_writer_reserve(writer, 20), value));
}

void tkt_chrome_put_i64(tkt_writer *writer, int64_t value)
{
    tkt_writer_commit(writer, tkt_put_i64(tkt_writer_reserve(writer, 20), value));
}

void tkt_chrome_put_ts(tkt_chrome *chrome, uint64_t time_ns)
{
    tkt_writer *writer = chrome->writer;
    tkt_writer_commit(writer,
                      tkt_put_us(tkt_writer_reserve(writer, 24), time_ns + chrome->shift_ns));
}

/* "12.5" for 125 and 1 decimal; `decimals` may be 0, which writes "12.0". */
static char *put_decimal(char *out, uint64_t digits, int decimals)
{
    uint64_t scale = 1;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    uint64_t rest = digits % scale;
    out = tkt_put_u64(out, digits / scale);
    *out++ = '.';
    if (!decimals)
        *out++ = '0';
    for (int i = decimals; i-- > 0; rest /= 10)
        out[i] = (char)('0' + rest % 10);
    return out + decimals;
}

/* Writes a double with few decimals; otherwise returns NULL. */
static char *put_short_double(char *out, double value)
{
    static const double powers[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    if (signbit(value)) {
        *out++ = '-';
        value = -value;
    }
    for (int decimals = 0; decimals < 10; decimals++) {
        double digits = nearbyint(value * powers[decimals]);
        if (digits >= TWO_53)
            return NULL;
        if (digits / powers[decimals] == value)
            return put_decimal(out, (uint64_t)digits, decimals);
    }
    return NULL;
}

/* Writes the fewest digits that read back as the same double, with ".0" behind an integer. */
static char *put_long_double(char *out, double value)
{
    char *end = tkt_put_double(out, value, TKT_DOUBLE_DIGITS);
    *end = '\0';
    if (!strpbrk(out, ".e")) {
        *end++ = '.';
        *end++ = '0';
    }
    return end;
}

void tkt_chrome_put_double(tkt_writer *writer, double value)
{
    if (isnan(value)) {
        tkt_writer_text(writer, "\"NaN\"");
        return;
    }
    if (isinf(value)) {
        tkt_writer_text(writer, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        return;
    }
    char *out = tkt_writer_reserve(writer, 64);
    char *end = put_short_double(out, value);
    tkt_writer_commit(writer, end ? end : put_long_double(out, value));
}

/* ---- Durations ------------------------------------------------------------------------------- */

/* Readers add ts and dur as doubles. With three decimals, one sum in four misses the end, and half
 * of these pass it: torch's plugin then drops the next slice, and DevTools sees an overlap. So dur
 * gets more decimals where three do not do. It still rounds to the exact nanosecond.
 *
 * Every slice then ends exactly at the double of its own end. As rounding keeps order, slices nest
 * as doubles if they nest in nanoseconds. */

char *tkt_chrome_put_fine(char *out, uint64_t begin, uint64_t end)
{
    double from = tkt_chrome_us(begin);
    double to = tkt_chrome_us(end);
    double rest = to - from;
    if (end < begin) /* absurd times that wrap around */
        return tkt_put_us(out, end - begin);
    double power = 1e3;
    for (int decimals = 3; decimals < 12; decimals++, power *= 10) {
        double digits = nearbyint(rest * power);
        if (digits >= TWO_53)
            break;
        if (from + digits / power == to)
            return put_decimal(out, (uint64_t)digits, decimals);
    }
    if (from + rest > to)
        rest = nextafter(rest, 0);
    return put_long_double(out, rest);
}

void tkt_chrome_put_times(tkt_chrome *chrome, uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t begin = begin_ns + chrome->shift_ns;
    uint64_t end = end_ns + chrome->shift_ns;
    tkt_chrome_put_ts(chrome, begin_ns);
    tkt_writer_text(chrome->writer, ",\"dur\":");
    char *out = tkt_writer_reserve(chrome->writer, 64);
    out = tkt_chrome_adds_up(begin, end) ? tkt_put_us(out, end - begin)
                                         : tkt_chrome_put_fine(out, begin, end);
    tkt_writer_commit(chrome->writer, out);
}
