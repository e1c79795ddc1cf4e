/* Comparing two sides, A (the base) and B (the new version): `takt diff` prints the comparison,
 * `takt check` judges it. A side is one trace, or several runs of the same program. */
#ifndef TAKT_CLI_COMPARE_H
#define TAKT_CLI_COMPARE_H

#include "cli/cli.h"
#include "report/table.h"
#include "trace/model.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ======== Noise ======== */

/* Tests whether two sets of durations differ by more than noise. For single calls: a rank test,
 * which assumes nothing about the distribution, and a test of the means for changes that ranks
 * miss. For runs: permutation tests, which are exact for few runs. */

/* Durations in ns, below CLI_LONGEST_NS. The statistical functions need them sorted. */
typedef struct cli_samples {
    uint64_t *items;
    size_t    count;
    size_t    capacity;
} cli_samples;

#define CLI_LONGEST_NS (UINT64_MAX >> 4)

/* The significance level of every test and confidence band: 5 %, two-sided. */
#define CLI_ALPHA 0.05

/* The result of one run, such as its median call, and the time when the run began (0: unknown). */
typedef struct cli_value {
    double   ns;
    uint64_t begin_ns;
} cli_value;

typedef struct cli_values {
    cli_value *items;
    size_t     count;
    size_t     capacity;
} cli_values;

/* By how much B's calls are longer than A's. A field is NaN if there are too few samples for it. */
typedef struct cli_noise {
    double shift_ns;
    double low_ns; /* 95 % confidence interval of the shift */
    double high_ns;
    double p; /* two-sided; cli_compare_judge() adjusts it for the number of rows */
    double least_p; /* that so few runs can have; 0: no limit */
    double own_p;   /* before it was adjusted */
} cli_noise;

#define CLI_NO_NOISE ((cli_noise){NAN, NAN, NAN, NAN, 0, NAN})

/* Adds a duration; one above the limit counts as CLI_LONGEST_NS. False: no memory. */
bool cli_samples_add(cli_samples *samples, uint64_t ns);
void cli_samples_free(cli_samples *samples);

/* Sorts in linear time. False: no memory. */
bool cli_samples_sort(cli_samples *samples);

/* Need sorted samples. NaN if there are none. */
double cli_samples_median(const cli_samples *samples);
double cli_samples_mean(const cli_samples *samples);

/* By how much a typical call is longer: the Hodges-Lehmann shift, the median of b - a over all
 * pairs. Both sides must be sorted. Takes O(n + m) time per bit of the largest difference.
 * Sources: Mann and Whitney 1947 for U and p: exact up to 24 samples of both sides together, given
 * the ties; beyond that the normal approximation with corrections for ties and continuity. Hodges
 * and Lehmann 1963 for the shift. Hollander and Wolfe, Nonparametric Statistical Methods, section
 * 4.3, for its interval. */
cli_noise cli_noise_of(const cli_samples *a, const cli_samples *b);

/* By how much the mean call is longer, with Welch's test (1947). Interval and p need 30 samples on
 * each side. */
cli_noise cli_noise_of_means(const cli_samples *a, const cli_samples *b);

/* ---- Runs (noise_runs.c) ---- */

/* With fewer runs on a side, Takt compares calls and not runs. */
#define CLI_LEAST_RUNS 3

/* The number of runs per side that Takt recommends. Four can prove a change; with five, one stray
 * run does not hide it. */
#define CLI_WANTED_RUNS 5

/* True if this many runs can prove a change. Each side needs CLI_LEAST_RUNS, and there must be more
 * than 2 / CLI_ALPHA ways to deal the runs to two sides. */
bool cli_runs_suffice(size_t a, size_t b);

/* Adds a value. False: no memory. */
bool cli_values_add(cli_values *values, cli_value value);
void cli_values_free(cli_values *values);

/* The mean without the smallest and the largest fifth: with five runs, one stray run has no effect.
 * NaN if there are no values. */
double cli_values_trimmed_mean(const cli_values *values);

/* True if the runs alternated evenly enough to compare neighbours in time: at least CLI_LEAST_PAIRS
 * per side, no two begins at the same time, and two of each side in each group of four successive
 * runs. The last group has up to seven runs and as many of A as of B. */
#define CLI_LEAST_PAIRS 6
bool cli_values_take_turns(const cli_values *a, const cli_values *b);

/* True if all runs of one side began before those of the other. */
bool cli_values_are_apart(const cli_values *a, const cli_values *b);

