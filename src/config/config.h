/* What the configuration is told by the rest of the library. */
#ifndef TKT_CONFIG_CONFIG_H
#define TKT_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

/* Hands over the names of the reports and exporters that this library has. The arrays stay the
 * caller's and are kept for good. Call it before any configuration is read, from a constructor; as
 * long as nobody has, every name is accepted. What output.traces takes beyond Takt's own formats is
 * named in full: "name" and "name.gz". */
void tkt_config_names(const char *const *reports, size_t report_count,
                      const char *const *exporters, size_t exporter_count);

/* Whether a configuration may use that name. Reports that belong to Takt but are not in this
 * library may be asked for: one file serves several versions. */
bool tkt_config_is_report(const char *name);
bool tkt_config_is_trace(const char *name);

/* Whether this library has a report of that name. */
bool tkt_config_has_report(const char *name);

/* The names that may be used, each once: index counts from 0, NULL is past the end. */
const char *tkt_config_report_name(size_t index);
const char *tkt_config_trace_name(size_t index);

#endif
