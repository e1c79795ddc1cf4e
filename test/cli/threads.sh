#!/bin/bash
# What the reports say of threads, their parts of parallel regions, tasks and counters is what a
# script finds in Chrome's file, for pools of 2, 8 and 64 threads, and for nested teams of OpenMP.
. "${0%/*}/../support/lib_script.sh"
need python3

for threads in 2 8 64; do
    "$TAKT_BUILD/test/cli/prog_threads" "$scratch/$threads" $threads >"$scratch/output" 2>&1 ||
        fail "prog_threads fails" "$(cat "$scratch/output")"
    python3 test/support/compare_threads.py "$takt" "$scratch/$threads/pool.0.pftrace" \
        "$scratch/$threads/pool.0.trace.json" >"$scratch/result" ||
        fail "$threads threads: $(cat "$scratch/result")"
    "$takt" report --threads --json "$scratch/$threads/pool.0.pftrace" >"$scratch/json"
    grep -q '"region": "jobs", "name": "job", "threads": '$threads, "$scratch/json" ||
        fail "$threads threads: not all of them are in the region"
done

# In each of three steps two threads, of which main is one, open "outer" and "assemble", and each has a
# team of two, so that one more thread opens "inner".
cat >"$scratch/nested.c" <<'END'
#include <takt/takt.h>
#include <omp.h>

static void work(int thread)
{
    TAKT_SCOPE("inner");
    for (volatile int i = 0; i < 200000 * (1 + thread); i++)
        continue;
}

int main(void)
{
    takt_profiler_start(NULL);
    omp_set_max_active_levels(2);
    for (int step = 0; step < 3; step++) {
        TAKT_SCOPE("step");
#pragma omp parallel num_threads(2)
        {
            TAKT_SCOPE("outer");
            TAKT_SCOPE("assemble");
#pragma omp parallel num_threads(2)
            work(omp_get_thread_num());
        }
    }
    takt_profiler_stop(NULL);
}
END
if [[ ${SAN-} == *thread* ]]; then
    leave_out "nested teams" "ThreadSanitizer does not know libgomp"
elif ! ${CC:-cc} -O1 -fopenmp ${SAN:+-fsanitize="$SAN"} -Iinclude "$scratch/nested.c" -o "$scratch/nested" \
    -L"$TAKT_LIB" -ltakt -Wl,-rpath,"$TAKT_LIB" >"$scratch/output" 2>&1; then
    leave_out "nested teams" "$(head -n 1 "$scratch/output")"
else
    TAKT_OPTIONS="profiling.active=0 profiling.name=nested reports= output.directory=$scratch
        output.traces=perfetto,chrome output.announce=false" "$scratch/nested" ||
        fail "nested teams: the program fails"
    python3 test/support/compare_threads.py "$takt" "$scratch/nested.0.pftrace" \
        "$scratch/nested.0.trace.json" >"$scratch/result" || fail "nested teams: $(cat "$scratch/result")"
    "$takt" report --threads --csv "$scratch/nested.0.pftrace" | tr -d '\r' | grep '^step,' |
        cut -d, -f 1,2,4 | sort | tr '\n' ' ' >"$scratch/regions"
    [ "$(cat "$scratch/regions")" = "step,inner,6 step,outer,6 " ] ||
        fail "nested teams: regions, names and calls $(cat "$scratch/regions")"
fi

finish "three pools and nested teams compared"