/* By how much B's runs differ from A's: the difference of the trimmed means, its p from a
 * permutation test, and the interval of all shifts that this test does not reject. If the runs
 * alternated, the test compares neighbours in time and permutes only within such groups. False: no
 * memory.
 * Sources: Pitman 1937 (permutation tests); Tukey and McLaughlin 1963 (trimmed means); Box, Hunter
 * and Hunter, Statistics for Experimenters, chapters 3 and 4 (blocks); Dwass 1957 (a random sample
 * of permutations if there are too many). */
bool cli_noise_of_runs(const cli_values *a, const cli_values *b, cli_noise *out);

/* ---- Many tests ---- */

/* Adjusts p values for the number of tests (Holm 1979). If nothing differs, the probability that
 * any of them falls below CLI_ALPHA stays at CLI_ALPHA. NaN entries are no tests and stay. Sorts
 * the array of pointers. */
void cli_holm(double **p, size_t count);

/* ======== Comparing ======== */

enum {
    CLI_A,
    CLI_B,
    CLI_BOTH
};

/* ---- Rows (compare_rows.c) ---- */

typedef enum cli_row_kind {
    CLI_ROW_STEP,
    CLI_ROW_SCOPE,
    CLI_ROW_CALL, /* a call into a device's library */
    CLI_ROW_TASK, /* a span on an async track, where spans may overlap */
    CLI_ROW_ACTIVITY,
    CLI_ROW_CUDA, /* device time of a scope: the activities that its calls launched */
    CLI_ROW_RUN   /* the whole recording, if it has no steps */
} cli_row_kind;

const char *cli_row_kind_name(cli_row_kind kind);

typedef enum cli_verdict {
    CLI_SAME,    /* no band, of the typical and the mean call, reaches beyond the limits */
    CLI_NOISE,   /* no proof: the noise is too large for this difference */
    CLI_UNKNOWN, /* too few calls or runs, or unequal ones, to separate a difference from noise */
    CLI_FASTER,  /* the typical call is faster, the mean call is not slower */
    CLI_SLOWER,
    CLI_TAIL_FASTER, /* only the mean call, because of the slowest calls */
    CLI_TAIL_SLOWER,
    CLI_FASTER_TAIL_SLOWER, /* the typical call is faster, but the mean call is slower */
    CLI_SLOWER_TAIL_FASTER,
    CLI_FEWER_CALLS, /* each call takes as long as before */
    CLI_MORE_CALLS,
    CLI_NEW,
    CLI_GONE
} cli_verdict;

const char *cli_verdict_name(cli_verdict verdict);

/* True if the typical or the mean call became slower. */
bool cli_is_slower(cli_verdict verdict);

/* One side of a row. */
typedef struct cli_part {
    uint64_t    calls;
    double      total_ns; /* in a recursive scope only outermost calls count */
    double      self_ns;  /* total minus the scopes inside */
    double      mean_ns;  /* per call; mean and median are NaN without calls */
    double      median_ns; /* also NaN if single calls are unknown */
    double      whole_ns; /* of whole calls that are known by their sum, recursive ones included */
    uint64_t    whole_calls;
    cli_samples samples;  /* calls that began and ended within the recording */
    cli_values  means;    /* if runs are compared: the mean call of each run that has calls, */
    cli_values  medians;  /* and the median call of each run that has single calls */
    uint64_t    noted_calls; /* state before the current run, as are the next four */
    double      noted_ns;    /* the same for total_ns */
    double      noted_whole_ns;
    uint64_t    noted_whole_calls;
    size_t      noted_samples;
} cli_part;

typedef struct cli_row {
    char        *name; /* with --by-path: "outer > inner" */
    size_t       leaf; /* offset of the last name in `name` */
    cli_row_kind kind;
    uint32_t     above; /* row of the calling scope; CLI_NO_ROW: none, or rows are by name */
    cli_part     parts[CLI_BOTH];
    bool         is_wait;    /* a scope: tkt_site_waits() on one of the sides */
    bool         is_primary; /* the comparison is about this row; others show where a change comes
                              * from */
    cli_noise    noise;      /* for the typical call; without single calls, for the mean call */
    cli_noise    mean_noise; /* for the mean call, and so for the sum, which users wait for */
    double       base_ns;   /* cli_row_call_ns() of A */
    double       change_ns; /* the shift; if unknown, B's mean minus A's; NaN: none */
    double       mean_change_ns;
    double       self_change_ns; /* B's self time minus A's, scaled like totals */
    cli_verdict  verdict;
} cli_row;

