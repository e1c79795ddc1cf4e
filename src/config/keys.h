/* Every key of the configuration, once, in the order of texts for people:
 *
 *     KEY(ID, "section.key", type and default, option, meaning)
 *
 * The type is SWITCH, COUNT, BYTES and so on, with default and bounds; schema.c defines these
 * macros. The option is INTO(field) of takt_profiler_options; CHOSEN(field) for a field of type
 * takt_choice; CODE if state.c or config.c handles the key. YAML, options, arguments, messages,
 * suggestions, help, `takt config` and docs/config.md all follow from the row. */
#ifndef TKT_CONFIG_KEYS_H
#define TKT_CONFIG_KEYS_H

/* clang-format off */
#define TKT_CONFIG_KEYS(KEY)                                                                       \
    KEY(ENABLED, "profiling.enabled", SWITCH("true"), CODE,                                        \
        "Whether to profile. Without a profiling section nothing is profiled.")                    \
    KEY(NAME, "profiling.name", TEXT("", 200, accepts_name, "a name without '/'"), CODE,           \
        "Name of the run in file names. Empty: the program's name.")                               \
    KEY(RANK, "profiling.rank", COUNT("0", 0, UINT32_MAX), INTO(rank),                             \
        "Number of this process among several, from 0. It is in file names: "                      \
        "NAME.rank3.0.pftrace.")                                                                   \
    KEY(WORLD_SIZE, "profiling.world_size", COUNT("0", 0, UINT32_MAX), INTO(world_size),           \
        "Number of processes. 0: taken, like the rank, from variables of MPI, Slurm or "           \
        "torchrun.")                                                                               \
    KEY(MODE, "profiling.mode", CHOICE("trace", modes), INTO(mode),                                \
        "What to keep: every span (trace), a call tree (summary), both, or the last "              \
        "max_memory of spans (flight).")                                                           \
    KEY(WAIT, "profiling.wait", STEPS("3"), INTO(schedule.wait),                                   \
        "Steps without recording at the start of each cycle.")                                     \
    KEY(WARMUP, "profiling.warmup", STEPS("1"), INTO(schedule.warmup),                             \
        "Steps that are recorded and discarded.")                                                  \
    KEY(ACTIVE, "profiling.active", STEPS("3"), INTO(schedule.active),                             \
        "Steps that are recorded and saved. 0: no schedule, one trace from start to "              \
        "stop.")                                                                                   \
    KEY(REPEAT, "profiling.repeat", STEPS("1"), INTO(schedule.repeat),                             \
        "Number of rounds; see repeat_mode. 0: for ever with cycles, one round with "              \
        "additional.")                                                                             \
    KEY(REPEAT_MODE, "profiling.repeat_mode",                                                      \
        CHOICE("cycles", repeat_modes), INTO(schedule.repeat_mode),                                \
        "cycles: wait, warmup and active, repeat times. additional: wait once, then "              \
        "repeat + 1 rounds of warmup and active.")                                                 \
    KEY(SKIP_FIRST, "profiling.skip_first", STEPS("0"), INTO(schedule.skip_first),                 \
        "Steps before the first cycle.")                                                           \
    KEY(SKIP_FIRST_WAIT, "profiling.skip_first_wait",                                              \
        STEPS("0"), INTO(schedule.skip_first_wait),                                                \
        "Not 0: the first cycle has no wait.")                                                     \
    KEY(SYNCHRONIZE, "profiling.synchronize", SWITCH("false"), INTO(synchronize),                  \
        "Wait for all devices before each step boundary.")                                         \
    KEY(BACKGROUND, "profiling.background", SWITCH("true"), CHOSEN(background),                    \
        "Prepare and write traces on a background thread. false: the step waits for "              \
        "them.")                                                                                   \
    KEY(LEVEL, "profiling.level", COUNT("2", 1, 4), INTO(level),                                   \
        "Finest scopes to record: 1 coarse, 2 normal, 3 fine, 4 detail.")                          \
    KEY(CATEGORIES, "profiling.categories", SWITCHES(), CODE,                                      \
        "Categories of scopes to switch, such as {io: off}. Others are on.")                       \
    KEY(RECORD_SHAPES, "profiling.record_shapes", SWITCH("true"), CHOSEN(record_shapes),           \
        "Record the values of TAKT_ARG.")                                                          \
    KEY(PROFILE_MEMORY, "profiling.profile_memory", SWITCH("true"), CHOSEN(profile_memory),        \
        "Record allocations of device memory, and those that the program reports.")                \
    KEY(WITH_STACK, "profiling.with_stack", SWITCH("false"), INTO(with_stack),                     \
        "Record host call stacks of scopes and launches.")                                         \
    KEY(WITH_FLOPS, "profiling.with_flops", SWITCH("false"), INTO(with_flops),                     \
        "Show the FLOPs column: work declared by TAKT_WORK.")                                      \
    KEY(PEAK_FLOPS, "profiling.peak_flops", RATE(), INTO(peak_flops),                              \
        "A device's peak floating-point operations per second, for the report ops. 0: "            \
        "from its attributes, in single precision without tensor cores.")                          \
    KEY(PEAK_BANDWIDTH, "profiling.peak_bandwidth", RATE(), INTO(peak_bandwidth),                  \
        "A device's peak memory bandwidth in bytes per second. 0: from its attributes.")           \
    KEY(HOST_PEAK_FLOPS, "profiling.host_peak_flops", RATE(), INTO(host_peak_flops),               \
        "A host thread's peak floating-point operations per second. 0: unknown.")                  \
    KEY(HOST_PEAK_BANDWIDTH, "profiling.host_peak_bandwidth", RATE(), INTO(host_peak_bandwidth),   \
        "A host thread's peak memory bandwidth in bytes per second. 0: unknown.")                  \
    KEY(NSIGHT, "profiling.nsight", CHOICE("off", nsights), INTO(nsight),                          \
        "capture_range: call cuProfilerStart and cuProfilerStop around the recorded steps, for "   \
        "nsys -c cudaProfilerApi and ncu --profile-from-start off.")                               \
    KEY(ACTIVITIES, "profiling.activities", CHOICES("cpu, cuda", activities), INTO(activities),    \
        "What to observe: scopes on the host (cpu), devices (cuda). Programs without "             \
        "CUDA do not notice cuda.")                                                                \
    KEY(FILTER, "profiling.filter",                                                                \
        CHOICES("kernel, builtin, memcpy, memset, graph", filters), CODE,                          \
        "Kinds of activities to keep.")                                                            \
    KEY(GRAPH, "profiling.graph", CHOICE("node", graphs), INTO(graph),                             \
        "Record CUDA graphs by node or by launch. Launches of graphs that were "                   \
        "instantiated earlier are combined from their nodes.")                                     \
    KEY(BUILTIN, "profiling.builtin", LIST("", accepts_pattern, "a regular expression"), CODE,     \
        "Kernels whose demangled names match one of these POSIX extended regular "                 \
        "expressions, such as \"^my_library::\", count as a library's.")                           \
    KEY(COMPILE_TRACES, "profiling.compile_traces", LIST("", accepts_files, "a file pattern"),     \
        CODE,                                                                                      \
        "Files that nvcc or NVRTC write with --fdevice-time-trace, such as "                       \
        "\"build/*_compile-time-trace.json\". Those written during a cycle become spans.")         \
    KEY(DEVICE_WAIT, "profiling.device_wait_ms",                                                   \
        COUNT("10000", 1, 3600000), INTO(device_wait_ms),                                          \
        "Longest wait, in milliseconds, for the work of a cycle at its end. Work that "            \
        "is unfinished then counts as incomplete.")                                                \
    KEY(MAX_MEMORY, "profiling.max_memory",                                                        \
        BYTES("256 MiB", 64 * KIB, TIB), INTO(max_memory_bytes),                                   \
        "Limit for recorded events of the whole process; with CUDA as much again for "             \
        "activities of devices.")                                                                  \
    KEY(REPORTS, "reports",                                                                        \
        LIST("summary, scopes, kernels", tkt_config_is_report, "a report"), CODE,                  \
        "Tables printed when a cycle is saved. Options may follow a name, as in \"- kernels: "     \
        "{rows: 20, sort: total}\" or 'kernels rows=20 sort=total': full_names, rows, sort, "      \
        "width; for scopes also all, by_arguments, by_stack, with_flops; for kernels "             \
        "by_arguments; for tree all.")                                                             \
    KEY(DIRECTORY, "output.directory",                                                             \
        TEXT("runs/{name}/{time}", 1024, accepts_directory, "a folder, in which {name} {time} {pid} {host} {rank} are replaced"), INTO(directory),\
        "Folder of the traces. With {time} it is always new, with -2 and so on appended; ranks "   \
        "of a job share it. Takt never replaces a file: the new one gets -2.")                     \
    KEY(TRACES, "output.traces",                                                                   \
        LIST("perfetto", tkt_config_is_trace, "a trace format"), CODE,                             \
        "Formats to write when a cycle is saved. Only perfetto and folded can hold a summary.")    \
    KEY(REPORT_FILE, "output.reports",                                                             \
        TEXT("stdout", 1024, accepts_file, "stdout, stderr or a file"), INTO(report_file),         \
        "Where reports are printed; of several ranks only 0 prints. A file lies in the directory, "  \
        "unless its name begins with '/'. Its name gets the rank, and -2 and so on if it is taken; "   \
        "later cycles are appended.")                                                              \
    KEY(ANNOUNCE, "output.announce", SWITCH("true"), INTO(announce),                               \
        "Name the file of each cycle, and how to open it, on standard error. Of several ranks "    \
        "only 0 does.")                                                                            \
    KEY(MAX_TRACE_SIZE, "output.max_trace_size",                                                   \
        BYTES("256 MiB", 64 * KIB, TIB), INTO(max_trace_bytes),                                    \
        "Largest size of one Chrome trace; the rest goes into further files.")                       \
    KEY(COMPRESS, "output.compress", SWITCH("true"), CHOSEN(compress),                             \
        "Compress the packets of Perfetto traces. Perfetto and Takt read both.")                   \
    KEY(STREAM, "output.stream", SWITCH("false"), INTO(stream),                                    \
        "Write NAME.CYCLE.partial.pftrace while recording, for programs that die. Once "           \
        "max_memory is half used, Takt frees written records, and reads the file back at "         \
        "stop. If it exceeds max_trace_size, it stays: no reports, no other traces.")              \
    KEY(CRASH_SAFE, "output.crash_safe", SWITCH("false"), INTO(crash_safe),                        \
        "Keep events in memory that survives the program, until it exits; NAME.PID.crash in "      \
        "the directory leads there. After a crash takt recover reads it.")                         \
    KEY(VIEW, "output.view", SWITCH("false"), INTO(view),                                          \
        "After stop, run takt view from PATH in the background. It prints a link that "            \
        "opens the last trace in ui.perfetto.dev once.")                                           \
    KEY(WIDTH, "output.width", COUNT("0", 0, 10000), INTO(width),                                  \
        "Columns of printed tables. 0: the terminal's, or 160 without a terminal. A "              \
        "line below a table names columns that did not fit.")
/* clang-format on */

#endif
