/* takt info FOLDER: one row for each trace. */
#include "cli/cli.h"
#include "cli/info_lists.h"
#include "report/table.h"
#include "trace/model.h"

#include <stdio.h>
#include <string.h>

enum {
    FILE_NAME,
    RUN,
    RANK,
    CYCLE,
    RECORDED,
    LENGTH,
    STEPS,
    SPANS,
    ACTIVITIES,
    LOST,
    STATE,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [FILE_NAME] = {"File", "file", TKT_CELL_TEXT, 0, true, 1},
    [RUN] = {"Run", "name", TKT_CELL_TEXT, 6, true, 1},
    [RANK] = {"Rank", "rank", TKT_CELL_COUNT, 4, false, 1},
    [CYCLE] = {"Cycle", "cycle", TKT_CELL_COUNT, 5, false, 1},
    [RECORDED] = {"Recorded", "recorded", TKT_CELL_TEXT, 7, true, 1},
    [LENGTH] = {"Length", "wall_ns", TKT_CELL_TIME, 1, false, 1},
    [STEPS] = {"Steps", "steps", TKT_CELL_COUNT, 2, false, 1},
    [SPANS] = {"Spans", "spans", TKT_CELL_COUNT, 2, false, 1},
    [ACTIVITIES] = {"Activities", "activities", TKT_CELL_COUNT, 3, false, 1},
    [LOST] = {"Lost", "lost", TKT_CELL_COUNT, 1, false, 1},
    [STATE] = {"State", "state", TKT_CELL_TEXT, 0, true, 1},
};

/* TKT_NO_VALUE: unknown. */
static uint64_t lost_in_all(const takt_trace *trace)
{
    uint64_t lost = 0;
    for (int i = 0; i < TAKT_LOSS_COUNT; i++)
        lost += i == TAKT_LOSS_CUT ? 0 : takt_trace_loss(trace, (takt_loss)i);
    return lost == 0 && tkt_is_unknown(takt_trace_facts(trace)) ? TKT_NO_VALUE : lost;
}

static const char *copy(tkt_document *document, const char *text)
{
    return tkt_document_copy(document, text, strlen(text));
}

static const char *state_of(const takt_facts *facts)
{
    bool is_whole = facts->ending == TAKT_ENDING_WHOLE;
    return is_whole && facts->is_partial ? "partial" : tkt_ending_name(facts);
}

static void add_row(tkt_document *document, const char *path, const takt_trace *trace)
{
    const takt_facts *facts = takt_trace_facts(trace);
    char when[64];
    tkt_cell *row = tkt_table_add_row(&document->tables[0]);
    row[FILE_NAME].text = path;
    row[RUN].text = copy(document, facts->name);
    row[RANK].u = tkt_has_rank(facts) ? facts->rank : TKT_NO_VALUE;
    row[CYCLE].u = facts->cycle;
    row[RECORDED].text = copy(document, cli_begin_text(when, sizeof when, facts));
    row[LENGTH].u = tkt_wall_ns(facts);
    row[STEPS].u = facts->step_count;
    row[SPANS].u = cli_span_count(trace);
    row[ACTIVITIES].u = cli_activity_count(trace);
    row[LOST].u = lost_in_all(trace);
    row[STATE].text = state_of(facts);
}

static int print(tkt_document *document)
{
    cli_show show = {.options = TAKT_REPORT_OPTIONS_INIT};
    takt_sink sink = cli_stdout_sink();

    show.options.rows = -1;
    cli_show_settle(&show);
    takt_status status = tkt_document_print(document, &show.options, &sink);
    return status == TAKT_OK || status == TAKT_IO_ERROR /* cli_finish() reports the reason */
               ? CLI_OK
               : cli_error("%s", takt_status_text(status));
}

int cli_info_rows(const cli_files *files)
{
    tkt_document document;
    int result = CLI_OK;

    tkt_document_init(&document, "info", NULL);
    tkt_table *table = tkt_document_add_table(&document, "files", columns, COLUMNS, files->count);
    for (size_t i = 0; table && i < files->count; i++) {
        takt_trace *trace = cli_open_trace(files->paths[i]);
        if (!trace) {
            result = CLI_FAILED;
            continue;
        }
        add_row(&document, files->paths[i], trace);
        takt_trace_release(trace);
    }
    if (table)
        table->weight = table->sort = TKT_NO_COLUMN;
    int printed = table && table->row_count == 0 ? CLI_OK : print(&document);
    tkt_document_fini(&document);
    return printed > result ? printed : result;
}
