/* Traces side by side, those of A the base and those of B new: what `takt diff` prints and what
 * `takt check` judges. A side is one trace, or several runs of the same program. */
#ifndef TAKT_CLI_COMPARE_H
#define TAKT_CLI_COMPARE_H

#include "cli/cli.h"
#include "report/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ======== Noise ======== */

/* Whether two sets of durations differ by more than chance. Of single calls: ranks, which make no
 * assumption about how durations are distributed, and a test of the means for what ranks miss. Of
 * runs: permutation tests, which are exact for few of them. */

/* Durations in ns, below CLI_LONGEST_NS. The statistics want them sorted. */
typedef struct cli_samples {
    uint64_t *items;
    size_t    count;
    size_t    capacity;
} cli_samples;

#define CLI_LONGEST_NS (UINT64_MAX >> 4)

/* The level of every test and band: 5 %, two-sided. */
#define CLI_ALPHA 0.05

/* What one run said, such as its median call, and when the run began: 0 where that is not known. */
typedef struct cli_value {
    double   ns;
    uint64_t begin_ns;
} cli_value;

typedef struct cli_values {
    cli_value *items;
    size_t     count;
    size_t     capacity;
} cli_values;

/* How much longer B's calls are than A's. NaN stands for what the samples are too few to tell. */
typedef struct cli_noise {
    double shift_ns;
    double low_ns; /* its 95 % confidence interval */
    double high_ns;
    double p; /* two-sided */
} cli_noise;

/* Adds one; longer ones count as CLI_LONGEST_NS. False: no memory. */
bool cli_samples_add(cli_samples *samples, uint64_t ns);
void cli_samples_free(cli_samples *samples);

/* Sorts in time linear in their number. False: no memory. */
bool cli_samples_sort(cli_samples *samples);

/* Of sorted samples; NaN where there are none. */
double cli_samples_median(const cli_samples *samples);
double cli_samples_mean(const cli_samples *samples);

/* How much longer a typical call is: the Hodges-Lehmann shift, the median of all differences b - a.
 * Both sorted. Some O(n + m) times the bits of the largest difference.
 * Sources: Mann and Whitney 1947 (U; exact up to 24 samples in all, with ties conditional on them,
 * beyond by the normal approximation with corrections for ties and continuity), Hodges and Lehmann
 * 1963 (shift), Hollander and Wolfe, Nonparametric Statistical Methods, section 4.3 (its
 * interval). */
cli_noise cli_noise_of(const cli_samples *a, const cli_samples *b);

/* How much longer the mean call is, by Welch's test (1947): interval and p from 30 samples on each
 * side on. */
cli_noise cli_noise_of_means(const cli_samples *a, const cli_samples *b);

/* ---- Runs (noise_runs.c) ---- */

/* Fewer runs of a side are never compared as such. */
#define CLI_LEAST_RUNS 3

/* Runs of each side that are asked for: four can prove a change, and with five one stray run does
 * not hide it. */
#define CLI_WANTED_RUNS 5

/* True if so many runs can prove anything: at least CLI_LEAST_RUNS on each side, and dealing them
 * to the sides anew has more than 2 / CLI_ALPHA outcomes. */
bool cli_runs_suffice(size_t a, size_t b);

/* Adds one. False: no memory. */
bool cli_values_add(cli_values *values, cli_value value);
void cli_values_free(cli_values *values);

/* The mean without the smallest and the largest fifth, so that one stray run of five says nothing.
 * NaN where there are none. */
double cli_values_trimmed_mean(const cli_values *values);

/* True if these runs began by turns, so evenly that neighbours can be compared: as many on each
 * side, CLI_LEAST_PAIRS or more, and two of each among any four that began after each other. */
#define CLI_LEAST_PAIRS 6
bool cli_values_take_turns(const cli_values *a, const cli_values *b);

/* True if all runs of one side began before those of the other. */
bool cli_values_are_apart(const cli_values *a, const cli_values *b);

/* How much B's runs differ from A's: the difference of the trimmed means, p of a permutation test
 * of it, and the interval of all shifts that the test does not refuse. Where the runs took turns,
 * each is held against its neighbours in time, and only they change sides.
 * False: no memory. Sources: Pitman 1937 (permutation tests), Tukey and McLaughlin 1963 (trimmed
 * means), Box, Hunter and Hunter, Statistics for Experimenters, chapters 3 and 4 (blocks), Dwass
 * 1957 (drawing permutations where there are too many). */
bool cli_noise_of_runs(const cli_values *a, const cli_values *b, cli_noise *out);

/* ---- Many tests ---- */

/* Adjusts p values for their number, Holm 1979: the chance that any of them is below CLI_ALPHA
 * where nothing differs stays at CLI_ALPHA. NaNs are no tests, and stay. Sorts the pointers. */
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
    CLI_ROW_CALL, /* into a device's library */
    CLI_ROW_TASK, /* a span of a track of its own, whose times overlap others' */
    CLI_ROW_ACTIVITY,
    CLI_ROW_CUDA, /* what devices did for a scope: the activities that its calls launched */
    CLI_ROW_RUN   /* the whole recording, where it has no steps */
} cli_row_kind;

