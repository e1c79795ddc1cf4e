/* The table of keys, and how a misspelled one is recognised.
 *
 * Defaults are texts and go through the same parser as what people write, so the documentation
 * cannot show a default that would not be accepted. */
#include "config/schema.h"

#include "config/config.h"

#include "base/text.h"

#include <takt/profiler.h>

#include <regex.h>
#include <string.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define TIB (MIB * MIB)
#define EXA UINT64_C(1000000000000000000)

static const char *const modes[] = {"trace", "summary", "both", "flight", NULL};
static const char *const repeat_modes[] = {"cycles", "additional", NULL};
static const char *const activities[] = {"cpu", "cuda", NULL};
static const char *const filters[] = {"kernel", "builtin", "memcpy", "memset", "graph", NULL};
static const char *const graphs[] = {"node", "launch", NULL};

/* The numbers of choices are used as the public enums and bits. */
_Static_assert(TAKT_MODE_TRACE == 0 && TAKT_MODE_FLIGHT == 3, "the order of modes");
_Static_assert(TAKT_REPEAT_CYCLES == 0 && TAKT_REPEAT_ADDITIONAL == 1, "the order of repeat modes");
_Static_assert(TAKT_TIMING_KERNEL == 1 && TAKT_TIMING_GRAPH == 16, "the order of filters");

/* A run's name becomes part of file names. */
static bool accepts_name(const char *text)
{
    return !strchr(text, '/');
}

