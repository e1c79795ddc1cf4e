/* The file around the events, and how reading goes on behind an event that is broken. */
#include "import/json.h"

#include "base/error.h"
#include "base/text.h"
#include "import/import.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- The window over the file ---------------------------------------------------------------- */

#define MOST_BYTES ((size_t)256 << 20) /* of an event, or a member before the events */
#define MOST_TEXT  "256 MiB"

/* Reads on so that there are more bytes than now; false at the end of the file, and if a value that
 * does not end would fill the memory. */
static bool grow(imp_json *json)
{
    size_t left = tkt_input_left(json->input);
    if (left >= MOST_BYTES)
        return false;
    size_t wanted = 2 * left + 4096;
    tkt_input_need(json->input, wanted < MOST_BYTES ? wanted : MOST_BYTES);
    return tkt_input_left(json->input) > left;
}

/* The next byte that is not white space, which stays unread; -1 at the end. */
static int peek(imp_json *json)
{
    tkt_input_window *window = &json->input->window;
    do {
        window->at = imp_skip_space(window->at, window->end);
        if (window->at < window->end)
            return *window->at;
    } while (tkt_input_need(json->input, 1));
    return -1;
}

static const uint8_t *find(const uint8_t *from, const uint8_t *end, const char *text)
{
    return from < end ? memmem(from, (size_t)(end - from), text, strlen(text)) : NULL;
}

/* ---- Events that are broken ------------------------------------------------------------------ */

#define PHASE      "\"ph\""
#define KEPT_BYTES 4096u /* before a "ph", where the brace of its event is */

/* True for bytes that hold the begin of a second event: then the first one lacks its end. */
static bool runs_on(const uint8_t *begin, const uint8_t *end)
{
    const uint8_t *first = find(begin, end, PHASE);
    return first && find(first + 1, end, PHASE);
}

/* Finds the next "ph", counted from the window's begin. Lets go of the bytes before it, but for the
 * last ones. False at the end of the file. */
static bool find_phase(imp_json *json, size_t *found)
{
    tkt_input_window *window = &json->input->window;
    for (size_t seen = 0;;) {
        const uint8_t *phase = find(window->at + seen, window->end, PHASE);
        if (phase) {
            *found = (size_t)(phase - window->at);
            return true;
        }
        size_t left = tkt_input_left(json->input);
        if (left > KEPT_BYTES)
            window->at = window->end - KEPT_BYTES;
        left = tkt_input_left(json->input);
        if (!tkt_input_need(json->input, left + 1))
            return false;
        seen = left < sizeof PHASE ? 0 : left - sizeof PHASE; /* half of a "ph" may be there */
    }
}

/* Goes to the next event, behind its brace. `has_begun`: the first "ph" from here on belongs to the
 * broken one. False if there is none. */