const char *cli_row_kind_name(cli_row_kind kind);

typedef enum cli_verdict {
    CLI_SAME,    /* what difference there may be is below the limit */
    CLI_NOISE,   /* nothing is proved: too much noise for so small a difference */
    CLI_UNKNOWN, /* too few calls or runs to tell a difference from noise */
    CLI_FASTER,  /* the typical call; the mean one is not slower */
    CLI_SLOWER,
    CLI_TAIL_FASTER, /* the mean call, for its slowest ones: the typical one is as before */
    CLI_TAIL_SLOWER,
    CLI_FASTER_TAIL_SLOWER, /* the typical call is faster, and the mean one slower */
    CLI_SLOWER_TAIL_FASTER,
    CLI_FEWER_CALLS, /* each takes as long as before */
    CLI_MORE_CALLS,
    CLI_NEW,
    CLI_GONE
} cli_verdict;

const char *cli_verdict_name(cli_verdict verdict);

/* True if some call became slower, the typical one or the mean one. */
bool cli_is_slower(cli_verdict verdict);

/* What one side says of a row. */
typedef struct cli_part {
    uint64_t    calls;
    double      total_ns; /* of a recursive scope: of outermost calls */
    double      self_ns;  /* the total without the scopes inside */
    double      mean_ns;  /* of a call; NaN without calls, as is the median */
    double      median_ns; /* NaN where single calls are not known, too */
    cli_samples samples;  /* of whole calls: begun and ended within the recording */
    cli_values  means;    /* where runs are compared: of each that has calls, its mean call, */
    cli_values  medians;  /* and its median one, if it knows single calls */
    uint64_t    noted_calls; /* of runs before that which is being added, as are the next two */
    double      noted_ns;    /* of total_ns */
    size_t      noted_samples;
} cli_part;

