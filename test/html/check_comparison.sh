#!/bin/bash
# Pages of `takt diff --html` in Chromium: their numbers are those of `takt diff`, and timelines,
# flame graph and table lead to each other.
. "${0%/*}/../support/lib_script.sh"
. "${0%/*}/../support/lib_npm.sh"
. "${0%/*}/../cli/lib_compare.sh"
. "${0%/*}/lib_pages.sh"
here=$(cd "${0%/*}" && pwd) || exit 1

# The page of two traces, and what the terminal says of them.
compare() { # NAME A B
    "$takt" diff --html -o "$scratch/$1.html" "$2" "$3" >"$scratch/out" 2>&1 ||
        { echo "no page of $1: $(cat "$scratch/out")" && exit 1; }
    "$takt" diff --json --rows 1000 "$2" "$3" >"$scratch/$1.json" 2>/dev/null
    "$takt" diff --markdown --rows 1000 "$2" "$3" >"$scratch/$1.md" 2>/dev/null
    "$takt" diff --json --by-path --rows all "$2" "$3" >"$scratch/$1.paths.json" 2>/dev/null
}

# COUNT steps from FIRST_NS on, in which `forces` takes NS more in each; the last line is one more
# scope.
steps() { # FILE COUNT FIRST_NS NS SCOPE
    awk -v count="$2" -v first="$3" -v ns="$4" -v scope="$5" 'BEGIN {
        print "run fluid\ndevice Imaginary 9000\nthread main"
        for (i = 0; i < count; i++) {
            begin = first + i * 1000000
            longer = ns + i % 7 * 1000
            end = begin + 600000 + longer
            printf "step %d %d\n", begin, end
            printf "span -1 0 %d %d step\n", begin, end
            printf "span %d 0 %d %d forces\n", 4 * i, begin + 1000, begin + 400000 + longer
            printf "span %d 0 %d %d pairs\n", 4 * i + 1, begin + 2000, begin + 300000 + longer
            printf "launch %d %d %d kernel pairs\n", 4 * i + 2, begin + 3000, begin + 90000 + longer
        }
        printf "span -1 0 %d %d %s\n", first + count * 1000000, first + count * 1000000 + 70000, scope
        print "async io"
        for (i = 0; i < 5; i++)
            printf "span -1 0 %d %d read\n", i * 100000, i * 100000 + 250000 + ns
    }' | trace "$1" || exit 1
}
steps "$scratch/a.pftrace" 40 1000000 0 '<b>before</b>'
steps "$scratch/b.pftrace" 30 3000000 200000 'after'
compare steps "$scratch/a.pftrace" "$scratch/b.pftrace"
compare same "$scratch/a.pftrace" "$scratch/a.pftrace"

# Runs without steps and with few names in common; nothing at all; a summary.
{ printf 'thread main\n' && calls solve 30 50000 0 && calls before 3 90000 40; } |
    trace "$scratch/whole.pftrace" || exit 1
{ printf 'thread main\n' && calls solve 20 80000 0 && calls after 3 40000 40; } |
    trace "$scratch/other.pftrace" || exit 1
printf 'thread main\n' | trace "$scratch/nothing.pftrace" || exit 1
run_of "$scratch/few.pftrace" 60000 30000 summary
compare whole "$scratch/whole.pftrace" "$scratch/other.pftrace"
compare nothing "$scratch/whole.pftrace" "$scratch/nothing.pftrace"
compare neither "$scratch/nothing.pftrace" "$scratch/nothing.pftrace"
compare half "$scratch/a.pftrace" "$scratch/whole.pftrace"
compare summary "$scratch/few.pftrace" "$scratch/few.pftrace"
compare mixed "$scratch/a.pftrace" "$scratch/few.pftrace"

# 300,000 spans.
{ printf 'thread main\n' && calls work 300000 5000 0; } | trace "$scratch/large.pftrace" || exit 1
compare large "$scratch/large.pftrace" "$scratch/large.pftrace"

# Several runs a side: the page has the one in the middle.
mkdir "$scratch/base" "$scratch/new"
for i in 1 2 3 4 5; do
    device_run "$scratch/base/$i.pftrace" $((120000 + (i * 2 % 5) * 200))
    device_run "$scratch/new/$i.pftrace" $((131000 + (i * 3 % 5) * 300))
done
compare runs "$scratch/base" "$scratch/new"

torch_run 1 && torch_run 2
compare torch "$scratch/torch1.json" "$scratch/torch2.json"

for i in 1 2; do
    "$build/test/html/prog_hostile" "$scratch/hostile$i.pftrace" || { echo "prog_hostile fails" && exit 1; }
done
compare hostile "$scratch/hostile1.pftrace" "$scratch/hostile2.pftrace"

fluid() { # PARTICLES
    "$TAKT_BIN/samples/sph" --steps 40 --particles "$1" --profiling.active 40 --profiling.wait 0 \
        --profiling.warmup 0 --output.traces perfetto --output.directory "$scratch/fluid$1" \
        >"$scratch/out" 2>&1 || { echo "sph fails: $(cat "$scratch/out")" && exit 1; }
}
fluid 1000 && fluid 1200
compare fluid "$scratch/fluid1000/sph.0.pftrace" "$scratch/fluid1200/sph.0.pftrace"

# A simulation on the stand-ins, whose kernel becomes slower.
simulate_kernel() { # US
    echo "profiling: {name: sim, active: 0}
output: {directory: $scratch/sim$1, traces: [perfetto]}" >"$scratch/sim.yaml"
    TAKT_SIM="kernel.advance=$1us; memcpy.DtoH=7us" TAKT_CONFIG=$scratch/sim.yaml \
        on_stand_ins "$build/test/simgpu/prog_simulation" return
}
simulate_kernel 30 && simulate_kernel 42
compare sim "$scratch/sim30/sim.0.pftrace" "$scratch/sim42/sim.0.pftrace"

node "$here/comparison_test.js" "$scratch"
status=$?
[ $status = 0 ] && finish "pages of two runs show what takt diff says$pictures"
exit $status
