/* Reads the time trace of a compilation: Chrome JSON, as nvcc and NVRTC write it since CUDA 12.8.
 *
 * Complete events ("ph": "X") are phases, with "ts" and "dur" in us since the compilation began.
 * Metadata ("ph": "M") names nvcc's threads, "solver.cu [sm_90]", often behind the events of the
 * thread, so rows get their units while the file is read and spans refer to rows. What else a file
 * has is skipped. */
#include "profiler/compile.h"

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

#include <string.h>

#define MOST_ROWS  256u
#define MOST_NAMES 4096u
#define LONG_NS    1000000u /* phases of this length keep their detail */
#define LATEST_US  1e13     /* 115 days */
#define TEXT_BYTES 512u
#define NO_EVENTS  "expected an object with a list \"traceEvents\""

/* An event as far as it is read. */
typedef struct event {
    char name[TKT_COMPILE_UNIT];
    char detail[TKT_COMPILE_DETAIL];
    char phase; /* 'X', 'M', 0 */
    double ts, dur, pid, tid;
    bool has_ts, has_dur;
} event;

typedef struct reader {
    tkt_json json;
    tkt_compile_file *file;
    bool is_out_of_memory;
    char text[TEXT_BYTES];
} reader;

/* Copies the last string; `capacity` is at most TEXT_BYTES. */
static void copy_text(const reader *r, char *out, size_t capacity)
{
    memcpy(out, r->text, r->json.size < capacity ? r->json.size : capacity);
    tkt_text_end(out, capacity, r->json.size);
}

/* ---- One event ------------------------------------------------------------------------------- */

static bool read_arguments(reader *r, event *e)
{
    tkt_json_token token;
    while ((token = tkt_json_next(&r->json)) == TKT_JSON_KEY) {
        bool is_detail = strcmp(r->text, "detail") == 0 || strcmp(r->text, "name") == 0;
        token = tkt_json_next(&r->json);
        if (is_detail && token == TKT_JSON_STRING)
            copy_text(r, e->detail, sizeof e->detail);
        else if (!tkt_json_skip(&r->json, token))
            return false;
    }
    return token != TKT_JSON_ERROR;
}

static bool put_number(event *e, const char *key, double value)
{
    if (strcmp(key, "ts") == 0)
        e->has_ts = (e->ts = value, true);
    else if (strcmp(key, "dur") == 0)
        e->has_dur = (e->dur = value, true);
    else if (strcmp(key, "pid") == 0)
        e->pid = value;
    else if (strcmp(key, "tid") == 0)
        e->tid = value;
    return true;
}

static bool read_member(reader *r, event *e)
{
    char key[8];
    copy_text(r, key, sizeof key);
    tkt_json_token token = tkt_json_next(&r->json);
    if (token == TKT_JSON_NUMBER)
        return put_number(e, key, r->json.number);
    if (token == TKT_JSON_OBJECT && strcmp(key, "args") == 0)
        return read_arguments(r, e);
    if (token == TKT_JSON_STRING && strcmp(key, "name") == 0)
        copy_text(r, e->name, sizeof e->name);
    else if (token == TKT_JSON_STRING && strcmp(key, "ph") == 0)
        e->phase = r->text[0];
    return tkt_json_skip(&r->json, token);
}

/* ---- Keeping it ------------------------------------------------------------------------------ */

static uint32_t row_of(reader *r, const event *e)
{
    uint64_t key = (uint64_t)(uint32_t)(int64_t)e->pid << 32 | (uint32_t)(int64_t)e->tid;
    tkt_compile_file *file = r->file;
    for (size_t i = file->rows.count; i-- > 0;)
        if (file->rows.items[i].key == key || i + 1 == MOST_ROWS)
            return (uint32_t)i;
    tkt_compile_row *row = TKT_ARRAY_ADD(&file->rows);
    r->is_out_of_memory |= !row;
    if (row)
        *row = (tkt_compile_row){.key = key, .begin_ns = UINT64_MAX};
    return row ? (uint32_t)file->rows.count - 1 : 0;
}

/* Returns the place for a span of this length: a new one, or the shortest span's. NULL: all kept
 * spans are longer. */
