/* Spans of a Chrome file. put_span() writes nearly all of them: three copied texts and two numbers.
 *
 *     {"ph":"X","cat":"cpu_op","name":"density","pid":7,"tid":  of the site, created once
 *     8,"ts":                                                   of the row
 *     5000123456.789
 *     ,"dur":
 *     12.345
 *     ,"args":{"file":"sph.c:80"}},                             of the site
 *
 * Spans with their own arguments take the slow path through the writer's functions. */
#include "export/chrome.h"
#include "summary/scopes.h"
#include "trace/devices.h"

/* Sites with longer texts take the slow path. With numbers and unused bytes of the last blocks,
 * spans of the fast path fit into the space that tkt_chrome_fits() leaves. */
#define FAST_BYTES 768
#define FAST_ROOM  (FAST_BYTES + 4 * TKT_CHROME_STRIDE + 64)

#define SECOND_NS UINT64_C(1000000000)

#define MARKED (TAKT_SPAN_BEGUN_BEFORE | TAKT_SPAN_UNFINISHED | TAKT_SPAN_CALL)

static inline const tkt_chrome_site *site_texts(tkt_chrome *chrome, uint32_t number, bool is_async)
{
    tkt_chrome_site *site = &chrome->sites[2 * (size_t)number + is_async];
    if (__builtin_expect(!site->head, 0) && !tkt_chrome_make_site(chrome, number, is_async)) {
        chrome->status = TAKT_NO_MEMORY;
        return NULL;
    }
    return site;
}

static inline char *copy(char *out, const char *text, size_t size)
{
    for (size_t done = 0; done < size; done += TKT_CHROME_STRIDE)
        memcpy(out + done, text + done, TKT_CHROME_STRIDE);
    return out + size;
}

static inline char *put_pair_of_digits(char *out, uint32_t value)
{
    memcpy(out, &tkt_two_digits[2 * value], 2);
    return out + 2;
}

/* ".789" */
static inline char *put_thousandths(char *out, uint32_t value)
{
    out[0] = '.';
    out[1] = (char)('0' + value / 100);
    return put_pair_of_digits(out + 2, value % 100);
}

static void remember_second(tkt_chrome *chrome, uint64_t second)
{
    chrome->second = second;
    chrome->second_size = (size_t)(tkt_put_u64(chrome->second_text, second) - chrome->second_text);
}

/* Microseconds with three decimals. Successive spans usually have the same digits down to
 * seconds. */
static inline char *put_ts(tkt_chrome *chrome, char *out, uint64_t ns)
{
    uint64_t second = ns / SECOND_NS;
    if (__builtin_expect(second == 0, 0))
        return tkt_put_us(out, ns);
    if (__builtin_expect(second != chrome->second, 0))
        remember_second(chrome, second);
    uint32_t rest = (uint32_t)(ns - second * SECOND_NS);
    uint32_t us = rest / 1000;
    memcpy(out, chrome->second_text, sizeof chrome->second_text);
    out = put_pair_of_digits(out + chrome->second_size, us / 10000);
    out = put_pair_of_digits(out, us / 100 % 100);
    out = put_pair_of_digits(out, us % 100);
    return put_thousandths(out, rest % 1000);
}

static inline char *put_duration(char *out, uint64_t ns)
{
    if (__builtin_expect(ns >= 10000000, 0))
        return tkt_put_us(out, ns);
    uint32_t us = (uint32_t)ns / 1000;
    uint32_t high = us / 100;
    if (high >= 10)
        out = put_pair_of_digits(out, high);
    else if (high)
        *out++ = (char)('0' + high);
    if (us >= 10)
        out = put_pair_of_digits(out, us % 100);
    else
        *out++ = (char)('0' + us);
    return put_thousandths(out, (uint32_t)ns % 1000);
}

static inline void put_span(tkt_chrome *chrome, const tkt_span *span, const tkt_chrome_site *site,
                            const tkt_chrome_row *row)
{
    char *out = tkt_writer_reserve(chrome->writer, FAST_ROOM);
    out = copy(out, site->head, site->head_size);
    out = copy(out, row->text, row->text_size);
    uint64_t begin = span->begin_ns + chrome->shift_ns;
    uint64_t end = span->end_ns + chrome->shift_ns;
    out = put_ts(chrome, out, begin);
    memcpy(out, ",\"dur\": ", 8);
    out = tkt_chrome_adds_up(begin, end) ? put_duration(out + 7, end - begin)
                                         : tkt_chrome_put_fine(out + 7, begin, end);
    out = copy(out, site->tail, site->tail_size);
    tkt_writer_commit(chrome->writer, out);
}

