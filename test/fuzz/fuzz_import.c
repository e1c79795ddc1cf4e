/* Any bytes as a file of torch.profiler's. They are refused with one line that says why, or become
 * a trace that can be walked, folded, reported and written - which then reads as the same. */
#include "import/json.h"
#include "support/judge.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    takt_trace *trace = NULL;
    takt_error error = {0};
    tkt_input input;
    takt_status status = tkt_input_borrow(&input, bytes, size, "fuzz", &error);
    if (status == TAKT_OK) {
        status = imp_json_read(&input, &trace);
        tkt_input_close(&input);
    }
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
