/* The names that reports and output.traces take. */
#ifndef TKT_CONFIG_CONFIG_H
#define TKT_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

bool tkt_config_is_report(const char *name);
bool tkt_config_is_trace(const char *name);

/* Each name once: index counts from 0, NULL is past the end. */
const char *tkt_config_report_name(size_t index);
const char *tkt_config_trace_name(size_t index);

#endif
