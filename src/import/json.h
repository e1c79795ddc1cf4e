/* Reads torch.profiler's JSON (Kineto), and Takt's own Chrome files, which are of the same dialect:
 * reference for both is docs/importing.md. One pass over the file; of an event only what the trace
 * keeps stays in memory. */
#ifndef TKT_IMPORT_JSON_H
#define TKT_IMPORT_JSON_H

#include "base/file.h"
#include "import/build.h"
#include "import/scan.h"

#include <string.h>

/* The members that nearly all events have, found once. */
typedef struct imp_event {
    imp_value phase;
    imp_value category;
    imp_value name;
    imp_value process;
    imp_value rank; /* "TP00" of the process "[TP00] 7", in files of several ranks; or none */
    imp_value thread;
    imp_value time;
    imp_value duration;
    imp_value id;
    imp_value args;
    uint64_t begin_ns;
    uint64_t end_ns;
} imp_event;

typedef struct imp_json {
    tkt_input *input;
    imp_build build;
    imp_object object;         /* the event being read */
    imp_object args;           /* and its arguments; empty without any */
    const uint8_t *args_begin; /* where the arguments that were read begin; NULL: none were */
    bool is_takt;              /* Takt wrote the file */
    bool is_misread;           /* it says so behind the events, which were read as another's */
    bool is_part;              /* the rest of the recording is in other files */
    bool is_cut;
    bool has_event;        /* one that is understood, besides names */
    bool has_category;     /* one of torch.profiler's */
    bool has_foreign;      /* a device as another profiler names it */
    bool is_skipping;      /* a broken event, whose end was not found yet */
    uint64_t event_offset; /* of the event being read */
    uint64_t cut_bytes;
    int64_t base_ns;          /* CLOCK_REALTIME of time 0 */
    char *text;               /* the last text that had escapes, */
    size_t text_size;         /* and the room for it */
    uint32_t name;            /* of the run; string */
    uint32_t backend;         /* of Takt's recording; string */
    uint64_t window_begin_ns; /* of the recording */
    uint64_t window_end_ns;
    uint32_t step_name; /* strings: "ProfilerStep" and "shapes" */
    uint32_t shapes_key;
} imp_json;

/* Reads the file. Fails as tkt_trace_read_input() does. If it leaves out an event that is too
 * large, input->error says so although the trace is there. `*is_takt`: the file is Takt's, whatever
 * stands before its events. Becomes true, and there is no trace, if only a member behind the events says
 * so: then it has to be read again. */
takt_status imp_json_read(tkt_input *input, bool *is_takt, takt_trace **out);

/* ======== Parts ======== */

/* The text of a value, not terminated; valid until the next call. */
typedef struct imp_text {
    const char *bytes;
    size_t size;
} imp_text;
imp_text imp_json_text(imp_json *json, const imp_value *value);

static inline bool imp_begins(imp_text text, const char *beginning)
{
    size_t size = strlen(beginning);
    return text.size >= size && memcmp(text.bytes, beginning, size) == 0;
}

/* The same as a string of the trace. */
uint32_t imp_json_string(imp_json *json, const imp_value *value);

/* An argument of the event. */
static inline const imp_value *imp_json_arg(const imp_json *json, const char *key)
{
    return imp_find(&json->args, key);
}

/* A number above 0; 0 if it is none. */
uint64_t imp_json_positive(const imp_value *value);

/* An argument as a number; 0 if there is none. */
static inline uint64_t imp_json_uint(const imp_json *json, const char *key)
{
    return imp_json_positive(imp_json_arg(json, key));
}

/* An event's process; NULL without memory. Valid until the next call. */
imp_process *imp_json_process(imp_json *json, const imp_event *event);

/* The number of the process whose calls launched an event's work, if the file tells. */
uint32_t imp_json_caller(imp_json *json, const imp_event *event);

/* The row of an event's thread; NULL without memory. */
imp_row *imp_json_row(imp_json *json, const imp_event *event);

/* A number of a process, thread or call; 0 if it is none. */
uint32_t imp_json_id(const imp_value *value);

/* Takes a slice, whose begin is known. False: it is not understood. */
bool imp_json_take_slice(imp_json *json, imp_event *event);

/* Takes "file.c:12", as Takt writes a place. */
void imp_json_take_place(imp_json *json, imp_what *what);

/* Takes an event with the members in json->object. False: it is not understood. */
bool imp_json_take(imp_json *json);

/* Take an event that is work of a device or belongs to one. */
typedef bool (*imp_json_taker)(imp_json *json, const imp_event *event);
bool imp_json_take_kernel(imp_json *json, const imp_event *event);
bool imp_json_take_memcpy(imp_json *json, const imp_event *event);
bool imp_json_take_memset(imp_json *json, const imp_event *event);
bool imp_json_take_wait(imp_json *json, const imp_event *event);
bool imp_json_take_overhead(imp_json *json, const imp_event *event);
bool imp_json_take_annotation(imp_json *json, const imp_event *event);
bool imp_json_take_memory(imp_json *json, const imp_event *event);

/* Notes that a process of this name is a device, if it is one. */
void imp_json_name_process(imp_json *json, imp_process *process, imp_text name);

/* Takes a slice without a category from a process that is a device. */
bool imp_json_take_foreign(imp_json *json, const imp_event *event, const imp_process *process);

/* Takes the list of devices at the head of the file. */
void imp_json_take_devices(imp_json *json, const imp_value *list);

#endif
