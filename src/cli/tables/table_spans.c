/* What threads and async tracks recorded: spans, their paths and arguments, and call stacks. */
#include "cli/tables/tables.h"

static const table_column span_columns[] = {{"id", "INTEGER PRIMARY KEY"},
                                            {"track", "INTEGER REFERENCES tracks"},
                                            {"name", "TEXT"},
                                            {"category", "TEXT"},
                                            {"file", "TEXT"},
                                            {"line", "INTEGER"},
                                            {"kind", "TEXT"},
                                            {"begin_ns", "INTEGER"},
                                            {"end_ns", "INTEGER"},
                                            {"duration_ns", "INTEGER"},
                                            {"self_ns", "INTEGER"},
                                            {"parent", "INTEGER REFERENCES spans"},
                                            {"depth", "INTEGER"},
                                            {"path", "INTEGER REFERENCES paths"},
                                            {"begun_before", "INTEGER"},
                                            {"unfinished", "INTEGER"},
                                            {"flops", "REAL"},
                                            {"bytes", "REAL"},
                                            {"stack", "INTEGER"},
                                            {"device", "TEXT"},
                                            {"activity_kind", "TEXT"}};

static const char *kind_of(uint32_t flags)
{
    if (flags & TAKT_SPAN_CALL)
        return "call";
    if (flags & TAKT_SPAN_ACTIVITY)
        return "activity";
    return flags & TAKT_SPAN_PHASE ? "phase" : "scope";
}

static void put_work(const table_source *source, size_t track, size_t span, table_row *row)
{
    double flops = 0, bytes = 0;
    size_t stack = takt_trace_span_stack(source->trace, track, span);
    takt_trace_work(source->trace, track, span, &flops, &bytes);
    table_put_known_real(row, flops);
    table_put_known_real(row, bytes);
    table_put_known(row, stack == TAKT_NO_STACK ? 0 : stack + 1);
}

static bool put_span(const table_source *source, size_t track, size_t number, table_row *row)
{
    takt_span_info span;
    size_t at = source->first[track] + number;
    uint32_t path = source->path[at];
    takt_trace_span(source->trace, track, number, &span);
    table_put_span(row, source, track, number);
    table_put_track(row, track);
    table_put_text(row, span.name);
    table_put_known_text(row, span.category);
    table_put_known_text(row, span.file);
    table_put_known(row, span.line);
    table_put_text(row, kind_of(span.flags));
    table_put_times(row, span.begin_ns, span.end_ns);
    table_put_int(row, source->self_ns[at]);
    table_put_span(row, source, track, span.parent);
    table_put_uint(row, path ? source->paths.items[path].depth : 0);
    table_put_known(row, path);
    table_put_uint(row, (span.flags & TAKT_SPAN_BEGUN_BEFORE) != 0);
    table_put_uint(row, (span.flags & TAKT_SPAN_UNFINISHED) != 0);
    put_work(source, track, number, row);
    table_put_known_text(row, span.device);
    table_put_known_text(row, table_activity_kind(span.filter));
    return table_row_end(row);
}

/* Calls `put` for each span. */
static bool for_spans(const table_source *source, table_row *row,
                      bool (*put)(const table_source *source, size_t track, size_t span,
                                  table_row *row))
{
    for (size_t track = 0; track < takt_trace_count(source->trace, TAKT_TRACE_TRACKS); track++)
        for (size_t i = 0; i < source->first[track + 1] - source->first[track]; i++)
            if (!put(source, track, i, row))
                return false;
    return true;
}

static bool fill_spans(const table_source *source, table_row *row)
{
    return for_spans(source, row, put_span);
}

const table table_spans = TABLE_OF("spans", span_columns, fill_spans);

static const table_column path_columns[] = {
    {"id", "INTEGER PRIMARY KEY"}, {"parent", "INTEGER REFERENCES paths"},
    {"depth", "INTEGER"},          {"name", "TEXT"},
    {"category", "TEXT"},          {"file", "TEXT"},
    {"line", "INTEGER"},           {"is_call", "INTEGER"},
    {"is_recursive", "INTEGER"},   {"activity_kind", "TEXT"}};

