/* How often `takt check` cries wolf, and how often it misses what was made longer: pairs of sides
 * drawn from recorded runs of the fluid (test/data/fluid) and from known distributions, judged as
 * the command judges them. Seeds are fixed.
 *
 *     test_alarms            a short form, which fails where docs/comparing.md says too much
 *     test_alarms table      the tables of docs/comparing.md, in Markdown */
#include "cli/check_judge.c"
#include "cli/compare_rows.c"
#include "cli/noise.c"
#include "cli/noise_runs.c"

#include <stdarg.h>

enum {
    STEPS = 100,
    RECORDED = 60, /* runs in a file */
    MOST_OF_SIDE = 12
};

/* What these pairs cannot have. */
void cli_obstacles_of(const cli_comparison *comparison, bool allow_different, cli_obstacles *out)
{
    (void)comparison, (void)allow_different;
    out->count = 0;
}

bool cli_steps_spoil_means(const cli_comparison *comparison, const cli_row *row)
{
    (void)comparison, (void)row;
    return false;
}

void cli_obstacles_add(cli_obstacles *obstacles, int fact, const char *format, ...)
{
    (void)fact, (void)format;
    obstacles->count++;
}

/* ---- Chance ---- */

static uint64_t state;

static uint64_t random_bits(void) /* splitmix64 */
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double uniform(void)
{
    return (double)(random_bits() >> 11) * 0x1p-53;
}

static size_t below(size_t count)
{
    return (size_t)(uniform() * (double)count);
}

