/* Where a table's numbers come from and what is missing from them: the last line of every table. */
#ifndef TKT_REPORT_PROVENANCE_H
#define TKT_REPORT_PROVENANCE_H

#include "base/writer.h"

#include <takt/trace.h>

/* What is missing at the end, for people: "INCOMPLETE: the program was killed ...". Empty for a whole
 * trace. Returns out. */
#define TKT_ENDING_SIZE 512
const char *tkt_ending_text(char out[TKT_ENDING_SIZE], const takt_trace *trace);

/* "backend none; clock tsc, ...; dropped 0; ...", one line, broken at a semicolon only where it is
 * longer than `width` (SIZE_MAX: never). Ends with a newline. */
void tkt_put_provenance(tkt_writer *writer, const takt_trace *trace, size_t width);

/* The same as a JSON object. */
void tkt_put_provenance_json(tkt_writer *writer, const takt_trace *trace);

#endif
