/* Any bytes as a file of torch.profiler's. They are refused with one line that says why, or become
 * a trace that can be walked, folded, reported and written - which then reads as the same. */
#include "import/json.h"
#include "support/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    takt_trace *trace = NULL;
    takt_error error = {0};
    tkt_input input;
    bool is_takt = size % 2;
    takt_status status = tkt_input_borrow(&input, bytes, size, "fuzz", &error);
    if (status == TAKT_OK) {
        status = imp_json_read(&input, &is_takt, &trace);
        tkt_input_close(&input);
    }
    if (status == TAKT_OK && is_takt)
        return 0; /* to be read again */
    judge_opened(status, trace, &error, size);
    return 0;
}
