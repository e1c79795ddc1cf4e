/* What is noted at a span, as one text: "cells=4096, flops=2e+09, result=2". */
#include "cli/html/html.h"

#include <stdlib.h>
#include <string.h>

/* A number as it was: in as few digits as bring the same one back. */
static void put_double(html_bytes *out, double number)
{
    char text[32];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    html_put(out, text, strlen(text));
}

static void put_value(html_bytes *out, const takt_arg_info *arg)
{
    switch (arg->kind) {
    case TAKT_ARG_INT:
        html_print(out, "%lld", (long long)arg->i);
        break;
    case TAKT_ARG_UINT:
        html_print(out, "%llu", (unsigned long long)arg->u);
        break;
    case TAKT_ARG_DOUBLE:
        put_double(out, arg->d);
        break;
    case TAKT_ARG_BOOL:
        html_print(out, "%s", arg->i ? "true" : "false");
        break;
    case TAKT_ARG_TEXT:
        html_put(out, arg->text, strlen(arg->text));
        break;
    }
}

static void put_key(html_bytes *out, const char *key)
{
    if (out->used)
        html_put(out, ", ", 2);
    html_put(out, key, strlen(key));
    html_put(out, "=", 1);
}

static void put_work(html_bytes *out, const char *key, double work)
{
    if (work == 0)
        return;
    put_key(out, key);
    put_double(out, work);
}

/* What a call returned, where it failed. Calls stand in the order of their spans, which are asked
 * for in that order, too. */
static void put_result(const takt_trace *trace, html_args *args, size_t track, size_t span)
{
    takt_call_info call;
    while (takt_trace_call(trace, args->call, &call) == TAKT_OK &&
           (call.track < track || (call.track == track && call.span < span)))
        args->call++;
    if (takt_trace_call(trace, args->call, &call) != TAKT_OK || call.track != track ||
        call.span != span || call.result == 0)
        return;
    put_key(&args->text, "result");
    html_print(&args->text, "%d", call.result);
}

uint32_t html_args_text(html_writer *writer, html_args *args, size_t track, size_t span)
{
    const takt_trace *trace = writer->trace;
    size_t count = takt_trace_arg_count(trace, track, span);
    double flops = 0, bytes = 0;
    takt_arg_info arg;

    args->text.used = 0;
    for (size_t i = 0; i < count && takt_trace_arg(trace, track, span, i, &arg) == TAKT_OK; i++) {
        put_key(&args->text, arg.key);
        put_value(&args->text, &arg);
    }
    takt_trace_work(trace, track, span, &flops, &bytes);
    put_work(&args->text, "flops", flops);
    put_work(&args->text, "bytes", bytes);
    put_result(trace, args, track, span);
    return args->text.used ? html_set_add(&writer->texts, args->text.data, args->text.used) : 0;
}
