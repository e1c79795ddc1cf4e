/* The list of reports, in the order in which people see them. To add a report, write a function
 * tkt_show_NAME() (see show.h) in a file of this folder and add a line here. takt_report(), the
 * configuration, the HTML page, and the command with its help, manual page and completion all use
 * this list. docs/reports.md has a section for each report.
 *
 * REPORT(NAME, WHEN, DESCRIPTION). A profiler prints a report WITH_CUDA only if a backend recorded
 * devices: programs without CUDA did not ask for the default list's `kernels`. */
#ifndef TKT_REPORT_REPORTS_H
#define TKT_REPORT_REPORTS_H

/* clang-format off */
#define TKT_REPORTS(REPORT) \
    REPORT(summary, ALWAYS, "one page: wall time, top scopes and activities, steps, memory, losses, advice") \
    REPORT(scopes, ALWAYS, "scopes by name: self and total CPU time, calls") \
    REPORT(tree, ALWAYS, "where time goes, by call path") \
    REPORT(threads, ALWAYS, "what each thread did: time in scopes, waits, parts of parallel regions") \
    REPORT(timeline, ALWAYS, "every activity, in issue order") \
    REPORT(activities, ALWAYS, "activities by name: total time, count") \
    REPORT(devices, ALWAYS, "activities by device: total time, count") \
    REPORT(steps, ALWAYS, "how long steps took, recorded ones and all") \
    REPORT(tasks, ALWAYS, "spans on tracks by name: times, how many at once") \
    REPORT(counters, ALWAYS, "counters by name: least, mean and greatest value, change per step") \
    REPORT(memory, ALWAYS, "memory of host and devices, largest allocations, copies") \
    REPORT(kernels, WITH_CUDA, "CUDA kernels by name: times, launch shapes, occupancy") \
    REPORT(phases, ALWAYS, "phases inside kernels: times, spread over blocks, the slowest blocks") \
    REPORT(ops, ALWAYS, "operations: declared work and copies, their rates, what bounds them") \
    REPORT(api, ALWAYS, "calls into CUDA by name: times, errors") \
    REPORT(launches, ALWAYS, "what was launched: times of calls, queues and kernels; is launching hidden?") \
    REPORT(gaps, ALWAYS, "when devices were idle, why, and what the host did meanwhile") \
    REPORT(compile, ALWAYS, "compiling and loading device code: phases by unit")
/* clang-format on */

#endif