static bool is_taken(const char *key)
{
    static const char *const taken[] = {TKT_CHROME_TAKEN_KEYS};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        if (strcmp(key, taken[i]) == 0)
            return true;
    }
    return false;
}

/* Returns how often this event already has the key. JSON readers keep only one of several equal
 * keys. */
static uint32_t count_key(tkt_chrome *chrome, uint32_t key)
{
    uint64_t *seen = &chrome->keys[key];
    uint64_t event = (uint64_t)chrome->key_event << 32;
    if (*seen >> 32 != chrome->key_event)
        *seen = event + is_taken(tkt_trace_text(chrome->trace, key));
    return (uint32_t)((*seen)++ - event);
}

static void put_arg_value(tkt_chrome *chrome, const tkt_arg *arg)
{
    switch (arg->type) {
    case TKT_ARG_INT:
        tkt_chrome_put_i64(chrome->writer, arg->value.i);
        break;
    case TKT_ARG_UINT:
        tkt_chrome_put_u64(chrome->writer, arg->value.u);
        break;
    case TKT_ARG_DOUBLE:
        tkt_chrome_put_double(chrome->writer, arg->value.d);
        break;
    case TKT_ARG_BOOL:
        tkt_writer_text(chrome->writer, arg->value.b ? "true" : "false");
        break;
    case TKT_ARG_STRING:
        tkt_chrome_put_string(chrome, arg->value.string);
        break;
    }
}

/* Writes a comma unless the next argument is the first one. */
static void separate(tkt_chrome *chrome, bool *is_first)
{
    if (!*is_first)
        tkt_writer_text(chrome->writer, ",");
    *is_first = false;
}

static void put_arg(tkt_chrome *chrome, const tkt_arg *arg, bool *is_first)
{
    const tkt_string *key = &chrome->trace->strings.items[arg->key];
    uint32_t times = count_key(chrome, arg->key);
    separate(chrome, is_first);
    tkt_writer_text(chrome->writer, "\"");
    tkt_chrome_put_text(chrome->writer, key->bytes, key->size);
    if (times) {
        tkt_writer_text(chrome->writer, "#");
        tkt_chrome_put_u64(chrome->writer, times + 1);
    }
    tkt_writer_text(chrome->writer, "\":");
    put_arg_value(chrome, arg);
}

static void put_work(tkt_chrome *chrome, const tkt_work *work, bool *is_first)
{
    separate(chrome, is_first);
    tkt_writer_text(chrome->writer, "\"flops\":");
    tkt_chrome_put_double(chrome->writer, work->flops);
    tkt_writer_text(chrome->writer, ",\"bytes\":");
    tkt_chrome_put_double(chrome->writer, work->bytes);
}

static void put_flag(tkt_chrome *chrome, const char *name, bool *is_first)
{
    separate(chrome, is_first);
    tkt_writer_text(chrome->writer, "\"");
    tkt_writer_text(chrome->writer, name);
    tkt_writer_text(chrome->writer, "\":true");
}

static void put_external_id(tkt_chrome *chrome, uint64_t id, bool *is_first)
{
    separate(chrome, is_first);
    tkt_writer_format(chrome->writer, "\"External id\":%llu", (unsigned long long)id);
}

/* The result is omitted if the call succeeded. */
static void put_call(tkt_chrome *chrome, const tkt_call_info *call, bool *is_first)
{
    uint32_t scope = tkt_call_scope(chrome->trace, (uint32_t)(call - chrome->trace->calls.items));
    put_external_id(chrome, tkt_chrome_external_id(chrome, call->track, scope), is_first);
    tkt_writer_format(chrome->writer, ",\"correlation\":%u", call->correlation);
    if (call->result)
        tkt_writer_format(chrome->writer, ",\"result\":%d", (int)call->result);
}

/* Uses Kineto's key, innermost frame first: TensorBoard and other viewers show it. */
static void put_stack(tkt_chrome *chrome, uint32_t number, bool *is_first)
{
    const tkt_stack *stack = &chrome->trace->stacks.items[number];
    char frame[TKT_CHROME_FRAME_BYTES];
    separate(chrome, is_first);
    tkt_writer_text(chrome->writer, "\"Call stack\":\"");
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        tkt_frame_place(frame, sizeof frame, chrome->trace, tkt_frame_at(chrome->trace, number, i));
        if (i > 0)
            tkt_writer_text(chrome->writer, ";");
        tkt_chrome_put_text(chrome->writer, frame, strlen(frame));
    }
    tkt_writer_text(chrome->writer, "\"");
}

static bool has_stack(const tkt_track *track, const tkt_chrome_track *at)
{
    return at->stack < track->stacks.count && track->stacks.items[at->stack].span == at->span;
}

