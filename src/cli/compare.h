/* Two traces side by side, A the base and B the new one: what `takt diff` prints and what
 * `takt check` judges. */
#ifndef TAKT_CLI_COMPARE_H
#define TAKT_CLI_COMPARE_H

#include "cli/cli.h"
#include "cli/noise.h"

enum {
    CLI_A,
    CLI_B,
    CLI_BOTH
};

/* ---- Rows (compare_rows.c) ---- */

typedef enum cli_row_kind {
    CLI_ROW_STEP,
    CLI_ROW_SCOPE,
    CLI_ROW_CALL, /* into a device's library */
    CLI_ROW_TASK, /* a span of a track of its own, whose times overlap others' */
    CLI_ROW_ACTIVITY
} cli_row_kind;

const char *cli_row_kind_name(cli_row_kind kind);

typedef enum cli_verdict {
    CLI_SAME,    /* what difference there may be is below the limit */
    CLI_NOISE,   /* nothing is proved: too much noise for so small a difference */
    CLI_UNKNOWN, /* too few calls to tell a difference from noise, or no single ones are known */
    CLI_FASTER,
    CLI_SLOWER,
    CLI_TAIL_FASTER, /* on average, for its slowest calls alone */
    CLI_TAIL_SLOWER,
    CLI_FEWER_CALLS, /* each takes as long as before */
    CLI_MORE_CALLS,
    CLI_NEW,
    CLI_GONE
} cli_verdict;

const char *cli_verdict_name(cli_verdict verdict);

/* What one trace says of a row. */
typedef struct cli_part {
    uint64_t    calls;
    double      total_ns; /* of a recursive scope: of outermost calls */
    double      self_ns;  /* the total without the scopes inside */
    double      mean_ns;  /* of a call; NaN without calls, as is the median */
    double      median_ns; /* NaN where single calls are not known, too */
    cli_samples samples;  /* of whole calls: begun and ended within the recording */
} cli_part;

typedef struct cli_row {
    char        *name; /* with --by-path: "outer > inner" */
    size_t       leaf; /* where in it the last name begins */
    cli_row_kind kind;
    uint32_t     above; /* the row of the calling scope; CLI_NO_ROW: none, or by name */
    cli_part     parts[CLI_BOTH];
    cli_noise    noise;
    double       base_ns;   /* A's median call; without single calls, the mean one; NaN: none */
    double       change_ns; /* the shift; without single calls, B's mean less A's; NaN: none */
    double       self_change_ns; /* B's self time less A's, as the comparison has totals */
    cli_verdict  verdict;
} cli_row;

#define CLI_NO_ROW UINT32_MAX

typedef struct cli_rows {
    cli_row  *items;
    size_t    count;
    size_t    capacity;
    uint32_t *slots; /* a hash table of numbers of rows + 1 */
    size_t    slot_count;
} cli_rows;

/* The number of a row, which is added if need be; CLI_NO_ROW: no memory. */
uint32_t cli_rows_find(cli_rows *rows, cli_row_kind kind, uint32_t above, const char *name);
void cli_rows_free(cli_rows *rows);

/* ---- One trace (compare_side.c) ---- */

/* What a trace is, kept beyond it. */
typedef struct cli_side {
    const char *path;
    char       *run;
    char       *backend;
    char       *devices; /* "cuda:0 NAME, cuda:1 NAME", "none" */
    char       *losses;  /* "none", "12 dropped, 3 cut" */
    takt_facts  facts;   /* without the strings */
    uint64_t    losses_in_all;
} cli_side;

bool cli_side_of(const char *path, const takt_trace *trace, cli_side *out);
void cli_side_free(cli_side *side);

/* ---- All of it (compare.c) ---- */

typedef struct cli_compare_options {
    double limit;       /* of 1: smaller differences are none */
    double absolute_ns; /* of a call */
    bool   all;         /* calls into devices' libraries are rows of their own */
    bool   by_path;
} cli_compare_options;

/* The options that say so, and what takes them: anything but CLI_OK ends the verb. */
enum {
    CLI_COMPARE_LIMIT,
    CLI_COMPARE_ABSOLUTE,
    CLI_COMPARE_ALL,
    CLI_COMPARE_BY_PATH,
    CLI_COMPARE_COUNT
};

extern const cli_option cli_compare_option_list[CLI_COMPARE_COUNT];

int cli_compare_take(cli_compare_options *options, const cli_syntax *syntax, int option,
                     const char *value);

typedef struct cli_comparison {
    cli_compare_options options;
    cli_side sides[CLI_BOTH];
    cli_rows rows;
    bool     is_per_step; /* totals are: the numbers of steps differ */
    double   scale[CLI_BOTH]; /* of totals: 1, or one by the number of steps */
    size_t   tests;       /* rows whose noise was tested */
} cli_comparison;

/* Reads both traces and compares them; what fails is told. The caller frees, whatever it returns:
 * CLI_OK or CLI_FAILED. */
int cli_compare(const char *const paths[CLI_BOTH], const cli_compare_options *options,
                cli_comparison *out);
void cli_comparison_free(cli_comparison *comparison);

/* Whether single calls are known on both sides. */
bool cli_row_has_samples(const cli_row *row);

/* Whether a change is above both limits, the relative one against `base`. */
bool cli_is_above_limits(const cli_compare_options *options, double change, double base);

/* Why the traces cannot be compared fairly (compare_side.c). */
typedef struct cli_obstacles {
    char   texts[16][256];
    size_t count;
} cli_obstacles;

void cli_obstacles_of(const cli_comparison *comparison, cli_obstacles *out);

/* ---- Parts of it ---- */

/* Adds what a trace says to the rows: its steps, and its spans and activities (compare_trace.c) or,
 * where it has none, its tables (compare_folded.c). TAKT_NO_MEMORY. */
takt_status cli_compare_steps(cli_comparison *comparison, int side, const takt_trace *trace);
takt_status cli_compare_spans(cli_comparison *comparison, int side, const takt_trace *trace);
takt_status cli_compare_folded(cli_comparison *comparison, int side, const takt_trace *trace);

/* Noise and verdicts of all rows (verdict.c). TAKT_NO_MEMORY. */
takt_status cli_compare_judge(cli_comparison *comparison);

#endif