static bool skip_event(imp_json *json, bool has_begun)
{
    tkt_input_window *window = &json->input->window;
    size_t phase;
    json->build.trace->losses[TAKT_LOSS_SKIPPED_EVENTS]++;
    json->is_skipping = true;
    if (has_begun && find_phase(json, &phase))
        window->at += phase + sizeof PHASE - 1;
    if (!find_phase(json, &phase))
        return false;
    const uint8_t *brace = memrchr(window->at, '{', phase);
    window->at = brace ? brace + 1 : window->at + phase;
    json->is_skipping = false;
    return true;
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* A note beside the trace. The first such event is named, all are counted. */
static void tell_too_large(const imp_json *json)
{
    const tkt_input *input = json->input;
    if (input->error && !input->error->message[0])
        tkt_error_set(input->error, TAKT_OK, "%s: byte %llu: left out an event of more than %s",
                      input->name, (unsigned long long)json->event_offset, MOST_TEXT);
}

/* Reads an event that strict reading refuses. With a string that never ends, it would take the next
 * event's members, too. */
static imp_result scan_loosely(imp_json *json, const uint8_t **at, const uint8_t *end)
{
    const uint8_t *begin = *at;
    json->args_begin = NULL;
    imp_result result = imp_scan_object(at, end, IMP_QUOTES_LOOSE, &json->object);
    return result != IMP_BAD && runs_on(begin, result == IMP_DONE ? *at : end) ? IMP_BAD : result;
}

/* IMP_MORE: the event may be valid JSON, or may be read loosely, with more bytes. */
static imp_result scan_either_way(imp_json *json, const uint8_t **at, const uint8_t *end)
{
    const uint8_t *begin = *at;
    imp_result result = imp_scan_event(at, end, &json->object, &json->args, &json->args_begin);
    if (result == IMP_DONE || (result == IMP_MORE && !runs_on(begin, end)))
        return result;
    *at = begin;
    return scan_loosely(json, at, end);
}

#define USUAL_BYTES 4096u /* more than most events have */

/* Reads the members of an event, from behind its brace. Looks at few bytes first: an event without
 * its end would go on through all of the window, which is soon seen by the next event in it. */
static imp_result scan_event(imp_json *json)
{
    tkt_input_window *window = &json->input->window;
    for (size_t most = USUAL_BYTES;; most *= 4) {
        size_t left = tkt_input_left(json->input);
        const uint8_t *at = window->at, *end = window->at + (left < most ? left : most);
        imp_result result = scan_either_way(json, &at, end);
        if (result == IMP_MORE && (left > most || grow(json)))
            continue;
        if (result == IMP_MORE) {
            at = window->at;
            result = scan_loosely(json, &at, end);
        }
        if (result == IMP_MORE && left >= MOST_BYTES) {
            tell_too_large(json);
            return IMP_BAD;
        }
        if (result == IMP_DONE)
            window->at = at;
        return result;
    }
}

/* True at the end of a file that ends as JSON does. */
static bool is_closed(const tkt_input *input)
{
    const uint8_t *at = input->window.end;
    while (at > input->window.at && imp_skip_space(at - 1, at) == at)
        at--;
    return at > input->window.at && (at[-1] == '}' || at[-1] == ']');
}

/* Not after a broken event at the end of a file that is whole. */
static void take_cut(imp_json *json)
{
    bool is_zero;
    if (json->is_skipping && is_closed(json->input))
        return;
    tkt_input_drain(json->input, &is_zero);
    json->is_cut = true;
    json->cut_bytes = json->input->end_offset - json->event_offset;
}

/* Notes where the next event begins: `behind` bytes before what is unread. */
static void note_event(imp_json *json, size_t behind)
{
    json->event_offset = tkt_input_offset(json->input, json->input->window.at) - behind;
}

/* Takes events, each from behind its brace, as long as one follows a broken one. False at the end
 * of the file. */
static bool take_event(imp_json *json)
{
    for (;;) {
        note_event(json, 1);
        imp_result result = scan_event(json);
        if (result == IMP_MORE)
            return false;
        if (result == IMP_DONE) {
            bool is_taken = imp_json_take(json);
            json->build.trace->losses[TAKT_LOSS_SKIPPED_EVENTS] += !is_taken;
            return true;
        }
        if (!skip_event(json, true))
            return false;
    }
}

/* From behind the bracket to behind the one that ends the list. */
static bool take_events(imp_json *json)
{
    for (;;) {
        int next = peek(json);
        note_event(json, 0);
        if (next == -1)
            return false;
        if (next == ']') {
            json->input->window.at++;
            return true;
        }
        if (next == ',') {
            json->input->window.at++;
            continue;
        }
        json->input->window.at += next == '{';
        if (next != '{' && !skip_event(json, false))
            return false;
        if (!take_event(json) || json->build.is_short)
            return false;
    }
}

/* ---- The head and tail of the file ----------------------------------------------------------- */

static void take_ranks(imp_json *json, const imp_value *value)
{
    imp_object info;
    int64_t rank = 0, size = 0;
    if (!imp_scan_inside(value, &info))
        return;
    imp_integer(imp_find(&info, "rank"), &rank);
    imp_integer(imp_find(&info, "world_size"), &size);
    if (size > 1 && rank >= 0 && rank < size && size <= UINT32_MAX) {
        json->build.trace->facts.rank = (uint32_t)rank;
        json->build.trace->facts.world_size = (uint32_t)size;
    }
}

/* NaN: unknown. */
static double real_of(const imp_object *object, const char *key)
{
    double value;
    return imp_real(imp_find(object, key), &value) ? value : NAN;
}

static void take_losses(imp_json *json, const imp_value *value)
{
    imp_object losses;
    int64_t count;
    if (!imp_scan_inside(value, &losses))
        return;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        if (imp_integer(imp_find(&losses, takt_loss_name((takt_loss)i)), &count) && count > 0)
            json->build.trace->losses[i] += (uint64_t)count;
}

static uint64_t count_of(const imp_object *object, const char *key)
{
    int64_t value;
    return imp_integer(imp_find(object, key), &value) && value > 0 ? (uint64_t)value : 0;
}

/* The steps of Takt's run, also those that were not recorded. */
static void take_all_steps(imp_json *json, const imp_value *value)
{
    imp_object members;
    int64_t pairs[2 * TKT_HISTOGRAM_BUCKETS];
    tkt_all_steps *steps = &json->build.trace->all_steps;
    if (!imp_scan_inside(value, &members))
        return;
    steps->simulated_seconds = fmax(real_of(&members, "simulated_seconds"), 0);
    steps->stats.count = count_of(&members, "count");
    steps->stats.total_ns = count_of(&members, "total_ns");
    steps->stats.max_ns = count_of(&members, "max_ns");
    steps->stats.sum_squares = fmax(real_of(&members, "sum_squares"), 0);
    if (steps->stats.count)
        steps->stats.min_ns = count_of(&members, "min_ns");
    size_t count = imp_integers(imp_find(&members, "histogram"), pairs, 2 * TKT_HISTOGRAM_BUCKETS);
    for (size_t i = 0; i + 1 < count; i += 2)
        if (pairs[i] >= 0 && pairs[i] < TKT_HISTOGRAM_BUCKETS && pairs[i + 1] > 0 &&
            pairs[i + 1] <= UINT32_MAX)
            steps->histogram.buckets[pairs[i]] = (uint32_t)pairs[i + 1];
    json->build.has_all_steps = true;
}

static void be_takts(imp_json *json)
{
    json->is_takt = true;
    json->build.has_own_times = true;
}

/* What Takt says of its own recording. */
static void take_takt(imp_json *json, const imp_value *value)
{
    imp_object info;
    takt_facts *facts = &json->build.trace->facts;
    int64_t cycle = 0, part = 1, key = 0;
    if (!imp_scan_inside(value, &info))
        return;
    json->is_misread = json->has_event && !json->is_takt;
    be_takts(json);
    json->name = imp_json_string(json, imp_find(&info, "run"));
    json->backend = imp_json_string(json, imp_find(&info, "backend"));
    json->build.trace->clock = imp_json_string(json, imp_find(&info, "clock"));
    facts->clock_resolution_ns = real_of(&info, "clock_resolution_ns");
    facts->clock_uncertainty_ns = real_of(&info, "clock_uncertainty_ns");
    facts->device_resolution_ns = real_of(&info, "device_resolution_ns");
    facts->device_uncertainty_ns = real_of(&info, "device_uncertainty_ns");
    facts->device_uncertainty_is_least =
        imp_is(imp_find(&info, "device_uncertainty_is_least"), "true");
    facts->device_shift_ns = real_of(&info, "device_shift_ns");
    facts->cost_ns = real_of(&info, "cost_ns");
    facts->cost_longest_ns = real_of(&info, "cost_longest_ns");
    facts->is_partial = imp_is(imp_find(&info, "partial"), "true");
    if (imp_integer(imp_find(&info, "cycle"), &cycle) && cycle > 0 && cycle <= UINT32_MAX)
        facts->cycle = (uint32_t)cycle;
    if (imp_integer(imp_find(&info, "process_key"), &key) && key > 0)
        facts->process_key = (uint64_t)key;
    json->is_part |= imp_integer(imp_find(&info, "part"), &part) && part > 1;
    take_losses(json, imp_find(&info, "losses"));
    take_all_steps(json, imp_find(&info, "all_steps"));
}

static void take_member(imp_json *json, const imp_value *key, const imp_value *value)
{
    if (imp_is(key, "deviceProperties") || imp_is(key, "computeProperties"))
        imp_json_take_devices(json, value);
    else if (imp_is(key, "distributedInfo"))
        take_ranks(json, value);
    else if (imp_is(key, "baseTimeNanoseconds"))
        imp_integer(value, &json->base_ns);
    else if (imp_is(key, "takt"))
        take_takt(json, value);
    else if (imp_is(key, "takt_next_part"))
        json->is_part = true;
}

/* What may follow a member. */
static imp_result scan_behind(const uint8_t *at, const uint8_t *end)
{
    at = imp_skip_space(at, end);
    return at == end ? IMP_MORE : *at == ',' || *at == '}' ? IMP_DONE : IMP_BAD;
}

/* Reads a member of the file's object, up to its value if that is the list of events. */
static imp_result scan_member(imp_json *json, imp_value *key, imp_value *value, bool *is_events)
{
    tkt_input_window *window = &json->input->window;
    for (imp_quotes quotes = IMP_QUOTES_STRICT;;) {
        const uint8_t *at = window->at;
        imp_result result = imp_scan_key(&at, window->end, key);
        at = imp_skip_space(at, window->end);
        *is_events =
            result == IMP_DONE && at < window->end && *at == '[' && imp_is(key, "traceEvents");
        if (result == IMP_DONE && !*is_events)
            result = imp_scan_value(&at, window->end, quotes, value);
        if (result == IMP_DONE && !*is_events)
            result = scan_behind(at, window->end);
        if (result == IMP_MORE && grow(json))
            continue;
        if (result != IMP_DONE && quotes == IMP_QUOTES_STRICT) {
            quotes = IMP_QUOTES_LOOSE;
            continue;
        }
        if (result == IMP_DONE)
            window->at = at + *is_events;
        return result;
    }
}

static bool bad(imp_json *json, const char *problem)
{
    tkt_input *input = json->input;
    uint64_t offset = tkt_input_offset(input, input->window.at);
    input->status = tkt_error_set(input->error, TAKT_BAD_TRACE, "%s: byte %llu: %s", input->name,
                                  (unsigned long long)offset, problem);
    return false;
}

/* Goes on where the list of events seemed to end but did not. False if there are no more events. */
static bool resume(imp_json *json)
{
    if (!skip_event(json, false))
        return false;
    if (!take_event(json) || !take_events(json))
        take_cut(json);
    return true;
}

/* Why there is no list of events. */
static const char *problem_of(const imp_json *json, imp_result result)
{
    if (result != IMP_MORE)
        return "the JSON is malformed before \"traceEvents\"";
    return tkt_input_left(json->input) < MOST_BYTES ? "the file ends before \"traceEvents\""
                                                    : "a value of more than " MOST_TEXT
                                                      " before \"traceEvents\"";
}

/* Reads the object around the list of events. */
static bool take_object(imp_json *json)
{
    bool has_events = false;
    json->input->window.at++;
    for (;;) {
        imp_value key, value;
        bool is_events = false;
        int next = peek(json);
        if (next == '}' && !has_events)
            return bad(json,
                       "JSON without \"traceEvents\": neither torch.profiler nor Takt wrote it");
        if (next == '}') {
            json->input->window.at++;
            if (peek(json) == -1 || !resume(json))
                return true;
            continue;
        }
        json->input->window.at += next == ',';
        if (next == ',')
            continue;
        imp_result result = next == -1 ? IMP_MORE : scan_member(json, &key, &value, &is_events);
        if (result == IMP_DONE && is_events) {
            has_events = true;
            if (!take_events(json)) {
                take_cut(json);
                return true;
            }
        } else if (result == IMP_DONE) {
            take_member(json, &key, &value);
        } else if (!has_events) {
            return bad(json, problem_of(json, result));
        } else if (result == IMP_MORE || !resume(json)) {
            return true; /* what follows the events is not needed */
        }
    }
}

/* ---- The whole ------------------------------------------------------------------------------- */

#define IMPORTED " (imported)"

static const char *backend_text(const imp_json *json, char *out, size_t size)
{
    bool is_torch = json->has_category && !json->has_foreign;
    const char *backend = json->backend ? tkt_trace_text(json->build.trace, json->backend)
                          : is_torch    ? "torch.profiler"
                                        : "an unknown profiler";
    bool is_told = tkt_has_ending(backend, strlen(backend), IMPORTED);
    snprintf(out, size, "%.200s%s", backend, is_told ? "" : IMPORTED);
    return out;
}

static takt_status finish(imp_json *json, takt_trace **out)
{
    char text[256];
    takt_trace *trace = json->build.trace;
    tkt_input *input = json->input;
    const char *name = json->name ? tkt_trace_text(trace, json->name) : tkt_base_name(input->name);
    json->is_cut |= input->is_cut; /* the packed data are damaged */
    if (json->is_cut) {
        trace->losses[TAKT_LOSS_CUT] += json->cut_bytes ? json->cut_bytes : 1;
        trace->facts.ending = TAKT_ENDING_CUT;
    }
    if (json->is_part) {
        tkt_log(TAKT_LOG_WARNING,
                "%s is one of several files with parts of a recording: take its .pftrace",
                input->name);
        trace->facts.ending = TAKT_ENDING_CUT;
    }
    trace->facts.realtime_offset_ns = json->base_ns;
    if (json->is_takt && json->window_end_ns) { /* other profilers' windows are less exact */
        json->build.first_ns = json->window_begin_ns;
        json->build.last_ns = json->window_end_ns;
        for (size_t i = 0; i < trace->devices.count; i++)
            if (trace->devices.items[i].earlier_until_ns)
                trace->devices.items[i].earlier_until_ns += json->window_begin_ns - 1;
    }
    takt_status status =
        imp_build_finish(&json->build, name, backend_text(json, text, sizeof text), out);
    if (json->build.note[0] && input->error && !input->error->message[0])
        tkt_error_set(input->error, TAKT_OK, "%s: %s", input->name, json->build.note);
    return status;
}

static takt_status read_all(imp_json *json, takt_trace **out)
{
    tkt_input *input = json->input;
    static const uint8_t mark[] = {0xEF, 0xBB, 0xBF};
    if (tkt_input_need(input, sizeof mark) && memcmp(input->window.at, mark, sizeof mark) == 0)
        input->window.at += sizeof mark;
    int first = peek(json);
    bool is_good = first == '[' || first == '{' || bad(json, "not JSON");
    if (is_good && first == '[') {
        input->window.at++;
        if (!take_events(json))
            take_cut(json);
    } else if (is_good) {
        is_good = take_object(json);
    }
    if (is_good && !json->has_event && json->build.trace->losses[TAKT_LOSS_SKIPPED_EVENTS])
        is_good = bad(json, "JSON without events that torch.profiler or Takt writes");
    else if (is_good && !json->has_event && !json->is_takt && !json->is_cut && !input->is_cut)
        is_good = bad(json, "there are no events: the profiler has recorded nothing");
    if (!is_good || input->status != TAKT_OK)
        return input->status;
    if (json->is_misread)
        return TAKT_OK;
    return json->build.is_short ? TAKT_NO_MEMORY : finish(json, out);
}

takt_status imp_json_read(tkt_input *input, bool *is_takt, takt_trace **out)
{
    imp_json json = {.input = input};
    takt_status status = imp_build_init(&json.build);
    if (status == TAKT_OK) {
        if (*is_takt)
            be_takts(&json);
        json.step_name = imp_build_string(&json.build, "ProfilerStep", 12);
        json.build.python = imp_build_string(&json.build, "python_function", 15);
        json.shapes_key = imp_build_string(&json.build, "shapes", 6);
        status = read_all(&json, out);
    }
    *is_takt = json.is_misread;
    if (status == TAKT_NO_MEMORY)
        tkt_error_set(input->error, status, "%s: %s", input->name, takt_status_text(status));
    imp_build_fini(&json.build);
    tkt_free(json.text);
    return status;
}
