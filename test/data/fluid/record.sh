#!/bin/sh
# Records runs of the fluid, as README.md says, onto standard output:
#
#     record.sh RUNS THREADS [PREFIX...]      such as: record.sh 60 2 chrt -f 10
set -eu
runs=$1 threads=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
first=$(date +%s%N)
for run in $(seq "$runs"); do
    begin=$(date +%s%N)
    OMP_NUM_THREADS=$threads TAKT_OPTIONS="profiling.wait=20 profiling.warmup=1 profiling.active=100
        reports= output.traces=perfetto output.directory=$folder/$run" \
        "$@" bin/samples/sph --particles 1000 --steps 125 --device cpu --quiet >"$folder/out"
    mkdir "$folder/csv"
    bin/takt export --csv -o "$folder/csv" "$folder/$run"/*.pftrace >"$folder/out"
    printf '%s' $(((begin - first) / 1000000))
    sed 1d "$folder/csv/steps.csv" | tr -d '\r' | cut -d, -f4 | tr '\n' ' ' | sed 's/^/ /; s/ $//'
    echo
    rm -r "$folder/csv"
done
