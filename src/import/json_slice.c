/* Slices of the host: scopes, annotations, calls; and what else a slice may be. */
#include "import/json.h"

#include "export/devices.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- Arguments ------------------------------------------------------------------------------- */

/* Torch numbers its records with these; they say nothing to a reader of tables. */
static bool is_bookkeeping(const imp_value *key)
{
    static const char *const keys[] = {
        "External id",   "Ev Idx",        "Record function id", "Sequence number",
        "Fwd thread id", "Python id",     "Python parent id",   "Python module id",
        "Python thread", "Trace name",    "Trace iteration",    "Profiler Event Index",
        "Call stack",    "fwd_thread_id", "correlation"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (imp_is(key, keys[i]))
            return true;
    return false;
}

/* What Takt writes of a span beside its arguments. */
static bool is_takts_own(const imp_value *key)
{
    static const char *const keys[] = {TKT_CHROME_TAKEN_KEYS};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (imp_is(key, keys[i]))
            return true;
    return false;
}

static bool is_shapes(const imp_value *key)
{
    return imp_is(key, "Input Dims") || imp_is(key, "Input dims") || imp_is(key, "Input Shapes");
}

static tkt_arg arg_of(imp_json *json, const imp_value *value)
{
    tkt_arg arg = {.type = TKT_ARG_STRING};
    int64_t integer;
    if (value->kind != IMP_WORD) {
        arg.value.string = imp_json_string(json, value);
    } else if (imp_is(value, "true") || imp_is(value, "false")) {
        arg.type = TKT_ARG_BOOL;
        arg.value.b = value->bytes[0] == 't';
    } else if (!memchr(value->bytes, '.', value->size) && imp_integer(value, &integer)) {
        arg.type = TKT_ARG_INT;
        arg.value.i = integer;
    } else if (imp_real(value, &arg.value.d)) {
        arg.type = TKT_ARG_DOUBLE;
    } else {
        arg.value.string = imp_json_string(json, value);
    }
    return arg;
}

/* Of torch's operators only the shapes of their inputs are kept: the rest would cost more memory
 * than the operators. */
static void take_args(imp_json *json, const imp_row *row, uint32_t span, bool is_operator)
{
    for (uint32_t i = 0; i < json->args.count && row; i++) {
        const imp_member *member = &json->args.members[i];
        bool has_shapes = is_shapes(&member->key);
        if (json->is_takt ? is_takts_own(&member->key)
                          : is_bookkeeping(&member->key) || (is_operator && !has_shapes))
            continue;
        tkt_arg arg = arg_of(json, &member->value);
        arg.key = has_shapes ? json->shapes_key : imp_json_string(json, &member->key);
        imp_build_arg(&json->build, row->track, span, &arg);
    }
}

/* ---- Scopes ---------------------------------------------------------------------------------- */

/* "<built-in method relu of type object at 0x7f4c0f75>" without the address, which differs between
 * runs. */
static void drop_address(imp_json *json, imp_text text, imp_what *what)
{
    const char *end = text.bytes + text.size;
    const char *address = memmem(text.bytes, text.size, " at 0x", 6);
    char name[512];
    if (!address || text.size >= sizeof name)
        return;
    const char *behind = address + 6;
    while (behind < end && isxdigit((unsigned char)*behind))
        behind++;
    snprintf(name, sizeof name, "%.*s%.*s", (int)(address - text.bytes), text.bytes,
             (int)(end - behind), behind);
    what->name = imp_build_string(&json->build, name, strlen(name));
}

/* Splits "dir/file.py(12): function" into its parts. The name is "file.py: function", because a
 * scope of the user's may have the name of a function, such as "forward". */
static void split_python(imp_json *json, imp_text text, imp_what *what)
{
    const char *end = text.bytes + text.size;
    const char *colon = memmem(text.bytes, text.size, "): ", 3);
    const char *bracket = colon ? memrchr(text.bytes, '(', (size_t)(colon - text.bytes)) : NULL;
    imp_value line = {.kind = IMP_WORD};
    int64_t number;
    char name[512];
    if (!bracket)
        return;
    line.bytes = (const uint8_t *)bracket + 1;
    line.size = (size_t)(colon - bracket - 1);
    if (!imp_integer(&line, &number) || number < 0 || number > UINT32_MAX)
        return;
    const char *base = bracket;
    while (base > text.bytes && base[-1] != '/' && base[-1] != '\\')
        base--;
    snprintf(name, sizeof name, "%.*s: %.*s", (int)(bracket - base), base, (int)(end - colon - 3),
             colon + 3);
    what->file = imp_build_string(&json->build, text.bytes, (size_t)(bracket - text.bytes));
    what->line = (uint32_t)number;
    what->name = imp_build_string(&json->build, name, strnlen(name, sizeof name));
}

static void name_python(imp_json *json, imp_text text, imp_what *what)
{
    if (imp_begins(text, "<built-in "))
        drop_address(json, text, what);
    else
        split_python(json, text, what);
}

void imp_json_take_place(imp_json *json, imp_what *what)
{
    imp_text text = imp_json_text(json, imp_json_arg(json, "file"));
    const char *colon = text.size ? memrchr(text.bytes, ':', text.size) : NULL;
    if (!colon)
        return;
    what->file = imp_build_string(&json->build, text.bytes, (size_t)(colon - text.bytes));
    for (const char *at = colon + 1; at < text.bytes + text.size && *at >= '0' && *at <= '9'; at++)
        what->line = what->line * 10 + (uint32_t)(*at - '0');
}

/* Host activities of Takt's. */
static void take_activity_kind(imp_json *json, imp_what *what)
{
    const imp_value *kind = imp_json_arg(json, "activity");
    char name[32];
    for (uint32_t bit = TAKT_TIMING_KERNEL; bit <= TAKT_TIMING_GRAPH && kind->kind; bit *= 2)
        if (imp_is(kind, tkt_activity_label(name, sizeof name, bit, "")))
            what->filter = bit;
    if (!what->filter)
        return;
    what->kind = TAKT_SITE_ACTIVITY;
    what->device = imp_json_string(json, imp_json_arg(json, "device"));
}

static void take_work(imp_json *json, const imp_row *row, uint32_t span)
{
    tkt_work work = {.span = span};
    bool has_work = imp_real(imp_json_arg(json, "flops"), &work.flops);
    if (!has_work || span == IMP_NOTHING)
        return;
    imp_real(imp_json_arg(json, "bytes"), &work.bytes);
    tkt_work *added = TKT_ARRAY_ADD(&json->build.trace->tracks.items[row->track].works);
    json->build.is_short |= !added;
    if (added)
        *added = work;
}

static void mark_open_ends(const imp_json *json, const imp_row *row, uint32_t span)
{
    tkt_span *at = &json->build.trace->tracks.items[row->track].spans.items[span];
    if (imp_json_arg(json, "begun before")->kind)
        tkt_span_mark(at, TAKT_SPAN_BEGUN_BEFORE);
    if (imp_json_arg(json, "unfinished")->kind)
        tkt_span_mark(at, TAKT_SPAN_UNFINISHED);
}

static void describe_takts(imp_json *json, imp_what *what)
{
    what->category = imp_json_string(json, imp_json_arg(json, "category"));
    imp_json_take_place(json, what);
    take_activity_kind(json, what);
}

static bool take_scope(imp_json *json, const imp_event *event, imp_what *what, bool is_operator)
{
    imp_row *row = imp_json_row(json, event);
    if (json->is_takt)
        describe_takts(json, what);
    uint32_t span = imp_build_span(&json->build, row, what, event->begin_ns, event->end_ns);
    take_args(json, row, span, is_operator);
    if (json->is_takt && span != IMP_NOTHING) {
        take_work(json, row, span);
        mark_open_ends(json, row, span);
    }
    return true;
}

/* Takt writes its steps on the first row beyond the numbers of threads, and spans that may overlap
 * on the others: names such as torch's for steps say nothing there. */
#define ROW_OF_STEPS 1000000000u

/* "io (2)" is the second row of the track "io". */
static uint32_t track_name(imp_json *json, const imp_row *row)
{
    const char *name = row && row->name ? tkt_trace_text(json->build.trace, row->name) : "track";
    size_t size = strlen(name), end = size;
    if (size && name[size - 1] == ')') {
        end = size - 1;
        while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
            end--;
        bool is_lane = end >= 2 && end < size - 1 && name[end - 1] == '(' && name[end - 2] == ' ';
        size = is_lane ? end - 2 : size;
    }
    return imp_build_string(&json->build, name, size);
}

static bool take_takts_annotation(imp_json *json, const imp_event *event, imp_what *what)
{
    imp_row *row = imp_json_row(json, event);
    uint32_t name = track_name(json, row);
    describe_takts(json, what);
    uint32_t track = imp_build_async(&json->build, name, what, event->begin_ns, event->end_ns);
    if (track == IMP_NOTHING)
        return true;
    uint32_t span = (uint32_t)json->build.trace->tracks.items[track].spans.count - 1;
    take_args(json, &(imp_row){.track = track}, span, false);
    take_work(json, &(imp_row){.track = track}, span);
    return true;
}

static bool take_annotation(imp_json *json, const imp_event *event, imp_what *what)
{
    uint64_t number;
    imp_text name = imp_json_text(json, &event->name);
    uint32_t thread = json->is_takt ? imp_json_id(&event->thread) : ROW_OF_STEPS;
    if (thread == ROW_OF_STEPS && imp_step_number(name.bytes, name.size, &number)) {
        const imp_row *row = imp_json_row(json, event);
        imp_build_step(&json->build, row ? row->process : IMP_NOTHING, number, event->begin_ns,
                       event->end_ns);
        if (json->is_takt)
            return true;
        what->name = json->step_name;
    }
    if (json->is_takt && thread >= ROW_OF_STEPS)
        return take_takts_annotation(json, event, what);
    return take_scope(json, event, what, false);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void take_grid(imp_json *json, const imp_row *row, uint32_t correlation)
{
    int64_t grid[3] = {0}, block[3] = {0};
    imp_grid of = {.process = row->process};
    if (imp_integers(imp_json_arg(json, "grid"), grid, 3) != 3 ||
        imp_integers(imp_json_arg(json, "block"), block, 3) != 3)
        return;
    for (int i = 0; i < 3; i++) {
        of.grid[i] = (uint32_t)grid[i];
        of.block[i] = (uint32_t)block[i];
    }
    imp_build_grid(&json->build, correlation, &of);
}

static bool take_call(imp_json *json, const imp_event *event, imp_what *what)
{
    imp_row *row = imp_json_row(json, event);
    imp_call call = {.correlation = imp_json_id(imp_json_arg(json, "correlation")),
                     .operator_id = imp_json_id(imp_json_arg(json, "External id"))};
    int64_t result = 0;
    what->kind = TAKT_SITE_CALL;
    uint32_t span = imp_build_span(&json->build, row, what, event->begin_ns, event->end_ns);
    imp_integer(imp_json_arg(json, "result"), &result);
    call.result = (int32_t)result;
    imp_build_call(&json->build, row, span, &call);
    if (call.correlation && row)
        take_grid(json, row, call.correlation);
    return true;
}

/* ---- Slices ---------------------------------------------------------------------------------- */

typedef enum slice_kind {
    SLICE_OTHER,
    SLICE_OPERATOR,
    SLICE_ANNOTATION,
    SLICE_PYTHON,
    SLICE_CALL,
    SLICE_WINDOW, /* the recording */
    SLICE_DEVICE  /* from here on, by `take` */
} slice_kind;

/* Categories, and the names of 2021. */
#define CATEGORY(text) sizeof text - 1, text

static const struct category {
    size_t size;
    const char *name;
    slice_kind kind;
    imp_json_taker take;
    const char *category; /* of the spans; NULL: the same name */
} categories[] = {
    {CATEGORY("cpu_op"), SLICE_OPERATOR, NULL, NULL},
    {CATEGORY("Operator"), SLICE_OPERATOR, NULL, "cpu_op"},
    {CATEGORY("user_annotation"), SLICE_ANNOTATION, NULL, NULL},
    {CATEGORY("python_function"), SLICE_PYTHON, NULL, NULL},
    {CATEGORY("cuda_runtime"), SLICE_CALL, NULL, NULL},
    {CATEGORY("cuda_driver"), SLICE_CALL, NULL, NULL},
    {CATEGORY("Runtime"), SLICE_CALL, NULL, "cuda_runtime"},
    {CATEGORY("hip_runtime"), SLICE_CALL, NULL, NULL},
    {CATEGORY("mtia_runtime"), SLICE_CALL, NULL, NULL},
    {CATEGORY("xpu_runtime"), SLICE_CALL, NULL, NULL},
    {CATEGORY("privateuse1_runtime"), SLICE_CALL, NULL, NULL},
    {CATEGORY("Trace"), SLICE_WINDOW, NULL, NULL},
    {CATEGORY("kernel"), SLICE_DEVICE, imp_json_take_kernel, NULL},
    {CATEGORY("Kernel"), SLICE_DEVICE, imp_json_take_kernel, NULL},
    {CATEGORY("gpu_memcpy"), SLICE_DEVICE, imp_json_take_memcpy, NULL},
    {CATEGORY("Memcpy"), SLICE_DEVICE, imp_json_take_memcpy, NULL},
    {CATEGORY("gpu_memset"), SLICE_DEVICE, imp_json_take_memset, NULL},
    {CATEGORY("Memset"), SLICE_DEVICE, imp_json_take_memset, NULL},
    {CATEGORY("cuda_sync"), SLICE_DEVICE, imp_json_take_wait, NULL},
    {CATEGORY("overhead"), SLICE_DEVICE, imp_json_take_overhead, NULL},
    {CATEGORY("gpu_user_annotation"), SLICE_DEVICE, imp_json_take_annotation, NULL},
};

static const struct category *find_category(const imp_value *name)
{
    static const struct category other = {CATEGORY(""), SLICE_OTHER, NULL, NULL};
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (name->size == categories[i].size &&
            memcmp(name->bytes, categories[i].name, name->size) == 0)
            return &categories[i];
    return &other;
}

static uint32_t category_of(imp_json *json, const imp_event *event, const struct category *known)
{
    if (json->is_takt && known->kind != SLICE_CALL)
        return 0;
    return known->category
               ? imp_build_string(&json->build, known->category, strlen(known->category))
               : imp_json_string(json, &event->category);
}

/* A time before the begin is a fault of the clock. */
static bool read_duration(imp_json *json, imp_event *event)
{
    int64_t ns = 0;
    event->end_ns = event->begin_ns;
    if (event->duration.kind == IMP_NONE)
        return true;
    if (imp_time(&event->duration, &ns)) {
        event->end_ns += (uint64_t)ns;
        return true;
    }
    if (event->duration.size == 0 || event->duration.bytes[0] != '-')
        return false;
    json->build.trace->losses[TAKT_LOSS_CLOCK]++;
    return true;
}

bool imp_json_take_slice(imp_json *json, imp_event *event)
{
    const struct category *known = find_category(&event->category);
    if (event->name.kind == IMP_NONE || !read_duration(json, event))
        return false;
    if (event->duration.size && event->duration.bytes[0] == '-')
        return true;
    json->has_category |= known->kind != SLICE_OTHER;
    if (known->kind == SLICE_DEVICE)
        return known->take(json, event);
    const imp_process *process =
        known->kind == SLICE_OTHER && !json->is_takt ? imp_json_process(json, event) : NULL;
    if (process && process->is_device)
        return imp_json_take_foreign(json, event, process);
    if (known->kind == SLICE_WINDOW) {
        imp_build_extend(&json->build, event->begin_ns, event->end_ns);
        return true;
    }
    imp_what what = {.name = imp_json_string(json, &event->name),
                     .category = category_of(json, event, known),
                     .kind = TAKT_SITE_SCOPE};
    switch (known->kind) {
    case SLICE_CALL:
        return take_call(json, event, &what);
    case SLICE_ANNOTATION:
        return take_annotation(json, event, &what);
    case SLICE_PYTHON:
        name_python(json, imp_json_text(json, &event->name), &what);
        return take_scope(json, event, &what, false);
    default:
        return take_scope(json, event, &what, known->kind == SLICE_OPERATOR);
    }
}