typedef struct cli_row {
    char        *name; /* with --by-path: "outer > inner" */
    size_t       leaf; /* where in it the last name begins */
    cli_row_kind kind;
    uint32_t     above; /* the row of the calling scope; CLI_NO_ROW: none, or by name */
    cli_part     parts[CLI_BOTH];
    bool         is_primary; /* it is asked about; others say where its change comes from */
    cli_noise    noise;      /* of the typical call; without single calls, of the mean one */
    cli_noise    mean_noise; /* of the mean call: of the sum, which is what users wait for */
    double       base_ns;   /* A's median call; without single calls, the mean one; NaN: none */
    double       change_ns; /* the shift; where it is not known, B's mean less A's; NaN: none */
    double       mean_change_ns;
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

/* ---- Which traces (compare.c) ---- */

/* What the command line names: traces, and folders of them. */
typedef struct cli_operands {
    const char **items; /* those of A, then those of B; room for all of argv */
    size_t       count;
    bool         has_to;
    size_t       first_of_b; /* if there is --to, where it stood */
} cli_operands;

/* Paths, which the list owns. */
typedef struct cli_files {
    char **paths;
    size_t count;
} cli_files;

/* Takes the value of --to: it and what follows is B's. CLI_OK, or it is told. */
int cli_operands_to(cli_operands *operands, const cli_syntax *syntax, const char *path);

/* The traces of a side, each a run; of a folder, those in it by name. CLI_OK, or it is told. The
 * caller frees, whatever it returns. */
int cli_files_of(const cli_operands *operands, int side, cli_files *out);
void cli_files_free(cli_files *files);

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

/* What the traces of a side are, kept beyond them. */
typedef struct cli_side {
    char      *label; /* "base.pftrace", "runs/base", "1.pftrace and 2 more" */
    cli_files  files;
    size_t     runs;    /* that were read */
    char      *run;     /* of the first one, as are the next two */
    char      *backend;
    char      *devices; /* "cuda:0 NAME, cuda:1 NAME", "none" */
    char      *losses;  /* "none", "12 dropped, 3 cut" */
    uint64_t   losses_in_all;
    uint64_t   lost[TAKT_LOSS_COUNT]; /* of all runs */
    takt_facts facts;   /* without the strings; steps of all runs, spans if all have */
    double     wall_ns; /* of all runs */
    unsigned   varies;  /* bits 1 << CLI_FACT_...: what its runs do not agree in */
} cli_side;

/* Adds what one more run is. False: no memory. */
bool cli_side_add(cli_side *side, const takt_trace *trace);
void cli_side_free(cli_side *side);

/* ---- All of it (compare.c) ---- */

typedef struct cli_compare_options {
    double limit;       /* of 1: smaller differences are none */
    double absolute_ns; /* of a call */
    bool   all;         /* calls into devices' libraries are rows of their own */
    bool   by_path;
    const char **names; /* of rows that are asked about; none: steps, or the whole recording */
    size_t name_count;
} cli_compare_options;

/* The options that say so, and what takes them: anything but CLI_OK ends the verb. */
enum {
    CLI_COMPARE_LIMIT,
    CLI_COMPARE_ABSOLUTE,
    CLI_COMPARE_ALL,
    CLI_COMPARE_BY_PATH,
    CLI_COMPARE_TO, /* for cli_operands_to() */
    CLI_COMPARE_COUNT
};

extern const cli_option cli_compare_option_list[CLI_COMPARE_COUNT];

int cli_compare_take(cli_compare_options *options, const cli_syntax *syntax, int option,
                     const char *value);

/* "5%", as 0.05. False: it is no percentage. */
bool cli_parse_percent(const char *text, double *out);

typedef struct cli_comparison {
    cli_compare_options options;
    cli_side sides[CLI_BOTH];
    cli_rows rows;
    bool     is_by_run;   /* runs are compared, not calls: there are enough of them */
    bool     is_by_turns; /* they began by turns, and neighbours in time are compared */
    bool     is_apart;    /* all runs of one side began before those of the other */
    bool     has_changed; /* a row that is asked about: then the others are not many tests */
    bool     is_per_step; /* totals are: the numbers of steps differ */
    double   scale[CLI_BOTH]; /* of totals: one by the number of runs, or of steps */
    size_t   tests;       /* rows that are not asked about and whose noise was tested */
} cli_comparison;

/* Reads all traces and compares the sides; what fails is told. The caller frees, whatever it
 * returns: CLI_OK or CLI_FAILED. */
int cli_compare(const cli_operands *operands, const cli_compare_options *options,
                cli_comparison *out);
void cli_comparison_free(cli_comparison *comparison);

/* "A has 1 run and B 1: record 5 of each, or 4 at least". Returns `out`. */
const char *cli_runs_advice(const cli_comparison *comparison, char *out, size_t size);

/* Whether single calls are known on both sides; where runs are compared, in all that have any. */
bool cli_row_has_samples(const cli_row *row);

/* Whether a change is above both limits, the relative one against `base`. */
bool cli_is_above_limits(const cli_compare_options *options, double change, double base);

/* ---- What differs (compare.c; compare_print.c: obstacles) ---- */

/* A fact of both sides, as people see it and as JSON has it. */
typedef struct cli_fact {
    const char *name;
    const char *texts[CLI_BOTH];    /* of the side, or in `own` */
    char        own[CLI_BOTH][64];
    char        data[CLI_BOTH][32]; /* a number or truth value of JSON; "": it is the text */
    bool        differs;            /* though it should not */
} cli_fact;

/* `out` must stay where it is. */
void cli_facts_of(const cli_comparison *comparison, cli_fact out[CLI_FACTS]);

/* Why the traces cannot be compared fairly. */
typedef struct cli_obstacle {
    int  fact; /* that it is about; CLI_FACTS: none of them */
    char text[256];
} cli_obstacle;

typedef struct cli_obstacles {
    cli_obstacle items[24]; /* more are not told */
    size_t       count;
} cli_obstacles;

void cli_obstacles_of(const cli_comparison *comparison, cli_obstacles *out);
void cli_obstacles_add(cli_obstacles *obstacles, int fact, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Parts of it ---- */

/* True if somebody asks about this row by `name`: with --by-path its last part will do. */
bool cli_row_has_name(const cli_row *row, const char *name);

/* Adds what a trace says to the rows: the whole recording, its steps, and its spans and activities or, where it has
 * none, its sums (compare_count.c). TAKT_NO_MEMORY. */
takt_status cli_compare_whole(cli_comparison *comparison, int side, const takt_trace *trace);
takt_status cli_compare_steps(cli_comparison *comparison, int side, const takt_trace *trace);
takt_status cli_compare_spans(cli_comparison *comparison, int side, const takt_trace *trace);
takt_status cli_compare_folded(cli_comparison *comparison, int side, const takt_trace *trace);

/* A run was added. Where runs are compared, what it says of a call is kept, and its single calls
 * are let go (compare_rows.c). TAKT_NO_MEMORY. */
takt_status cli_compare_end_run(cli_comparison *comparison, int side, const takt_trace *trace);

/* Noise and verdicts of all rows (compare_rows.c). TAKT_NO_MEMORY. */
takt_status cli_compare_judge(cli_comparison *comparison);

/* ======== Printing ======== */

/* A comparison as tables. */

/* What to say below the tables (compare_print.c). */
void cli_compare_notes(const cli_comparison *comparison, tkt_document *document);

/* Prints the comparison. Returns the exit status; a wrong column to sort by is told. */
int cli_compare_print(const cli_comparison *comparison, const takt_report_options *options,
                      const cli_syntax *syntax);

#endif