static bool accepts_pattern(const char *text)
{
    regex_t pattern;
    if (*text == '\0' || regcomp(&pattern, text, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    regfree(&pattern);
    return true;
}

/* Braces may stand anywhere in a path, but {word} must be one that is replaced. */
static bool accepts_directory(const char *text)
{
    static const char *const placeholders[] = {"{name}", "{time}", "{pid}", "{host}", "{rank}"};
    for (const char *open = strchr(text, '{'); open; open = strchr(open + 1, '{')) {
        size_t length =
            1 + strspn(open + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
        bool is_known = length == 1 || open[length] != '}';
        for (size_t i = 0; i < sizeof placeholders / sizeof *placeholders; i++)
            is_known = is_known || strncmp(open, placeholders[i], strlen(placeholders[i])) == 0;
        if (!is_known)
            return false;
    }
    return *text != '\0';
}

/* clang-format off */
#define SWITCH(default_) .type = TKT_CONFIG_TYPE_SWITCH, .initial = default_
#define COUNT(default_, from, to)                                                                  \
    .type = TKT_CONFIG_TYPE_COUNT, .initial = default_, .min = from, .max = to
#define STEPS(default_) COUNT(default_, 0, UINT32_MAX)
#define BYTES(default_, from, to)                                                                  \
    .type = TKT_CONFIG_TYPE_BYTES, .initial = default_, .min = from, .max = to
#define RATE() .type = TKT_CONFIG_TYPE_RATE, .initial = "0", .max = EXA
#define TEXT(default_, to, accepts_, expects_)                                                     \
    .type = TKT_CONFIG_TYPE_TEXT, .initial = default_, .max = to, .accepts = accepts_,             \
    .expects = expects_
#define CHOICE(default_, words_)                                                                   \
    .type = TKT_CONFIG_TYPE_CHOICE, .initial = default_, .words = words_
#define CHOICES(default_, words_)                                                                  \
    .type = TKT_CONFIG_TYPE_CHOICES, .initial = default_, .words = words_, .min = 1,               \
    .max = TKT_CONFIG_ITEMS_MAX
#define LIST(default_, accepts_, expects_)                                                         \
    .type = TKT_CONFIG_TYPE_LIST, .initial = default_, .accepts = accepts_, .expects = expects_,   \
    .max = TKT_CONFIG_ITEMS_MAX

const tkt_config_key tkt_config_keys[TKT_CONFIG_ID_COUNT] = {
    [TKT_CONFIG_ENABLED] = {
        .name = "profiling.enabled", SWITCH("true"),
        .meaning = "Whether to profile. Without a profiling section nothing is profiled."},
    [TKT_CONFIG_NAME] = {
        .name = "profiling.name", TEXT("", 200, accepts_name, "a name without '/'"),
        .meaning = "Name of the run, for file names. Empty: the program's name."},
    [TKT_CONFIG_RANK] = {
        .name = "profiling.rank", COUNT("0", 0, UINT32_MAX),
        .meaning = "Which of several processes this one is, counted from 0. Names of files have "
                   "it: NAME.rank3.0.pftrace."},
    [TKT_CONFIG_WORLD_SIZE] = {
        .name = "profiling.world_size", COUNT("0", 0, UINT32_MAX),
        .meaning = "How many processes there are. 0: this and the rank are as the environment "
                   "says, in the variables of MPI's launchers, Slurm or torchrun."},
    [TKT_CONFIG_MODE] = {
        .name = "profiling.mode", CHOICE("trace", modes),
        .meaning = "What is kept: every span (trace), a call tree with totals and quantiles in "
                   "bounded memory (summary), both, or the last max_memory of spans (flight)."},
    [TKT_CONFIG_WAIT] = {
        .name = "profiling.wait", STEPS("3"),
        .meaning = "Steps at the start of each cycle in which nothing is enabled."},
    [TKT_CONFIG_WARMUP] = {
        .name = "profiling.warmup", STEPS("1"),
        .meaning = "Steps in which recording is on and its result is thrown away."},
    [TKT_CONFIG_ACTIVE] = {
        .name = "profiling.active", STEPS("3"),
        .meaning = "Steps that are recorded and saved. 0: no schedule, one trace from start to "
                   "stop."},
    [TKT_CONFIG_REPEAT] = {
        .name = "profiling.repeat", STEPS("1"),
        .meaning = "How often; repeat_mode says of what. 0 means for ever with cycles and one "
                   "round with additional."},
    [TKT_CONFIG_REPEAT_MODE] = {
        .name = "profiling.repeat_mode", CHOICE("cycles", repeat_modes),
        .meaning = "cycles: repeat is the number of cycles of wait, warmup and active. "
                   "additional: wait once, then repeat + 1 rounds of warmup and active."},
    [TKT_CONFIG_SKIP_FIRST] = {
        .name = "profiling.skip_first", STEPS("0"),
        .meaning = "Steps before the first cycle."},
    [TKT_CONFIG_SKIP_FIRST_WAIT] = {
        .name = "profiling.skip_first_wait", STEPS("0"),
        .meaning = "Not 0: the first cycle has no wait."},
    [TKT_CONFIG_SYNCHRONIZE] = {
        .name = "profiling.synchronize", SWITCH("false"),
        .meaning = "Wait for all devices before each step boundary."},
    [TKT_CONFIG_BACKGROUND] = {
        .name = "profiling.background", SWITCH("true"),
        .meaning = "Prepare and write traces on a thread of their own. Otherwise the step waits "
                   "for them."},
    [TKT_CONFIG_LEVEL] = {
        .name = "profiling.level", COUNT("2", 1, 4),
        .meaning = "Finest level of scopes that is recorded: 1 coarse, 2 normal, 3 fine, 4 "
                   "detail."},
    [TKT_CONFIG_CATEGORIES] = {
        .name = "profiling.categories",
        .type = TKT_CONFIG_TYPE_SWITCHES, .initial = "", .max = TKT_CONFIG_ITEMS_MAX,
        .meaning = "Categories of scopes switched on or off, such as {io: off}. Those not named "
                   "are on."},
    [TKT_CONFIG_RECORD_SHAPES] = {
        .name = "profiling.record_shapes", SWITCH("true"),
        .meaning = "Record the values of TAKT_ARG."},
    [TKT_CONFIG_PROFILE_MEMORY] = {
        .name = "profiling.profile_memory", SWITCH("true"),
        .meaning = "Record allocations: those that the program reports, and those of device "
                   "memory."},
    [TKT_CONFIG_WITH_STACK] = {
        .name = "profiling.with_stack", SWITCH("false"),
        .meaning = "Record host call stacks of scopes and launches."},
    [TKT_CONFIG_WITH_FLOPS] = {
        .name = "profiling.with_flops", SWITCH("false"),
        .meaning = "Show the work that TAKT_WORK declares: the FLOPs column."},
    [TKT_CONFIG_PEAK_FLOPS] = {
        .name = "profiling.peak_flops", RATE(),
        .meaning = "Floating-point operations a second that a device can do at most, which the "
                   "report ops holds rates against. 0: what its attributes tell, in single "
                   "precision without tensor cores."},
    [TKT_CONFIG_PEAK_BANDWIDTH] = {
        .name = "profiling.peak_bandwidth", RATE(),
        .meaning = "Bytes a second that a device's memory can move at most. 0: what the device's "
                   "attributes tell."},
    [TKT_CONFIG_HOST_PEAK_FLOPS] = {
        .name = "profiling.host_peak_flops", RATE(),
        .meaning = "Floating-point operations a second that a thread of the host can do at most. "
                   "0: not known."},
    [TKT_CONFIG_HOST_PEAK_BANDWIDTH] = {
        .name = "profiling.host_peak_bandwidth", RATE(),
        .meaning = "Bytes a second that a thread of the host can move at most. 0: not known."},
    [TKT_CONFIG_ACTIVITIES] = {
        .name = "profiling.activities", CHOICES("cpu, cuda", activities),
        .meaning = "What is observed: scopes on the host (cpu), devices (cuda). A program without "
                   "CUDA notices nothing of the latter."},
    [TKT_CONFIG_FILTER] = {
        .name = "profiling.filter", CHOICES("kernel, builtin, memcpy, memset, graph", filters),
        .meaning = "Kinds of activities that are kept."},
    [TKT_CONFIG_GRAPH] = {
        .name = "profiling.graph", CHOICE("node", graphs),
        .meaning = "CUDA graphs as one activity for each node or for each launch. Launches of "
                   "graphs that were made executable before are put together from their nodes."},
    [TKT_CONFIG_BUILTIN] = {
        .name = "profiling.builtin", LIST("", accepts_pattern, "a regular expression"),
        .meaning = "Kernels whose names match these patterns, such as \"^my_library::\", count as "
                   "a library's (builtin). POSIX extended regular expressions, on demangled "
                   "names."},
    [TKT_CONFIG_DEVICE_WAIT] = {
        .name = "profiling.device_wait_ms", COUNT("10000", 1, 3600000),
        .meaning = "How long, in milliseconds, the end of a cycle waits at most for devices to "
                   "finish what the cycle launched. What has not finished by then is counted as "
                   "incomplete."},
    [TKT_CONFIG_MAX_MEMORY] = {
        .name = "profiling.max_memory", BYTES("256 MiB", 64 * KIB, TIB),
        .meaning = "Most memory for recorded events, of the whole process; in programs that use "
                   "CUDA as much again for what devices did."},
    [TKT_CONFIG_REPORTS] = {
        .name = "reports", LIST("summary, scopes, kernels", tkt_config_is_report, "a report"),
        .meaning = "Tables printed to standard output when a cycle is saved."},
    [TKT_CONFIG_DIRECTORY] = {
        .name = "output.directory",
        TEXT("runs/{name}/{time}", 1024, accepts_directory,
             "a folder, in which {name} {time} {pid} {host} {rank} are replaced"),
        .meaning = "Folder of the traces. {name}, {time}, {pid}, {host} and {rank} are replaced. "
                   "With {time} it is a new one, if need be with -2 and so on behind it. A file "
                   "that is there already is never replaced: the new one gets -2 into its name."},
    [TKT_CONFIG_TRACES] = {
        .name = "output.traces",
        LIST("perfetto, chrome.gz, tensorboard", tkt_config_is_trace, "a trace format"),
        .meaning = "Formats of the traces written when a cycle is saved. Only perfetto and folded can "
                   "hold a summary; with mode: summary the default is perfetto alone."},
    [TKT_CONFIG_MAX_TRACE_SIZE] = {
        .name = "output.max_trace_size", BYTES("256 MiB", 64 * KIB, TIB),
        .meaning = "Largest size of one trace file; what is more goes into a second one."},
    [TKT_CONFIG_STREAM] = {
        .name = "output.stream", SWITCH("false"),
        .meaning = "Write NAME.CYCLE.partial.pftrace while recording, so that a program that dies "
                   "leaves what it had, spans and activities or a summary. Records that are "
                   "written are freed when max_memory is half used. At stop the whole trace is then "
                   "read back from that file for reports and other traces, unless it is larger "
                   "than max_trace_size: then it is all that is left."},
    [TKT_CONFIG_CRASH_SAFE] = {
        .name = "output.crash_safe", SWITCH("false"),
        .meaning = "Keep events in a file NAME.PID.crash of the directory, reserved at the start and "
                   "removed at exit, so that takt recover gives back what was recorded however the "
                   "program ends."},
    [TKT_CONFIG_VIEW] = {
        .name = "output.view", SWITCH("false"),
        .meaning = "After stop, print a link that opens the last trace in ui.perfetto.dev, once: "
                   "runs takt view, found in PATH, in the background."},
    [TKT_CONFIG_WIDTH] = {
        .name = "output.width", COUNT("0", 0, 10000),
        .meaning = "Columns of printed tables. 0: the terminal's, or 160 where the output is no "
                   "terminal. A line below a table names columns that did not fit."},
};
/* clang-format on */

const char *const tkt_config_sections[] = {"profiling", "reports", "output", NULL};

const tkt_config_key *tkt_config_find(const char *name)
{
    if (strcmp(name, "profiling") == 0)
        return &tkt_config_keys[TKT_CONFIG_ENABLED];
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++) {
        if (strcmp(name, tkt_config_keys[i].name) == 0)
            return &tkt_config_keys[i];
    }
    return NULL;
}

static const char *leaf_of(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot ? dot + 1 : name;
}

const char *tkt_config_leaf(const tkt_config_key *key)
{
    return leaf_of(key->name);
}

bool tkt_config_is_in(const tkt_config_key *key, const char *section)
{
    size_t length = strlen(section);
    return strncmp(key->name, section, length) == 0 &&
           (key->name[length] == '.' || key->name[length] == '\0');
}

/* How many edits may lie between a word and what was meant: two swapped letters are two. */
static size_t reach(const char *word)
{
    size_t length = strlen(word);
    return length < 4 ? 1 : length < 9 ? 2 : length <= 64 ? 3 : 0;
}

const char *tkt_config_nearest(const char *word, const char *const *words)
{
    const char *nearest = NULL;
    size_t best = reach(word);
    if (best == 0)
        return NULL;
    for (; *words; words++) {
        size_t distance = tkt_edit_distance(word, *words, best);
        if (distance <= best && !(nearest && distance == best)) {
            nearest = *words;
            best = distance;
        }
    }
    return nearest;
}

const tkt_config_key *tkt_config_suggest(const char *name)
{
    const char *leaves[TKT_CONFIG_ID_COUNT + 1] = {0};
    for (size_t i = 0; i < TKT_CONFIG_ID_COUNT; i++)
        leaves[i] = tkt_config_leaf(&tkt_config_keys[i]);
    const char *near = tkt_config_nearest(leaf_of(name), leaves);
    for (size_t i = 0; near && i < TKT_CONFIG_ID_COUNT; i++) {
        if (strcmp(near, leaves[i]) == 0)
            return &tkt_config_keys[i];
    }
    return NULL;
}

const char *tkt_config_near_section(const char *name)
{
    if (strlen(name) > 16)
        return NULL;
    for (size_t i = 0; tkt_config_sections[i]; i++) {
        if (tkt_edit_distance(name, tkt_config_sections[i], 2) <= 2)
            return tkt_config_sections[i];
    }
    return NULL;
}