#define CLI_NO_ROW UINT32_MAX

typedef struct cli_rows {
    cli_row  *items;
    size_t    count;
    size_t    capacity;
    uint32_t *slots; /* a hash table; index of a row + 1, 0: free */
    size_t    slot_count;
} cli_rows;

/* Returns the index of a row and adds it if it is missing. CLI_NO_ROW: no memory. */
uint32_t cli_rows_find(cli_rows *rows, cli_row_kind kind, uint32_t above, const char *name);
void cli_rows_free(cli_rows *rows);

/* ---- Which traces (compare.c) ---- */

/* The traces and folders on the command line. */
typedef struct cli_operands {
    const char **items; /* those of A, then those of B; as large as argv */
    size_t       count;
    bool         has_to;
    size_t       first_of_b; /* with --to: the index of B's first item */
} cli_operands;

/* Handles --to: `path` and all later operands belong to B. Returns CLI_OK, or CLI_USAGE after
 * reporting the error. */
int cli_operands_to(cli_operands *operands, const cli_syntax *syntax, const char *path);

/* Lists a side's traces, each of them a run. A folder stands for its traces in order of name.
 * Returns CLI_OK, or CLI_FAILED after reporting the error. The caller frees `out` in both cases. */
int cli_files_of(const cli_operands *operands, int side, cli_files *out);

/* ---- One side (compare.c) ---- */

typedef enum cli_fact_kind {
    CLI_FACT_FILE,
    CLI_FACT_RUNS,
    CLI_FACT_RUN,
    CLI_FACT_MODE,
    CLI_FACT_BACKEND,
    CLI_FACT_DEVICES,
    CLI_FACT_STEPS,
    CLI_FACT_WALL,
    CLI_FACT_LOSSES,
    CLI_FACT_PARTIAL,
    CLI_FACTS
} cli_fact_kind;

/* Ranks of a side's traces. */
typedef enum cli_rank_kind {
    CLI_NO_RANKS,
    CLI_ONE_RANK,
    CLI_MANY_RANKS
} cli_rank_kind;

/* A recorded step of a run, and the listed steps of a run. */
typedef struct cli_step {
    uint64_t number, ns;
} cli_step;

typedef struct cli_run_steps {
    TKT_ARRAY_OF(cli_step) steps;
    uint64_t first, last; /* numbers */
    uint64_t begin_ns;    /* of the run */
} cli_run_steps;

/* Facts about a side's traces, which are released after counting. */
typedef struct cli_side {
    char      *label; /* "base.pftrace", "runs/base", "1.pftrace and 2 more" */
    cli_files  files;
    size_t     runs;    /* number of runs read so far */
    char      *run;     /* the first run's, as are the next two */
    char      *backend;
    char      *devices; /* "cuda:0 NAME, cuda:1 NAME", "none" */
    bool       has_unknown_losses; /* of one of the runs */
    char      *losses;  /* "none", "unknown", "12 dropped, 3 cut" */
    uint64_t   losses_in_all;
    uint64_t   lost_events; /* of these */
    uint64_t   lost[TAKT_LOSS_COUNT]; /* over all runs */
    uint64_t   summed_steps; /* recorded steps that the traces do not list, but whose sum is known, */
    uint64_t   unseen_steps; /* and those of which nothing is known */
    TKT_ARRAY_OF(cli_run_steps) steps; /* of each run whose steps are listed */
    takt_facts facts;   /* strings unset; steps: sum of all runs; spans: only if all runs have
                         * them */
    double     wall_ns; /* over all runs */
    cli_values lengths; /* of each run: its mean step, or without steps its wall time */
    takt_trace *trace;  /* the only one, if it stays open; otherwise NULL */
    TKT_ARRAY_OF(takt_facts) recordings; /* of the runs read so far: only process and cycle */
    uint32_t twin;      /* process id of two runs that are cycles of one process; 0: none */
    cli_rank_kind ranks;
    uint32_t   rank;    /* the first run's */
    unsigned   varies;  /* bits 1 << CLI_FACT_...: facts in which the runs disagree */
} cli_side;

/* Adds the facts of one more run. False: no memory. */
bool cli_side_add(cli_side *side, const takt_trace *trace);
void cli_side_free(cli_side *side);

/* ---- All of it (compare.c) ---- */