static tkt_compile_span *place_for(reader *r, uint64_t duration_ns)
{
    tkt_compile_file *file = r->file;
    uint32_t index = (uint32_t)file->spans.count;
    if (index < TKT_COMPILE_SPANS) {
        tkt_compile_span *added = TKT_ARRAY_ADD(&file->spans);
        r->is_out_of_memory |= !added;
    } else {
        file->left_out++;
        if (file->shortest.items[0].key >= duration_ns)
            return NULL;
        index = tkt_heap_take(&file->shortest).value;
    }
    if (r->is_out_of_memory)
        return NULL;
    r->is_out_of_memory |= !tkt_heap_add(&file->shortest, duration_ns, index);
    return &file->spans.items[index];
}

/* Names of files that nvcc has made up would make each compilation's names different. */
static bool is_worth_telling(const char *detail)
{
    return !strstr(detail, "/tmpxft_");
}

static void keep_span(reader *r, const event *e)
{
    uint64_t begin_ns = (uint64_t)(e->ts * 1000), duration_ns = (uint64_t)(e->dur * 1000);
    uint64_t end_ns = begin_ns + duration_ns;
    tkt_compile_file *file = r->file;
    uint32_t number = row_of(r, e);
    if (r->is_out_of_memory)
        return;
    tkt_compile_row *row = &file->rows.items[number];
    row->begin_ns = begin_ns < row->begin_ns ? begin_ns : row->begin_ns;
    row->end_ns = end_ns > row->end_ns ? end_ns : row->end_ns;
    file->end_ns = end_ns > file->end_ns ? end_ns : file->end_ns;
    uint32_t name = file->names.count < MOST_NAMES
                        ? tkt_strtab_intern_text(&file->names, e->name)
                        : tkt_strtab_intern_text(&file->names, "other phases");
    tkt_compile_span *span = place_for(r, duration_ns);
    if (!span)
        return;
    *span = (tkt_compile_span){begin_ns, end_ns, name, number, ""};
    r->is_out_of_memory |= name == TKT_STRTAB_FULL;
    if (duration_ns >= LONG_NS && is_worth_telling(e->detail))
        memcpy(span->detail, e->detail, sizeof span->detail);
}

static void name_thread(reader *r, const event *e)
{
    uint32_t row = row_of(r, e);
    if (row < r->file->rows.count && strcmp(e->name, "thread_name") == 0)
        memcpy(r->file->rows.items[row].unit, e->detail, TKT_COMPILE_UNIT - 1);
}

static bool is_good(const event *e)
{
    return e->name[0] && e->has_ts && e->has_dur && e->ts >= 0 && e->ts < LATEST_US &&
           e->dur >= 0 && e->dur < LATEST_US;
}

/* Process and thread numbers outside of 32 bits count as 0. */
static void check_numbers(event *e)
{
    if (!(e->pid >= 0 && e->pid <= UINT32_MAX))
        e->pid = 0;
    if (!(e->tid >= 0 && e->tid <= UINT32_MAX))
        e->tid = 0;
}

static bool read_event(reader *r)
{
    event e = {.phase = 0};
    uint32_t line = r->json.line;
    tkt_json_token token;
    while ((token = tkt_json_next(&r->json)) == TKT_JSON_KEY)
        if (!read_member(r, &e))
            return false;
    check_numbers(&e);
    if (e.phase == 'X' && is_good(&e)) {
        keep_span(r, &e);
    } else if (e.phase == 'X') {
        r->file->wrong_line = r->file->wrong ? r->file->wrong_line : line;
        r->file->wrong++;
    } else if (e.phase == 'M') {
        name_thread(r, &e);
    }
    return token != TKT_JSON_ERROR && !r->is_out_of_memory;
}

/* ---- The file -------------------------------------------------------------------------------- */

static bool read_events(reader *r)
{
    tkt_json_token token;
    while ((token = tkt_json_next(&r->json)) != TKT_JSON_ARRAY_END) {
        bool is_read = token == TKT_JSON_OBJECT ? read_event(r) : tkt_json_skip(&r->json, token);
        if (!is_read)
            return false;
    }
    return true;
}

