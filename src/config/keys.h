/* Every key of the configuration, once, in the order in which people are shown them:
 *
 *     KEY(ID, "section.key", what it takes, where it goes, what it means)
 *
 * It takes SWITCH, COUNT, BYTES, ... with its default and bounds (schema.c has these macros). It goes
 * INTO(field) of takt_profiler_options; CHOSEN(field) where the field is a takt_choice; CODE: options.c
 * has a line for it. Reading YAML, options and arguments, messages, suggestions, help, `takt config`
 * and docs/config.md follow from the row. */
#ifndef TKT_CONFIG_KEYS_H
#define TKT_CONFIG_KEYS_H

/* clang-format off */
#define TKT_CONFIG_KEYS(KEY)                                                                       \
    KEY(ENABLED, "profiling.enabled", SWITCH("true"), CODE,                                        \
        "Whether to profile. Without a profiling section nothing is profiled.")                    \
    KEY(NAME, "profiling.name", TEXT("", 200, accepts_name, "a name without '/'"), CODE,           \
        "Name of the run, for file names. Empty: the program's name.")                             \
    KEY(RANK, "profiling.rank", COUNT("0", 0, UINT32_MAX), INTO(rank),                             \
        "Which of several processes this one is, counted from 0. Names of files have it: "         \
        "NAME.rank3.0.pftrace.")                                                                   \
    KEY(WORLD_SIZE, "profiling.world_size", COUNT("0", 0, UINT32_MAX), INTO(world_size),           \
        "How many processes there are. 0: this and the rank are as the environment says, "         \
        "in the variables of MPI's launchers, Slurm or torchrun.")                                 \
    KEY(MODE, "profiling.mode", CHOICE("trace", modes), INTO(mode),                                \
        "What is kept: every span (trace), a call tree with totals and quantiles in "              \
        "bounded memory (summary), both, or the last max_memory of spans (flight).")               \
    KEY(WAIT, "profiling.wait", STEPS("3"), INTO(schedule.wait),                                   \
        "Steps at the start of each cycle in which nothing is enabled.")                           \
    KEY(WARMUP, "profiling.warmup", STEPS("1"), INTO(schedule.warmup),                             \
        "Steps in which recording is on and its result is thrown away.")                           \
    KEY(ACTIVE, "profiling.active", STEPS("3"), INTO(schedule.active),                             \
        "Steps that are recorded and saved. 0: no schedule, one trace from start to stop.")        \
    KEY(REPEAT, "profiling.repeat", STEPS("1"), INTO(schedule.repeat),                             \
        "How often; repeat_mode says of what. 0 means for ever with cycles and one round "         \
        "with additional.")                                                                        \
    KEY(REPEAT_MODE, "profiling.repeat_mode",                                                      \
        CHOICE("cycles", repeat_modes), INTO(schedule.repeat_mode),                                \
        "cycles: repeat is the number of cycles of wait, warmup and active. additional: "          \
        "wait once, then repeat + 1 rounds of warmup and active.")                                 \
    KEY(SKIP_FIRST, "profiling.skip_first", STEPS("0"), INTO(schedule.skip_first),                 \
        "Steps before the first cycle.")                                                           \
    KEY(SKIP_FIRST_WAIT, "profiling.skip_first_wait",                                              \
        STEPS("0"), INTO(schedule.skip_first_wait),                                                \
        "Not 0: the first cycle has no wait.")                                                     \
    KEY(SYNCHRONIZE, "profiling.synchronize", SWITCH("false"), INTO(synchronize),                  \
        "Wait for all devices before each step boundary.")                                         \
    KEY(BACKGROUND, "profiling.background", SWITCH("true"), CHOSEN(background),                    \
        "Prepare and write traces on a thread of their own. Otherwise the step waits for "         \
        "them.")                                                                                   \
    KEY(LEVEL, "profiling.level", COUNT("2", 1, 4), INTO(level),                                   \
        "Finest level of scopes that is recorded: 1 coarse, 2 normal, 3 fine, 4 detail.")          \
    KEY(CATEGORIES, "profiling.categories", SWITCHES(), CODE,                                      \
        "Categories of scopes switched on or off, such as {io: off}. Those not named are "         \
        "on.")                                                                                     \
    KEY(RECORD_SHAPES, "profiling.record_shapes", SWITCH("true"), CHOSEN(record_shapes),           \
        "Record the values of TAKT_ARG.")                                                          \
    KEY(PROFILE_MEMORY, "profiling.profile_memory", SWITCH("true"), CHOSEN(profile_memory),        \
        "Record allocations: those that the program reports, and those of device memory.")         \
    KEY(WITH_STACK, "profiling.with_stack", SWITCH("false"), INTO(with_stack),                     \
        "Record host call stacks of scopes and launches.")                                         \
    KEY(WITH_FLOPS, "profiling.with_flops", SWITCH("false"), INTO(with_flops),                     \
        "Show the work that TAKT_WORK declares: the FLOPs column.")                                \
    KEY(PEAK_FLOPS, "profiling.peak_flops", RATE(), INTO(peak_flops),                              \
        "Floating-point operations a second that a device can do at most, which the "              \
        "report ops holds rates against. 0: what its attributes tell, in single precision "        \
        "without tensor cores.")                                                                   \
    KEY(PEAK_BANDWIDTH, "profiling.peak_bandwidth", RATE(), INTO(peak_bandwidth),                  \
        "Bytes a second that a device's memory can move at most. 0: what the device's "            \
        "attributes tell.")                                                                        \
    KEY(HOST_PEAK_FLOPS, "profiling.host_peak_flops", RATE(), INTO(host_peak_flops),               \
        "Floating-point operations a second that a thread of the host can do at most. 0: "         \
        "not known.")                                                                              \
    KEY(HOST_PEAK_BANDWIDTH, "profiling.host_peak_bandwidth", RATE(), INTO(host_peak_bandwidth),   \
        "Bytes a second that a thread of the host can move at most. 0: not known.")                \
    KEY(ACTIVITIES, "profiling.activities", CHOICES("cpu, cuda", activities), INTO(activities),    \
        "What is observed: scopes on the host (cpu), devices (cuda). A program without "           \
        "CUDA notices nothing of the latter.")                                                     \
    KEY(FILTER, "profiling.filter",                                                                \
        CHOICES("kernel, builtin, memcpy, memset, graph", filters), CODE,                          \
        "Kinds of activities that are kept.")                                                      \
    KEY(GRAPH, "profiling.graph", CHOICE("node", graphs), INTO(graph),                             \
        "CUDA graphs as one activity for each node or for each launch. Launches of graphs "        \
        "that were made executable before are put together from their nodes.")                     \
    KEY(BUILTIN, "profiling.builtin", LIST("", accepts_pattern, "a regular expression"), CODE,     \
        "Kernels whose names match these patterns, such as \"^my_library::\", count as a "         \
        "library's (builtin). POSIX extended regular expressions, on demangled names.")            \
    KEY(DEVICE_WAIT, "profiling.device_wait_ms",                                                   \
        COUNT("10000", 1, 3600000), INTO(device_wait_ms),                                          \
        "How long, in milliseconds, the end of a cycle waits at most for devices to "              \
        "finish what the cycle launched. What has not finished by then is counted as "             \
        "incomplete.")                                                                             \
    KEY(MAX_MEMORY, "profiling.max_memory",                                                        \
        BYTES("256 MiB", 64 * KIB, TIB), INTO(max_memory_bytes),                                   \
        "Most memory for recorded events, of the whole process; in programs that use CUDA "        \
        "as much again for what devices did.")                                                     \
    KEY(REPORTS, "reports",                                                                        \
        LIST("summary, scopes, kernels", tkt_config_is_report, "a report"), CODE,                  \
        "Tables printed to standard output when a cycle is saved.")                                \
    KEY(DIRECTORY, "output.directory",                                                             \
        TEXT("runs/{name}/{time}", 1024, accepts_directory, "a folder, in which {name} {time} {pid} {host} {rank} are replaced"), INTO(directory),\
        "Folder of the traces. {name}, {time}, {pid}, {host} and {rank} are replaced. "            \
        "With {time} it is a new one, if need be with -2 and so on behind it. A file that "        \
        "is there already is never replaced: the new one gets -2 into its name.")                  \
    KEY(TRACES, "output.traces",                                                                   \
        LIST("perfetto, chrome.gz, tensorboard", tkt_config_is_trace, "a trace format"), CODE,     \
        "Formats of the traces written when a cycle is saved. Only perfetto and folded "           \
        "can hold a summary; with mode: summary the default is perfetto alone.")                   \
    KEY(MAX_TRACE_SIZE, "output.max_trace_size",                                                   \
        BYTES("256 MiB", 64 * KIB, TIB), INTO(max_trace_bytes),                                    \
        "Largest size of one trace file; what is more goes into a second one.")                    \
    KEY(STREAM, "output.stream", SWITCH("false"), INTO(stream),                                    \
        "Write NAME.CYCLE.partial.pftrace while recording, so that a program that dies "           \
        "leaves what it had, spans and activities or a summary. Records that are written "         \
        "are freed when max_memory is half used. At stop the whole trace is then read "            \
        "back from that file for reports and other traces, unless it is larger than "              \
        "max_trace_size: then it is all that is left.")                                            \
    KEY(CRASH_SAFE, "output.crash_safe", SWITCH("false"), INTO(crash_safe),                        \
        "Keep events in a file NAME.PID.crash of the directory, reserved at the start and "        \
        "removed at exit, so that takt recover gives back what was recorded however the "          \
        "program ends.")                                                                           \
    KEY(VIEW, "output.view", SWITCH("false"), INTO(view),                                          \
        "After stop, print a link that opens the last trace in ui.perfetto.dev, once: "            \
        "runs takt view, found in PATH, in the background.")                                       \
    KEY(WIDTH, "output.width", COUNT("0", 0, 10000), INTO(width),                                  \
        "Columns of printed tables. 0: the terminal's, or 160 where the output is no "             \
        "terminal. A line below a table names columns that did not fit.")
/* clang-format on */

#endif