typedef struct cli_compare_options {
    double limit;       /* as a fraction; smaller differences count as none */
    double absolute_ns; /* the same per call, in ns */
    bool   all;         /* rows for calls into device libraries */
    bool   by_path;
    bool   keeps_trace; /* the trace of a side that has only one stays open */
    bool   has_rank; /* of the traces in folders and lists, take those of this rank */
    uint32_t rank;
    const char **names; /* of the rows to compare; none: steps, or else the whole recording */
    size_t name_count;
} cli_compare_options;

/* Options of a comparison, and a function that handles them. The verb ends if its result is not
 * CLI_OK. */
enum {
    CLI_COMPARE_LIMIT,
    CLI_COMPARE_ABSOLUTE,
    CLI_COMPARE_ALL,
    CLI_COMPARE_BY_PATH,
    CLI_COMPARE_RANK,
    CLI_COMPARE_TO, /* for cli_operands_to() */
    CLI_COMPARE_COUNT
};

extern const cli_option cli_compare_option_list[CLI_COMPARE_COUNT];

int cli_compare_take(cli_compare_options *options, const cli_syntax *syntax, int option,
                     const char *value);

/* NaN without a base. */
static inline double cli_percent(double change, double base)
{
    return base > 0 ? 100 * change / base : NAN;
}

/* Parses "5%" as 0.05. False if it is not a percentage. */
bool cli_parse_percent(const char *text, double *out);

/* Which steps are compared. */
typedef struct cli_common_steps {
    uint64_t first, last;   /* numbers, of all that both sides have if not `are_chosen` */
    bool     are_chosen;    /* some recorded steps are left out, since not all runs have them */
    bool     are_unequal;   /* the sides recorded so different steps that means would differ */
    uint64_t firsts[CLI_BOTH], lasts[CLI_BOTH]; /* of the recorded ones; unset if a run's steps are
                                                 * not listed */
} cli_common_steps;

typedef struct cli_comparison {
    cli_compare_options options;
    cli_side sides[CLI_BOTH];
    cli_rows rows;
    bool     is_by_run;   /* runs are compared and not calls, because there are enough of them */
    bool     is_by_turns; /* the runs alternated: neighbours in time are compared */
    bool     is_apart;    /* all runs of one side began before those of the other */
    cli_common_steps steps;
    bool     has_changed; /* a primary row changed; p values of other rows are then not adjusted */
    bool     is_per_step; /* totals are per step, as both sides have steps; otherwise per run */
    double   scale[CLI_BOTH]; /* for totals: 1 / runs or 1 / steps */
    size_t   tests;       /* number of rows that are not primary and were tested */
} cli_comparison;

/* Reads all traces and compares the sides. Returns CLI_OK, or CLI_FAILED after reporting the error.
 * The caller frees `out` in both cases. */
int cli_compare(const cli_operands *operands, const cli_compare_options *options,
                cli_comparison *out);
void cli_comparison_free(cli_comparison *comparison);

/* Formats advice such as "A has 1 run and B 1: record 5 of each, or 4 at least". Returns `out`. */
const char *cli_runs_advice(const cli_comparison *comparison, char *out, size_t size);

/* True if both sides have single calls. When runs are compared, every run with calls must have
 * them. */
bool cli_row_has_samples(const cli_row *row);

/* The typical call of a side: the median. The mean where a side with calls has no median, as one
 * does not compare the two; NaN: no calls. */
double cli_row_call_ns(const cli_row *row, int side);

/* What makes of a row's total that of a step or run. Steps that a trace does not list have no share
 * in the row of steps. */
static inline double cli_row_scale(const cli_comparison *comparison, const cli_row *row, int side)
{
    bool is_step = row->kind == CLI_ROW_STEP && comparison->is_per_step && row->parts[side].calls;
    return is_step ? 1 / (double)row->parts[side].calls : comparison->scale[side];
}

/* True if a change exceeds the absolute limit and, relative to `base`, the relative limit. */
bool cli_is_above_limits(const cli_compare_options *options, double change, double base);

/* True if a band excludes a change above the limits. */
bool cli_band_is_within(const cli_compare_options *options, const cli_noise *noise, double base);

/* ---- Differences (compare.c; compare_obstacles.c) ---- */

