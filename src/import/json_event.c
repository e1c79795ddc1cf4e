/* Events without a duration: marks, counters, arrows, names of threads; and which event is which.
 */
#include "import/json.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---------------------------------------------------------------------------------- */

imp_text imp_json_text(imp_json *json, const imp_value *value)
{
    if (value->kind == IMP_NONE)
        return (imp_text){"", 0};
    if (!value->is_escaped)
        return (imp_text){(const char *)value->bytes, value->size};
    if (value->size > json->text_size) {
        char *text = tkt_alloc(2 * value->size);
        if (!text) {
            json->build.is_short = true;
            return (imp_text){"", 0};
        }
        tkt_free(json->text);
        json->text = text;
        json->text_size = 2 * value->size;
    }
    return (imp_text){json->text, imp_unescape(value, json->text)};
}

uint32_t imp_json_string(imp_json *json, const imp_value *value)
{
    imp_text text = imp_json_text(json, value);
    return text.size ? imp_build_string(&json->build, text.bytes, text.size) : 0;
}

uint64_t imp_json_positive(const imp_value *value)
{
    int64_t number;
    return imp_integer(value, &number) && number > 0 ? (uint64_t)number : 0;
}

uint32_t imp_json_id(const imp_value *value)
{
    int64_t id;
    return imp_integer(value, &id) && id > 0 && id < UINT32_MAX ? (uint32_t)id : 0;
}

static uint64_t key_of(const imp_value *text)
{
    return tkt_hash_bytes(text->bytes, text->size);
}

/* The number of the process: all of a rank's are one, since they share their devices and
 * correlation ids. Processes and threads may have texts as numbers, such as "rank 0": then that is
 * their name. */
static uint32_t process_of(imp_json *json, const imp_event *event)
{
    const imp_value *text = event->rank.kind ? &event->rank : &event->process;
    uint32_t number = imp_build_process(&json->build, key_of(text), imp_json_id(text));
    imp_process *process = number == IMP_NOTHING ? NULL : &json->build.processes.items[number];
    if (process && !process->id && !process->name) {
        process->name = imp_json_string(json, text);
        process->is_rank = event->rank.kind != IMP_NONE;
        imp_json_name_process(json, process, imp_json_text(json, text));
    }
    return number;
}

uint32_t imp_json_caller(imp_json *json, const imp_event *event)
{
    return event->rank.kind ? process_of(json, event) : IMP_NOTHING;
}

imp_process *imp_json_process(imp_json *json, const imp_event *event)
{
    uint32_t number = process_of(json, event);
    return number == IMP_NOTHING ? NULL : &json->build.processes.items[number];
}

imp_row *imp_json_row(imp_json *json, const imp_event *event)
{
    uint64_t thread = tkt_hash_bytes(event->thread.bytes, event->thread.size);
    imp_row *row = imp_build_row(&json->build, tkt_hash_u64(key_of(&event->process)) ^ thread,
                                 process_of(json, event), imp_json_id(&event->thread));
    if (row && !row->thread_id && !row->name)
        row->name = imp_json_string(json, &event->thread);
    return row;
}

/* ---- Events without a duration --------------------------------------------------------------- */

/* The begin and end of the recording. Torch writes them without a category, and its end is late: an
 * H200's run had ended 9 ms before. */
static bool take_window_mark(imp_json *json, const imp_event *event)
{
    bool is_end = imp_is(&event->name, "Record Window End");
    if (!is_end && !imp_begins(imp_json_text(json, &event->name), "Iteration Start: "))
        return false;
    *(is_end ? &json->window_end_ns : &json->window_begin_ns) = event->begin_ns;
    return true;
}

static bool take_instant(imp_json *json, const imp_event *event)
{
    if (imp_is(&event->name, "[memory]"))
        return imp_json_take_memory(json, event);
    bool may_be_window = event->category.size == 0 || imp_is(&event->category, "Trace");
    if (may_be_window && take_window_mark(json, event))
        return true;
    imp_what what = {.name = imp_json_string(json, &event->name), .kind = TAKT_SITE_SCOPE};
    if (json->is_takt)
        imp_json_take_place(json, &what);
    imp_build_mark(&json->build, imp_json_row(json, event), &what, event->begin_ns);
    return true;
}

/* Takt derives the counters of memory from the allocations, which the file has, too. */
static bool is_derived(const imp_json *json)
{
    return json->is_takt && json->args.count && imp_is(&json->args.members[0].key, "bytes");
}

/* Each number is a counter. With several, its name says which. */
static bool take_counter(imp_json *json, const imp_event *event)
{
    char name[512];
    for (uint32_t i = 0; i < json->args.count && !is_derived(json); i++) {
        const imp_member *member = &json->args.members[i];
        double value;
        if (!imp_real(&member->value, &value) || !isfinite(value))
            continue;
        imp_text text = imp_json_text(json, &event->name);
        size_t size = text.size < 250 ? text.size : 250;
        memcpy(name, text.bytes, size);
        if (json->args.count > 1) {
            text = imp_json_text(json, &member->key);
            size_t more = text.size < 250 ? text.size : 250;
            name[size++] = ' ';
            memcpy(name + size, text.bytes, more);
            size += more;
        }
        imp_build_counter(&json->build, imp_json_row(json, event),
                          imp_build_string(&json->build, name, size), event->begin_ns, value);
    }
    return true;
}

/* Arrows from a call to its work repeat the correlation; those from a backward operator to its
 * forward one are left out. */
