/* Any bytes as a trace file. They are refused with one line that says why, or become a trace that
 * can be walked, folded, reported and written again - which then reads as the same. */
#include "support/judge.h"
#include "trace/read.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    takt_trace *trace = NULL;
    takt_error error = {0};
    takt_status status = tkt_trace_read(bytes, size, "fuzz", &trace, &error);
    if (status != TAKT_OK) {
        judge(status == TAKT_BAD_TRACE && !trace && error.message[0]);
        judge(strchr(error.message, '\n') == NULL);
        return 0;
    }
    judge_trace(trace, size);
    judge_settled(trace);
    takt_trace_release(trace);
    return 0;
}
