/* What a trace without spans says of the rows of a comparison: the sums of its scopes. Single calls
 * are not known. */
#include "cli/compare.h"

#include "summary/scopes.h"

static bool add_row(cli_comparison *comparison, int side, cli_row_kind kind,
                    const tkt_scope_total *scope, uint64_t total_ns, uint64_t self_ns)
{
    uint32_t row = cli_rows_find(&comparison->rows, kind, CLI_NO_ROW, scope->name);
    if (row == CLI_NO_ROW)
        return false;
    cli_part *part = &comparison->rows.items[row].parts[side];
    part->calls += scope->calls;
    part->total_ns += (double)total_ns;
    part->self_ns += (double)self_ns;
    return true;
}

static bool add_activity(cli_comparison *comparison, int side, const tkt_scope_total *scope)
{
    return add_row(comparison, side, CLI_ROW_ACTIVITY, scope, scope->device_self_ns,
                   scope->device_self_ns);
}

/* A scope that launched something has a second row, of devices. */
static bool add_scope(cli_comparison *comparison, int side, const tkt_scope_total *scope)
{
    bool is_call = scope->kind == TKT_KIND_CALL;
    bool has_launched = !is_call && scope->device_total_ns > 0;
    return add_row(comparison, side, is_call ? CLI_ROW_CALL : CLI_ROW_SCOPE, scope,
                   scope->total_ns, scope->self_ns) &&
           (!has_launched || add_row(comparison, side, CLI_ROW_CUDA, scope,
                                     scope->device_total_ns, scope->device_self_ns));
}

/* The rows of devices, or those of the host. With `all` a scope's calls are not part of it, and
 * only then activities are listed: so it is done twice. */
static takt_status add_rows(cli_comparison *comparison, int side, const takt_trace *trace, bool all,
                            bool devices)
{
    tkt_scopes scopes = {0};
    takt_status status = tkt_scopes_by_name(trace, all, &scopes);
    for (size_t i = 0; i < scopes.count && status == TAKT_OK; i++) {
        const tkt_scope_total *scope = &scopes.items[i];
        if ((scope->kind == TKT_KIND_ACTIVITY) == devices &&
            !(devices ? add_activity : add_scope)(comparison, side, scope))
            status = TAKT_NO_MEMORY;
    }
    tkt_scopes_fini(&scopes);
    return status;
}

takt_status cli_compare_folded(cli_comparison *comparison, int side, const takt_trace *trace)
{
    takt_status status = add_rows(comparison, side, trace, comparison->options.all, false);
    return status == TAKT_OK ? add_rows(comparison, side, trace, true, true) : status;
}
