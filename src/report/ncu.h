/* Commands for Nsight Compute. */
#ifndef TKT_REPORT_NCU_H
#define TKT_REPORT_NCU_H

#include "report/table.h"
#include "summary/named.h"

/* Adds notes that tell how to profile the kernels with the largest totals: a line that says so, and
 * one each that a shell can run. Nothing where no kernel's name is known. */
void tkt_add_ncu_notes(tkt_document *document, const tkt_nameds *kernels);

#endif
