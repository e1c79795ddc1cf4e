#include "summary/frame_text.h"

#include <stdio.h>
#include <string.h>

static const char *without_folders(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *tkt_frame_function(char *out, size_t size, const takt_trace *trace, const tkt_frame *frame)
{
    const char *module = without_folders(tkt_trace_text(trace, frame->module));
    if (frame->function)
        snprintf(out, size, "%s", tkt_trace_text(trace, frame->function));
    else
        snprintf(out, size, "%s+0x%llx", *module ? module : "?", (unsigned long long)frame->offset);
    return out;
}

char *tkt_frame_place(char *out, size_t size, const takt_trace *trace, const tkt_frame *frame)
{
    if (!frame->file)
        return tkt_frame_function(out, size, trace, frame);
    const char *file = without_folders(tkt_trace_text(trace, frame->file));
    int used = snprintf(out, size, "%s(%u): ", file, frame->line);
    if ((size_t)used < size)
        tkt_frame_function(out + used, size - (size_t)used, trace, frame);
    return out;
}