static double normal(void)
{
    return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

/* ---- Runs ---- */

typedef struct steps {
    uint64_t begin_ns;
    double ns[STEPS];
} steps;

/* Runs of both sides. */
typedef struct sides {
    steps runs[CLI_BOTH][MOST_OF_SIDE];
    size_t counts[CLI_BOTH];
} sides;

static void add_run(cli_part *part, const steps *of)
{
    cli_samples samples = {0};

    for (size_t i = 0; i < STEPS; i++)
        cli_samples_add(&samples, (uint64_t)of->ns[i]);
    cli_samples_sort(&samples);
    cli_values_add(&part->medians, (cli_value){cli_samples_median(&samples), of->begin_ns});
    cli_values_add(&part->means, (cli_value){cli_samples_mean(&samples), of->begin_ns});
    part->calls += STEPS;
    cli_samples_free(&samples);
}

static void add_calls(cli_part *part, const steps *of)
{
    for (size_t i = 0; i < STEPS; i++)
        cli_samples_add(&part->samples, (uint64_t)of->ns[i]);
    part->calls += STEPS;
}

/* What `takt check` says of them. */
static cli_check_outcome outcome_of(const sides *s, double limit)
{
    const cli_check_request request = {
        .options = {.limit = limit, .absolute_ns = limit > 0 ? 1000 : 0}, .run_noise = 2};
    cli_comparison c = {.options = request.options, .scale = {1, 1}};
    cli_check_result result;

    if (cli_rows_find(&c.rows, CLI_ROW_STEP, CLI_NO_ROW, "step") == CLI_NO_ROW)
        abort();
    cli_row *row = c.rows.items;
    c.is_by_run = cli_runs_suffice(s->counts[CLI_A], s->counts[CLI_B]);
    for (int side = CLI_A; side < CLI_BOTH; side++) {
        c.sides[side].facts.has_spans = true;
        for (size_t i = 0; i < s->counts[side]; i++)
            (c.is_by_run ? add_run : add_calls)(&row->parts[side], &s->runs[side][i]);
    }
    if (cli_compare_judge(&c) != TAKT_OK || cli_check_judge(&request, &c, &result) != TAKT_OK)
        abort();
    cli_check_outcome outcome = cli_check_outcome_of(&result);
    cli_check_result_free(&result);
    cli_rows_free(&c.rows);
    return outcome;
}

static void make_longer(sides *s, double by)
{
    for (size_t i = 0; i < s->counts[CLI_B]; i++)
        for (size_t j = 0; j < STEPS; j++)
            s->runs[CLI_B][i].ns[j] *= 1 + by;
}

/* Every twentieth step takes so much longer that their sum is longer by `by`. */
static void lengthen_tail(sides *s, double by)
{
    for (size_t i = 0; i < s->counts[CLI_B]; i++)
        for (size_t j = 19; j < STEPS; j += 20)
            s->runs[CLI_B][i].ns[j] *= 1 + 20 * by;
}

/* ---- Recorded runs ---- */

static steps recorded[RECORDED];

static void read_runs(const char *name)
{
    const char *root = getenv("TAKT_ROOT");
    char path[4096];
    unsigned long long begin_ms;

    snprintf(path, sizeof path, "%s/test/data/fluid/%s.txt", root ? root : ".", name);
    FILE *file = fopen(path, "r");
    for (size_t i = 0; i < RECORDED; i++) {
        if (!file || fscanf(file, "%llu", &begin_ms) != 1) {
            fprintf(stderr, "%s: not to be read\n", path);
            exit(1);
        }
        recorded[i].begin_ns = begin_ms * 1000000;
        for (size_t j = 0; j < STEPS; j++)
            if (fscanf(file, "%lf", &recorded[i].ns[j]) != 1)
                exit(1);
    }
    fclose(file);
}

/* Runs that followed each other, by turns: of each two chance tells which is A's. */
static void draw_by_turns(sides *s, size_t count)
{
    size_t first = below(RECORDED - 2 * count + 1);

    s->counts[CLI_A] = s->counts[CLI_B] = count;
    for (size_t i = 0; i < count; i++) {
        size_t a = below(2);
        s->runs[CLI_A][i] = recorded[first + 2 * i + a];
        s->runs[CLI_B][i] = recorded[first + 2 * i + !a];
    }
}

/* Runs of A that followed each other, and runs of B somewhere else. */
static void draw_apart(sides *s, size_t count)
{
    size_t a = below(RECORDED - count + 1), b = a;

    s->counts[CLI_A] = s->counts[CLI_B] = count;
    while (b < a + count && a < b + count)
        b = below(RECORDED - count + 1);
    for (size_t i = 0; i < count; i++) {
        s->runs[CLI_A][i] = recorded[a + i];
        s->runs[CLI_B][i] = recorded[b + i];
    }
}

/* ---- Distributions ---- */

typedef enum shape {
    EVEN,    /* runs differ by 2 %, standard deviation */
    WIDE,    /* by 5 % */
    BIMODAL, /* one run in four is 30 % longer */
    HEAVY,   /* Student's t with two degrees of freedom, times 2 % */
    DRIFT,   /* each run is 2 % longer than the one before */
    OUTLIER, /* one run of A, three times as long */
    SCALE,   /* runs of A differ by 2 %, those of B by 8 % */
    UNEQUAL, /* 4 runs of A, 10 of B */
    SHAPES
} shape;

static const char *const shape_names[SHAPES] = {"runs differ by 2 % (standard deviation)",
                                                "by 5 %",
                                                "bimodal: one run in four 30 % longer",
                                                "heavy tails: Student's t of 2 degrees, times 2 %",
                                                "drift: each run 2 % longer than the one before",
                                                "one stray run of A, three times as long",
                                                "scale: runs of A differ by 2 %, of B by 8 %",
                                                "unequal counts: 4 runs of A, 10 of B"};

static double factor_of(shape kind, int side, size_t number, size_t time)
{
    switch (kind) {
    case WIDE:
        return exp(0.05 * normal());
    case BIMODAL:
        return (below(4) == 0 ? 1.3 : 1) * exp(0.01 * normal());
    case HEAVY: {
        double square = -log(1 - uniform()); /* half a chi square of two degrees */
        return fmax(0.5, 1 + 0.02 * normal() / sqrt(square));
    }
    case DRIFT:
        return (1 + 0.02 * (double)time) * exp(0.01 * normal());
    case OUTLIER:
        return (side == CLI_A && number == 2 ? 3 : 1) * exp(0.02 * normal());
    case SCALE:
        return exp((side == CLI_A ? 0.02 : 0.08) * normal());
    default:
        return exp(0.02 * normal());
    }
}

static void draw_shape(sides *s, shape kind, size_t count)
{
    size_t time = 0;

    s->counts[CLI_A] = kind == UNEQUAL ? 4 : count;
    s->counts[CLI_B] = kind == UNEQUAL ? 10 : count;
    for (size_t i = 0; i < s->counts[CLI_A] || i < s->counts[CLI_B]; i++)
        for (size_t turn = 0; turn < 2; turn++) {
            int side = (int)((turn + i) % 2);
            if (i >= s->counts[side])
                continue;
            steps *to = &s->runs[side][i];
            double factor = factor_of(kind, side, i, time);
            to->begin_ns = ++time;
            for (size_t j = 0; j < STEPS; j++)
                to->ns[j] = 1e6 * factor * exp(0.03 * normal());
        }
}

/* ---- Counting ---- */

typedef enum source {
    BY_TURNS,
    APART,
    SHAPE
} source;

typedef struct question {
    source from;
    shape kind;
    size_t count; /* of runs of a side */
    double longer, tail;
    double limit;
} question;

/* The share of pairs, in percent, that come out like this. */
static double share(question q, cli_check_outcome outcome, int pairs)
{
    sides *s = malloc(sizeof *s);
    int found = 0;

    state = 1;
    for (int i = 0; s && i < pairs; i++) {
        if (q.from == SHAPE)
            draw_shape(s, q.kind, q.count);
        else
            (q.from == APART ? draw_apart : draw_by_turns)(s, q.count);
        make_longer(s, q.longer);
        lengthen_tail(s, q.tail);
        found += outcome_of(s, q.limit) == outcome;
    }
    free(s);
    return 100.0 * found / pairs;
}

/* ---- The tables ---- */

static void print_recorded(int pairs)
{
    static const char *const files[] = {"quiet", "shared", "busy"};

    puts("| runs | a side | unchanged | 5 % longer | 10 % longer | 25 % longer | tail: sum 25 % "
         "longer |\n"
         "|---|---|---|---|---|---|---|");
    for (int i = 0; i < 3; i++) {
        read_runs(files[i]);
        for (int k = 0; k < 3; k++) {
            question q = {k == 2 ? APART : BY_TURNS, 0, k == 1 ? 10 : 5, 0, 0, 0.05};
            int of = k == 1 ? pairs / 4 : pairs; /* more ways to deal them */
            printf("| %s, %s | %zu", files[i], k == 2 ? "not by turns" : "by turns", q.count);
            for (int longer = 0; longer < 4; longer++) {
                q.longer = (double[]){0, 0.05, 0.1, 0.25}[longer];
                printf(" | %.1f %%", share(q, CLI_CHECK_FAILED, of));
            }
            q.longer = 0;
            q.tail = 0.25;
            printf(" | %.1f %% |\n", share(q, CLI_CHECK_FAILED, of));
            fflush(stdout);
        }
    }
}

static void print_single(int pairs)
{
    static const char *const files[] = {"quiet", "shared", "busy"};

    puts("\n| one run a side | unchanged: failed | undecided | 25 % longer: failed | undecided | "
         "five times as long: failed | undecided |\n|---|---|---|---|---|---|---|");
    for (int i = 0; i < 3; i++) {
        read_runs(files[i]);
        printf("| %s", files[i]);
        for (int longer = 0; longer < 3; longer++) {
            question q = {BY_TURNS, 0, 1, (double[]){0, 0.25, 4}[longer], 0, 0.05};
            printf(" | %.1f %% | %.1f %%", share(q, CLI_CHECK_FAILED, pairs),
                   share(q, CLI_CHECK_UNDECIDED, pairs));
        }
        puts(" |");
    }
}

static void print_shapes(int pairs)
{
    puts(
        "\n| 5 runs a side, by turns | unchanged, no limits | unchanged | 5 % longer | 10 % longer "
        "| 25 % longer | tail: sum 25 % longer |\n|---|---|---|---|---|---|---|");
    for (int i = 0; i < SHAPES; i++) {
        question q = {SHAPE, (shape)i, 5, 0, 0, 0};
        printf("| %s | %.1f %%", shape_names[i], share(q, CLI_CHECK_FAILED, pairs));
        q.limit = 0.05;
        for (int longer = 0; longer < 4; longer++) {
            q.longer = (double[]){0, 0.05, 0.1, 0.25}[longer];
            printf(" | %.1f %%", share(q, CLI_CHECK_FAILED, pairs));
        }
        q.longer = 0;
        q.tail = 0.25;
        printf(" | %.1f %% |\n", share(q, CLI_CHECK_FAILED, pairs));
        fflush(stdout);
    }
}

/* ---- The short form ---- */

static int failures;

static void expect(const char *what, question q, double least, double most)
{
    double found = share(q, CLI_CHECK_FAILED, 100);
    if (found >= least && found <= most)
        return;
    printf("%s: %.1f %% of pairs fail, expected %g to %g %%\n", what, found, least, most);
    failures++;
}

static void look_at_recorded(void)
{
    read_runs("quiet");
    expect("quiet, unchanged", (question){BY_TURNS, 0, 5, 0, 0, 0.05}, 0, 5);
    expect("quiet, unchanged, apart", (question){APART, 0, 5, 0, 0, 0.05}, 0, 5);
    expect("quiet, unchanged, one run", (question){BY_TURNS, 0, 1, 0, 0, 0.05}, 0, 0);
    expect("quiet, 10 % longer", (question){BY_TURNS, 0, 5, 0.1, 0, 0.05}, 90, 100);
    expect("quiet, 25 % longer, apart", (question){APART, 0, 5, 0.25, 0, 0.05}, 90, 100);
    expect("quiet, five times as long, one run", (question){BY_TURNS, 0, 1, 4, 0, 0.05}, 100, 100);
    expect("quiet, tail", (question){BY_TURNS, 0, 5, 0, 0.25, 0.05}, 90, 100);
    read_runs("shared");
    expect("shared, unchanged", (question){BY_TURNS, 0, 5, 0, 0, 0.05}, 0, 5);
    expect("shared, 25 % longer", (question){BY_TURNS, 0, 5, 0.25, 0, 0.05}, 90, 100);
    read_runs("busy");
    expect("busy, unchanged", (question){BY_TURNS, 0, 5, 0, 0, 0.05}, 0, 5);
}

static void look_at_shapes(void)
{
    for (int i = 0; i < SHAPES; i++)
        expect(shape_names[i], (question){SHAPE, (shape)i, 5, 0, 0, 0.05}, 0, 6);
    expect("even, 10 % longer", (question){SHAPE, EVEN, 5, 0.1, 0, 0.05}, 90, 100);
    expect("outlier, 10 % longer", (question){SHAPE, OUTLIER, 5, 0.1, 0, 0.05}, 70, 100);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "table") == 0) {
        print_recorded(400);
        print_single(400);
        print_shapes(400);
        return 0;
    }
    look_at_recorded();
    look_at_shapes();
    if (failures == 0)
        puts("as docs/comparing.md says");
    return failures > 0;
}
