/* Where long names of a column are cut, so that no two of them look the same. */
#ifndef TKT_REPORT_APART_H
#define TKT_REPORT_APART_H

#include "report/fit.h"

/* For each row that is shown 0, or the byte from which its text in that column is shown again behind
 * its beginning and dots: there it differs from another row's, which begins alike. NULL where no row
 * has such a place, and without memory. The caller frees it with tkt_free(). */
uint32_t *tkt_apart(const tkt_table *table, const tkt_fit *fit, size_t column);

/* Writes the beginning of the text, dots, and what follows from that byte, in `width` columns. */
void tkt_put_apart(tkt_writer *writer, const char *text, uint32_t from, size_t width);

#endif
