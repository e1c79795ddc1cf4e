/* The names of reports and trace formats. They live in layers that this one may not look into, so
 * those hand them over; Takt's own are listed here too, because a file that was written for a
 * version with more reports must stay valid. */
#include "config/config.h"

#include <string.h>

typedef struct name_list {
    const char *const *items; /* NULL: nobody has handed any over */
    size_t count;
} name_list;

static const char *const takt_reports[] = {
    "summary", "scopes", "tree",     "kernels",    "ops",     "launches", "gaps",
    "memory",  "steps",  "timeline", "activities", "devices", "api",
};
static const char *const takt_traces[] = {
    "perfetto",      "perfetto.gz",      "chrome",           "chrome.gz",     "folded",
    "folded.gz",     "folded-device",    "folded-device.gz", "stacks",        "stacks.gz",
    "stacks-device", "stacks-device.gz", "speedscope",       "speedscope.gz", "tensorboard",
};

#define LIST_OF(array) ((name_list){(array), sizeof(array) / sizeof *(array)})

static name_list given_reports;
static name_list given_exporters;

void tkt_config_names(const char *const *reports, size_t report_count, const char *const *exporters,
                      size_t exporter_count)
{
    given_reports = (name_list){reports, report_count};
    given_exporters = (name_list){exporters, exporter_count};
}

static bool contains(name_list list, const char *name)
{
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.items[i], name) == 0)
            return true;
    }
    return false;
}

bool tkt_config_has_report(const char *name)
{
    return !given_reports.items || contains(given_reports, name);
}

bool tkt_config_is_report(const char *name)
{
    return tkt_config_has_report(name) || contains(LIST_OF(takt_reports), name);
}

bool tkt_config_is_trace(const char *name)
{
    return !given_exporters.items || contains(given_exporters, name) ||
           contains(LIST_OF(takt_traces), name);
}

/* Takt's own first, then those handed over that are not among them. */
static const char *name_at(name_list own, name_list given, size_t index)
{
    if (index < own.count)
        return own.items[index];
    index -= own.count;
    for (size_t i = 0; i < given.count; i++) {
        if (!contains(own, given.items[i]) && index-- == 0)
            return given.items[i];
    }
    return NULL;
}

const char *tkt_config_report_name(size_t index)
{
    return name_at(LIST_OF(takt_reports), given_reports, index);
}

const char *tkt_config_trace_name(size_t index)
{
    return name_at(LIST_OF(takt_traces), given_exporters, index);
}
