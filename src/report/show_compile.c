/* The compile report: phases of compilations by unit, and the loading of device code. */
#include "report/show.h"

#include "cuda/kinds.h"
#include "summary/compile.h"

enum {
    UNIT,
    PHASE,
    SELF,
    SELF_SHARE,
    TOTAL,
    COUNT,
    LONGEST,
    COLUMNS
};

static const tkt_column columns[COLUMNS] = {
    [UNIT] = {"Unit", "unit", TKT_CELL_TEXT, 0, true, 1},
    [PHASE] = {"Phase", "phase", TKT_CELL_TEXT, 0, true, 1},
    [SELF] = {"Self", "self_ns", TKT_CELL_TIME, 0, false, 1},
    [SELF_SHARE] = {"Self %", "self_percent", TKT_CELL_SHARE, 1, false, 1},
    [TOTAL] = {"Total", "total_ns", TKT_CELL_TIME, 2, false, 1},
    [COUNT] = {"Count", "count", TKT_CELL_COUNT, 3, false, 1},
    [LONGEST] = {"Max", "max_ns", TKT_CELL_TIME, 4, false, 1},
};

static bool add_phases(tkt_document *document, const tkt_compiles *compiles)
{
    size_t count = compiles->phases.count;
    tkt_table *table = tkt_document_add_table(document, "compile", columns, COLUMNS, count);
    if (!table)
        return false;
    table->weight = table->sort = SELF;
    table->default_rows = 50;
    table->is_hidden_empty = true;
    for (size_t i = 0; i < count; i++) {
        const tkt_compile_phase *phase = &compiles->phases.items[i];
        tkt_cell *row = tkt_table_add_row(table);
        row[UNIT].text = phase->unit;
        row[PHASE].text = tkt_document_copy(document, phase->phase, phase->phase_size);
        row[SELF].u = phase->self_ns;
        row[SELF_SHARE].d = tkt_share(phase->self_ns, compiles->self_ns);
        row[TOTAL].u = phase->total_ns;
        row[COUNT].u = phase->count;
        row[LONGEST].u = phase->max_ns;
    }
    return true;
}

/* ---- Loading --------------------------------------------------------------------------------- */

enum {
    WHAT,
    REPORTED_BY,
    TIME,
    TIMES,
    MOST,
    LOADING_COLUMNS
};

static const tkt_column loading_columns[LOADING_COLUMNS] = {
    [WHAT] = {"Loading", "loading", TKT_CELL_TEXT, 0, true, 1},
    [REPORTED_BY] = {"Source", "source", TKT_CELL_TEXT, 1, true, 1},
    [TIME] = {"Total", "total_ns", TKT_CELL_TIME, 0, false, 1},
    [TIMES] = {"Count", "count", TKT_CELL_COUNT, 2, false, 1},
    [MOST] = {"Max", "max_ns", TKT_CELL_TIME, 3, false, 1},
};

static bool add_loadings(tkt_document *document, const tkt_compiles *compiles)
{
    size_t count = compiles->loadings.count;
    tkt_table *table =
        tkt_document_add_table(document, "loading", loading_columns, LOADING_COLUMNS, count);
    if (!table)
        return false;
    table->heading = "Loading of device code, and compiling by the driver:";
    table->is_hidden_empty = true;
    table->weight = table->sort = TIME;
    for (size_t i = 0; i < count; i++) {
        const tkt_loading *loading = &compiles->loadings.items[i];
        tkt_cell *row = tkt_table_add_row(table);
        row[WHAT].text = loading->call ? loading->call : tkt_overhead_name(loading->kind);
        row[REPORTED_BY].text = loading->call ? "call" : "CUPTI";
        row[TIME].u = loading->total_ns;
        row[TIMES].u = loading->count;
        row[MOST].u = loading->max_ns;
    }
    return true;
}

takt_status tkt_show_compile(tkt_document *document, const takt_report_options *options)
{
    if (document->sought) {
        TKT_SEEK(document, columns);
        return TKT_SEEK(document, loading_columns);
    }
    (void)options;
    tkt_compiles compiles = {.self_ns = 0};
    document->nothing = "No compilation of device code";
    takt_status status = tkt_compiles_of(document->trace, &compiles);
    if (status == TAKT_OK &&
        (!add_phases(document, &compiles) || !add_loadings(document, &compiles)))
        status = TAKT_NO_MEMORY;
    if (status == TAKT_OK && compiles.phases.count)
        tkt_document_add_note(document, "Self: without the phases within. \"compilation\" is the "
                                        "whole; its self time is in no phase.");
    if (status == TAKT_OK && compiles.loadings.count)
        tkt_document_add_note(document, "Calls contain what CUPTI reports of them.");
    tkt_compiles_fini(&compiles);
    return status;
}