static bool take_arrow(imp_json *json, const imp_event *event)
{
    char text[24] = "";
    if (!imp_is(&event->category, "flow") || event->id.size >= sizeof text)
        return true;
    memcpy(text, event->id.bytes, event->id.size);
    imp_build_flow(&json->build, imp_json_row(json, event), strtoull(text, NULL, 0),
                   imp_is(&event->phase, "f"), event->begin_ns);
    return true;
}

/* The name in "thread 12 (name)", or the text as it is; none in "thread 12". Sets *id to the
 * number, if there is one. */
static imp_text inner_name(imp_text text, uint32_t *id)
{
    static const char head[] = "thread ";
    if (text.size < sizeof head || memcmp(text.bytes, head, sizeof head - 1) != 0 ||
        text.bytes[sizeof head - 1] < '0' || text.bytes[sizeof head - 1] > '9')
        return text;
    imp_value digits = {(const uint8_t *)text.bytes + sizeof head - 1, 0, IMP_WORD, false};
    while (digits.size < text.size - sizeof head + 1 && isdigit(digits.bytes[digits.size]))
        digits.size++;
    *id = imp_json_id(&digits);
    const char *open = memchr(text.bytes, '(', text.size);
    if (!open || text.bytes[text.size - 1] != ')')
        return (imp_text){"", 0};
    return (imp_text){open + 1, (size_t)(text.bytes + text.size - 2 - open)};
}

static bool take_metadata(imp_json *json, const imp_event *event)
{
    int64_t number;
    if (imp_is(&event->name, "process_name")) {
        imp_process *process = imp_json_process(json, event);
        if (process)
            imp_json_name_process(json, process, imp_json_text(json, imp_json_arg(json, "name")));
        return true;
    }
    bool has_process = event->rank.kind || imp_integer(&event->process, &number);
    if (!imp_is(&event->name, "thread_name") || !has_process)
        return true;
    uint32_t id = 0;
    imp_text name = inner_name(imp_json_text(json, imp_json_arg(json, "name")), &id);
    bool is_stream = name.size > 7 && imp_begins(name, "stream ");
    imp_row *row = is_stream ? NULL : imp_json_row(json, event);
    if (row && name.size)
        row->name = imp_build_string(&json->build, name.bytes, name.size);
    if (row && id && json->is_takt) /* threads of two processes may have one number */
        row->thread_id = id;
    return true;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Where the value of this key belongs; NULL for other keys. */
static imp_value *find_place(imp_event *event, const imp_value *key)
{
    switch (key->size) {
    case 2:
        if (imp_is(key, "ph"))
            return &event->phase;
        return imp_is(key, "ts") ? &event->time : imp_is(key, "id") ? &event->id : NULL;
    case 3:
        if (imp_is(key, "pid"))
            return &event->process;
        if (imp_is(key, "tid"))
            return &event->thread;
        return imp_is(key, "cat") ? &event->category : imp_is(key, "dur") ? &event->duration : NULL;
    case 4:
        return imp_is(key, "name") ? &event->name : imp_is(key, "args") ? &event->args : NULL;
    default:
        return NULL;
    }
}

/* Those who put the files of several ranks into one mark the processes, "[TP00] 7". */
static void find_rank(imp_event *event)
{
    const imp_value *text = &event->process;
    const uint8_t *end =
        text->size > 2 && text->bytes[0] == '[' ? memchr(text->bytes, ']', text->size) : NULL;
    if (end)
        event->rank = (imp_value){
            .bytes = text->bytes + 1, .size = (size_t)(end - text->bytes) - 1, .kind = IMP_STRING};
}

static void find_members(imp_json *json, imp_event *event)
{
    *event = (imp_event){0};
    for (uint32_t i = 0; i < json->object.count; i++) {
        imp_value *place = find_place(event, &json->object.members[i].key);
        if (place)
            *place = json->object.members[i].value;
    }
    find_rank(event);
}

static void scan_args(imp_json *json, const imp_value *args)
{
    if (args->kind == IMP_OBJECT && args->bytes == json->args_begin)
        return;
    json->args.count = 0;
    imp_scan_inside(args, &json->args);
}

static bool take_timed(imp_json *json, imp_event *event)
{
    int64_t begin_ns;
    if (!imp_time(&event->time, &begin_ns))
        return false;
    event->begin_ns = (uint64_t)begin_ns;
    imp_what what = {.kind = TAKT_SITE_SCOPE};
    switch (event->phase.bytes[0]) {
    case 'X':
        return imp_json_take_slice(json, event);
    case 'B':
        what.name = imp_json_string(json, &event->name);
        what.category = imp_json_string(json, &event->category);
        imp_build_begin(&json->build, imp_json_row(json, event), &what, event->begin_ns);
        return true;
    case 'E':
        return imp_build_end(&json->build, imp_json_row(json, event), event->begin_ns);
    case 'i':
    case 'I':
        return take_instant(json, event);
    case 'C':
        return take_counter(json, event);
    case 's':
    case 'f':
        return take_arrow(json, event);
    case 't':
        return true;
    default:
        return false;
    }
}

bool imp_json_take(imp_json *json)
{
    imp_event event;
    find_members(json, &event);
    scan_args(json, &event.args);
    if (event.phase.size != 1)
        return false;
    if (event.phase.bytes[0] == 'M')
        return take_metadata(json, &event);
    bool is_taken = take_timed(json, &event);
    json->has_event |= is_taken;
    return is_taken;
}