/* Returns the call that the track's current span recorded, or NULL. Advances the index of calls. */
static const tkt_call_info *call_of_span(tkt_chrome *chrome, uint32_t number)
{
    tkt_chrome_track *at = &chrome->tracks[number];
    const takt_trace *trace = chrome->trace;
    while (at->call < trace->calls.count && trace->calls.items[at->call].track == number &&
           trace->calls.items[at->call].span < at->span)
        at->call++;
    const tkt_call_info *call =
        at->call < trace->calls.count ? &trace->calls.items[at->call] : NULL;
    return call && call->track == number && call->span == at->span ? call : NULL;
}

/* Writes the span's own arguments and advances the track's indices. */
static void put_own_args(tkt_chrome *chrome, uint32_t number, const tkt_span *span, bool is_first)
{
    const tkt_track *track = &chrome->trace->tracks.items[number];
    tkt_chrome_track *at = &chrome->tracks[number];
    uint32_t flags = tkt_span_flags(span);
    uint64_t id = tkt_chrome_external_id(chrome, number, (uint32_t)at->span);
    chrome->key_event++;
    if (tkt_chrome_is_launcher(chrome, id))
        put_external_id(chrome, id, &is_first);
    for (; at->arg < track->args.count && track->args.items[at->arg].span == at->span; at->arg++)
        put_arg(chrome, &track->args.items[at->arg], &is_first);
    for (; at->work < track->works.count && track->works.items[at->work].span == at->span;
         at->work++)
        put_work(chrome, &track->works.items[at->work], &is_first);
    const tkt_call_info *call = flags & TAKT_SPAN_CALL ? call_of_span(chrome, number) : NULL;
    if (call)
        put_call(chrome, call, &is_first);
    if (has_stack(track, at))
        put_stack(chrome, track->stacks.items[at->stack++].stack, &is_first);
    if (flags & TAKT_SPAN_BEGUN_BEFORE)
        put_flag(chrome, "begun before", &is_first);
    if (flags & TAKT_SPAN_UNFINISHED)
        put_flag(chrome, "unfinished", &is_first);
}

static void put_slow_span(tkt_chrome *chrome, uint32_t number, const tkt_span *span,
                          const tkt_chrome_site *site, const tkt_chrome_row *row, bool has_own)
{
    tkt_writer *writer = chrome->writer;
    tkt_writer_put(writer, site->head, site->head_size);
    tkt_writer_put(writer, row->text, row->text_size);
    tkt_chrome_put_times(chrome, span->begin_ns, span->end_ns);
    if (!has_own) {
        tkt_writer_put(writer, site->tail, site->tail_size);
        return;
    }
    if (site->args_size)
        tkt_writer_put(writer, site->tail, site->args_size);
    else
        tkt_writer_text(writer, ",\"args\":{");
    put_own_args(chrome, number, span, site->args_size == 0);
    tkt_writer_text(writer, "}},\n");
}

static inline void next_span(tkt_chrome *chrome, uint32_t number, const tkt_chrome_row *row,
                             bool is_async)
{
    const tkt_track *track = &chrome->trace->tracks.items[number];
    tkt_chrome_track *at = &chrome->tracks[number];
    const tkt_span *span = &track->spans.items[at->span];
    const tkt_chrome_site *site = site_texts(chrome, tkt_span_site(span), is_async);
    if (__builtin_expect(!site, 0))
        return;
    bool has_own = (tkt_span_flags(span) & MARKED) || has_stack(track, at) ||
                   tkt_chrome_is_launcher(chrome, at->first + at->span + 1) ||
                   (at->arg < track->args.count && track->args.items[at->arg].span == at->span) ||
                   (at->work < track->works.count && track->works.items[at->work].span == at->span);
    if (has_own || site->head_size + site->tail_size > FAST_BYTES)
        put_slow_span(chrome, number, span, site, row, has_own);
    else
        put_span(chrome, span, site, row);
    at->span++;
}

void tkt_chrome_async_span(tkt_chrome *chrome, uint32_t track, const tkt_chrome_row *row)
{
    next_span(chrome, track, row, true);
}

void tkt_chrome_thread_spans(tkt_chrome *chrome, uint32_t track, uint64_t last_ns)
{
    const tkt_spans *spans = &chrome->trace->tracks.items[track].spans;
    tkt_chrome_track *at = &chrome->tracks[track];
    while (at->span < spans->count && spans->items[at->span].begin_ns <= last_ns) {
        if (!tkt_chrome_fits(chrome))
            return;
        tkt_chrome_announce(chrome, &at->row);
        next_span(chrome, track, &at->row, false);
    }
}