static bool fill_paths(const table_source *source, table_row *row)
{
    for (size_t i = 1; i < source->paths.count; i++) {
        const table_path *path = &source->paths.items[i];
        table_put_uint(row, i);
        table_put_known(row, path->parent);
        table_put_uint(row, path->depth);
        table_put_text(row, path->name);
        table_put_known_text(row, path->category);
        table_put_known_text(row, path->file);
        table_put_known(row, path->line);
        table_put_uint(row, path->is_call);
        table_put_uint(row, path->is_recursive);
        table_put_known_text(row, table_activity_kind(path->filter));
        if (!table_row_end(row))
            return false;
    }
    return true;
}

const table table_path_list = TABLE_OF("paths", path_columns, fill_paths);

static const table_column arg_columns[] = {{"span", "INTEGER REFERENCES spans"},
                                           {"position", "INTEGER"},
                                           {"key", "TEXT"},
                                           {"kind", "TEXT"},
                                           {"value", ""}};

static void put_value(const takt_arg_info *arg, table_row *row)
{
    static const char *const kinds[] = {
        [TAKT_ARG_INT] = "int",   [TAKT_ARG_UINT] = "uint", [TAKT_ARG_DOUBLE] = "double",
        [TAKT_ARG_BOOL] = "bool", [TAKT_ARG_TEXT] = "text",
    };
    table_put_text(row, kinds[arg->kind]);
    switch (arg->kind) {
    case TAKT_ARG_UINT:
        table_put_uint(row, arg->u);
        break;
    case TAKT_ARG_DOUBLE:
        table_put_real(row, arg->d);
        break;
    case TAKT_ARG_TEXT:
        table_put_text(row, arg->text);
        break;
    default:
        table_put_int(row, arg->i);
    }
}

static bool put_args(const table_source *source, size_t track, size_t span, table_row *row)
{
    takt_arg_info arg;
    size_t count = takt_trace_arg_count(source->trace, track, span);
    for (size_t i = 0; i < count; i++) {
        takt_trace_arg(source->trace, track, span, i, &arg);
        table_put_span(row, source, track, span);
        table_put_uint(row, i + 1);
        table_put_text(row, arg.key);
        put_value(&arg, row);
        if (!table_row_end(row))
            return false;
    }
    return true;
}

static bool fill_args(const table_source *source, table_row *row)
{
    return for_spans(source, row, put_args);
}

const table table_args = TABLE_OF("args", arg_columns, fill_args);

static const table_column frame_columns[] = {
    {"stack", "INTEGER"},  {"position", "INTEGER"}, {"function", "TEXT"}, {"module", "TEXT"},
    {"offset", "INTEGER"}, {"file", "TEXT"},        {"line", "INTEGER"},  {"is_inline", "INTEGER"}};

static bool put_frame(size_t stack, size_t position, const takt_frame_info *frame, table_row *row)
{
    table_put_uint(row, stack + 1);
    table_put_uint(row, position + 1);
    table_put_known_text(row, frame->function);
    table_put_known_text(row, frame->module);
    table_put_uint(row, frame->offset);
    table_put_known_text(row, frame->file);
    table_put_known(row, frame->line);
    table_put_uint(row, frame->is_inline);
    return table_row_end(row);
}

static bool fill_frames(const table_source *source, table_row *row)
{
    takt_frame_info frame;
    for (size_t stack = 0; stack < takt_trace_count(source->trace, TAKT_TRACE_STACKS); stack++)
        for (size_t i = 0; takt_trace_frame(source->trace, stack, i, &frame) == TAKT_OK; i++)
            if (!put_frame(stack, i, &frame, row))
                return false;
    return true;
}

const table table_frames = TABLE_OF("frames", frame_columns, fill_frames);
