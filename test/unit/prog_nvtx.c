/* Emits every kind of range; check_nvtx.sh compares what a tool hears. */
#include "nvtx/nvtx.h"

#include <takt/timer.h>

#include <stdio.h>

static void print_line(takt_log_level level, const char *line, void *user)
{
    (void)user;
    fprintf(stderr, "log %d: %s\n", (int)level, line);
}

static void emit_ranges(void)
{
    uint64_t first = tkt_nvtx_range_start("first", "yellow");
    uint64_t second = tkt_nvtx_range_start("second", "#102030");
    tkt_nvtx_range_end(first);
    tkt_nvtx_range_end(second);
    tkt_nvtx_range_end(tkt_nvtx_range_start(NULL, NULL));
}

static void emit_unknown_colors(void)
{
    tkt_nvtx_range_end(tkt_nvtx_range_start("odd", "octarine"));
    tkt_nvtx_range_end(tkt_nvtx_range_start("odder", "infra-black"));
}

static void emit_timer(void)
{
    TAKT_TIMER("timer", .silent = true, .nvtx = true, .color = "red");
}

int main(void)
{
    takt_set_log(print_line, NULL);
    emit_ranges();
    emit_unknown_colors();
    emit_timer();
    return 0;
}
