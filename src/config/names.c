/* The names that reports and output.traces take. They are the lists of the layers above, of which
 * this one may know nothing but the names. */
#include "config/config.h"
#include "export/formats.h"
#include "report/reports.h"

#include <string.h>

#define REPORT_NAME(name, description) #name,
#define TRACE_NAMES(word, name)        name, name ".gz",

static const char *const reports[] = {TKT_REPORTS(REPORT_NAME)};
static const char *const traces[] = {TKT_FORMATS(TRACE_NAMES) "tensorboard"};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

const char *tkt_config_report_name(size_t index)
{
    return index < COUNT_OF(reports) ? reports[index] : NULL;
}

const char *tkt_config_trace_name(size_t index)
{
    return index < COUNT_OF(traces) ? traces[index] : NULL;
}

static bool is_one_of(const char *name, const char *(*name_at)(size_t index))
{
    for (size_t i = 0; name_at(i); i++) {
        if (strcmp(name_at(i), name) == 0)
            return true;
    }
    return false;
}

bool tkt_config_is_report(const char *name)
{
    return is_one_of(name, tkt_config_report_name);
}

bool tkt_config_is_trace(const char *name)
{
    return is_one_of(name, tkt_config_trace_name);
}
