/* Any bytes as a trace file. They are refused with one line that says why, or become a trace that
 * can be walked, folded, reported and written again - which then reads as the same. */
#include "support/judge.h"
#include "trace/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    takt_trace *trace = NULL;
    takt_error error = {0};
    takt_status status = tkt_trace_read(bytes, size, "fuzz", &trace, &error);
    judge_opened(status, trace, &error, size);
    return 0;
}