/* A fact about both sides, for people and for JSON. */
typedef struct cli_fact {
    const char *name;
    const char *texts[CLI_BOTH];    /* point into the sides or to `own` */
    char        own[CLI_BOTH][64];
    char        data[CLI_BOTH][32]; /* a JSON number or boolean; "": use the text */
    bool        differs;            /* although it should be equal */
} cli_fact;

/* Fills `out`, which points into itself: do not move it. */
void cli_facts_of(const cli_comparison *comparison, cli_fact out[CLI_FACTS]);

/* Why a comparison of the traces would be unfair. */
typedef struct cli_obstacle {
    int  fact; /* the fact that causes it; CLI_FACTS: none of them */
    char text[256];
} cli_obstacle;

typedef struct cli_obstacles {
    cli_obstacle items[24]; /* further ones are dropped */
    size_t       count;
} cli_obstacles;

/* Lists them. `allow_different`: only those that nobody may allow: steps of which nothing is
 * known. */
void cli_obstacles_of(const cli_comparison *comparison, bool allow_different, cli_obstacles *out);

/* Lists what a reader should know besides (compare_obstacles.c; compare_steps.c). */
void cli_cautions_of(const cli_comparison *comparison, cli_obstacles *out);
void cli_steps_caution(const cli_comparison *comparison, cli_obstacles *out);

void cli_obstacles_add(cli_obstacles *obstacles, int fact, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Steps of a comparison ---- */

/* True if `name` is the row's name. With --by-path the last name of the path also matches. */
bool cli_row_has_name(const cli_row *row, const char *name);

/* Names of devices whose activities are counted begin with this. Marked loops of the host are
 * scopes already; their device names are up to the program. */
#define CLI_CUDA "cuda:"

/* Add a trace to the rows: the whole recording (compare_count.c, as are the last two); its steps
 * (compare_steps.c); its spans and activities; or, for a trace without spans, its totals. Return
 * TAKT_OK or TAKT_NO_MEMORY. */
takt_status cli_compare_whole(cli_comparison *comparison, int side, const takt_trace *trace);
takt_status cli_compare_steps(cli_comparison *comparison, int side, const takt_trace *trace);
takt_status cli_compare_spans(cli_comparison *comparison, int side, const takt_trace *trace);
takt_status cli_compare_folded(cli_comparison *comparison, int side, const takt_trace *trace);

/* After reading all runs: choose the steps to compare, and add their durations to the row of steps
 * (compare_steps.c). False: no memory. */
void cli_steps_choose(cli_comparison *comparison);
bool cli_steps_add(cli_comparison *comparison);
void cli_steps_free(cli_side *side);

/* True if the row's calls are those of other steps in A than in B. */
bool cli_steps_spoil_means(const cli_comparison *comparison, const cli_row *row);

/* Keeps a run's mean and median call, and drops its single calls (compare_rows.c). False: no
 * memory. */
bool cli_part_keep_run(cli_part *part, uint64_t begin_ns);

/* Call after adding a run. When runs are compared, keeps the run's median and mean calls and drops
 * its single calls (compare_rows.c). Returns TAKT_OK or TAKT_NO_MEMORY. */
takt_status cli_compare_end_run(cli_comparison *comparison, int side, const takt_trace *trace);

/* Computes noise and verdict of all rows (compare_rows.c). Returns TAKT_OK or TAKT_NO_MEMORY. */
takt_status cli_compare_judge(cli_comparison *comparison);

/* ======== Printing ======== */

/* True if a side recorded anything (compare_obstacles.c). */
bool cli_has_calls(const cli_comparison *comparison, int side);

/* Sets the document's headline: by how much B is slower, and where (compare_headline.c). */
void cli_compare_headline(const cli_comparison *comparison, tkt_document *document);

/* Adds the notes below the tables (compare_print.c). */
void cli_compare_notes(const cli_comparison *comparison, tkt_document *document);

/* Prints the comparison as tables to a sink, which reports its own failures. Returns the exit
 * status. Reports a sort column that does not exist. */
int cli_compare_print(const cli_comparison *comparison, const takt_report_options *options,
                      const takt_sink *sink, const cli_syntax *syntax);

/* True if the trace lists every recorded step. */
static inline bool cli_steps_are_listed(const takt_trace *trace)
{
    return trace->steps.count >= trace->facts.step_count;
}

/* True if all steps of the run are recorded, listed or not: their sum is that of all steps. */
static inline bool cli_steps_are_summed(const takt_trace *trace)
{
    return trace->facts.step_count == trace->all_steps.stats.count;
}

#endif
