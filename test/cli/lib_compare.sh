# Sourced by the tests of `takt diff` and `takt check`, after lib_cli.sh: traces made for comparing.
# shellcheck shell=bash
prog=$TAKT_BUILD/test/cli/prog_trace

# Writes the trace that standard input describes.
trace() { # FILE
    "$prog" "$1" 2>"$scratch/errors" || { echo "prog_trace $1 fails" && cat "$scratch/errors" && exit 1; }
}

# COUNT spans of NAME, one each millisecond from millisecond FIRST on, about NS long.
calls() { # NAME COUNT NS FIRST
    awk -v name="$1" -v count="$2" -v ns="$3" -v first="$4" 'BEGIN {
        for (i = 0; i < count; i++) {
            begin = (first + i) * 1000000
            printf "span -1 0 %.0f %.0f %s\n", begin, begin + int(ns + i * 7919 % 13 * ns / 1000), name
        }
    }'
}

# The same of a device.
kernels() { # NAME COUNT NS
    calls "$@" 0 | sed 's/^span -1 0/activity/'
}

# A run in which `forces` and `kernel density` take so long, and each step STEP_NS; the rest is always
# the same.
run_of() { # FILE FORCES_NS DENSITY_NS [LINES [STEP_NS]]
    {
        echo 'run fluid'
        printf '%s\n' "backend ${backend-CUPTI 13.0 (130001)}" "device ${device-Imaginary 9000}"
        echo "${4-}"
        echo 'thread main'
        calls neighbours 30 40000 0
        calls forces 30 "$2" 100
        calls output 2 90000 200
        kernels 'kernel density' 40 "$3"
        calls step 10 "${5-800000}" 300 | sed -nE 's/^span -1 0 ([0-9]+) ([0-9]+) .*/step \1 \2/p'
    } | trace "$1" || exit 1
}

# A run on a device: 20 steps whose scope `forces` launches `kernel pairs`, which takes about NS.
device_run() { # FILE NS
    {
        printf 'run fluid\nbackend CUPTI 13.0 (130001)\ndevice Imaginary 9000\nthread main\n'
        awk -v ns="$2" 'BEGIN {
            for (i = 0; i < 20; i++) {
                begin = i * 1000000
                printf "step %d %d\n", begin, begin + 400000
                printf "span -1 0 %d %d step\n", begin, begin + 400000
                printf "span %d 0 %d %d forces\n", 3 * i, begin, begin + 5000
                printf "launch %d %d %d kernel pairs\n", 3 * i + 1, begin, begin + ns + i % 7 * 50
            }
        }'
    } | trace "$1" || exit 1
}