/* Reads "otherData": its "inputFiles" begins with the name of the unit. NVRTC has only a name of
 * its own there. */
static bool read_facts(reader *r)
{
    tkt_json_token token;
    while ((token = tkt_json_next(&r->json)) == TKT_JSON_KEY) {
        bool is_input = strcmp(r->text, "inputFiles") == 0;
        token = tkt_json_next(&r->json);
        if (is_input && token == TKT_JSON_ARRAY) {
            token = tkt_json_next(&r->json);
            if (token == TKT_JSON_STRING && strcmp(r->text, "source_compiled_by_nvrtc") != 0)
                copy_text(r, r->file->unit, sizeof r->file->unit);
            while (token != TKT_JSON_ARRAY_END && tkt_json_skip(&r->json, token))
                token = tkt_json_next(&r->json);
        } else if (!tkt_json_skip(&r->json, token)) {
            return false;
        }
    }
    return token != TKT_JSON_ERROR;
}

static bool read_top(reader *r)
{
    tkt_json_token token;
    bool has_events = false;
    while ((token = tkt_json_next(&r->json)) == TKT_JSON_KEY) {
        bool is_events = strcmp(r->text, "traceEvents") == 0;
        bool is_facts = strcmp(r->text, "otherData") == 0;
        token = tkt_json_next(&r->json);
        if (is_events && token != TKT_JSON_ARRAY && token != TKT_JSON_ERROR)
            token = tkt_json_fail(&r->json, NO_EVENTS);
        has_events |= is_events;
        bool is_read = token == TKT_JSON_ERROR                ? false
                       : is_events                            ? read_events(r)
                       : is_facts && token == TKT_JSON_OBJECT ? read_facts(r)
                                                              : tkt_json_skip(&r->json, token);
        if (!is_read)
            return false;
    }
    if (token != TKT_JSON_ERROR && !has_events)
        token = tkt_json_fail(&r->json, NO_EVENTS);
    return token != TKT_JSON_ERROR && tkt_json_next(&r->json) == TKT_JSON_END;
}

static takt_status read_input(reader *r, tkt_input *input)
{
    tkt_json_begin(&r->json, input, r->text, sizeof r->text);
    bool is_read = false;
    if (tkt_json_next(&r->json) == TKT_JSON_OBJECT)
        is_read = read_top(r);
    else
        tkt_json_fail(&r->json, NO_EVENTS);
    if (r->is_out_of_memory)
        return TAKT_NO_MEMORY;
    return is_read ? TAKT_OK : r->json.status;
}

/* Adds what to do to the message about a malformed file. */
static takt_status advise(takt_status status, takt_error *error)
{
    if (status != TAKT_BAD_TRACE || !error)
        return status;
    takt_error was = *error;
    return tkt_error_at(error, status, was.line, was.column,
                        "%s; compile again, into a new file: NVRTC appends to an old one",
                        was.message);
}

takt_status tkt_compile_read(tkt_compile_file *file, const char *path, takt_error *error)
{
    *file = (tkt_compile_file){.end_ns = 0};
    tkt_input input;
    reader *r = tkt_alloc(sizeof *r);
    takt_status status = r ? tkt_strtab_init(&file->names) : TAKT_NO_MEMORY;
    if (status == TAKT_OK)
        status = tkt_input_open(&input, path, error);
    if (status == TAKT_OK) {
        r->file = file;
        r->is_out_of_memory = false;
        status = advise(read_input(r, &input), error);
        tkt_input_close(&input);
    }
    tkt_free(r);
    return status;
}

bool tkt_compile_is_parallel(const tkt_compile_file *file)
{
    for (size_t i = 0; i < file->rows.count; i++)
        for (size_t k = 0; k < i; k++) {
            const tkt_compile_row *a = &file->rows.items[i], *b = &file->rows.items[k];
            if (a->begin_ns < b->end_ns && b->begin_ns < a->end_ns)
                return true;
        }
    return false;
}

void tkt_compile_file_fini(tkt_compile_file *file)
{
    TKT_ARRAY_FREE(&file->spans);
    TKT_ARRAY_FREE(&file->rows);
    TKT_ARRAY_FREE(&file->shortest);
    tkt_strtab_fini(&file->names);
}
