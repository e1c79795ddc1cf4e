#!/bin/bash
# Runs `BENCH --lttng-active` inside an LTTng session of its own, with a daemon of its own, and takes
# both away again. Fails, quietly, where a daemon runs already or none can be started.
#
#     lttng-active.sh BENCH
set -eu
bench=$1
exec 3>&1 >/dev/null 2>&1
command -v lttng lttng-sessiond
! lttng --no-sessiond list || exit 1

scratch=$(mktemp -d)
export LTTNG_HOME=$scratch
lttng-sessiond --no-kernel --daemonize --pidfile="$scratch/pid"
trap 'kill "$(cat "$scratch/pid")"; rm -rf "$scratch"' EXIT

# Memory that is overwritten when it is full, so that the disk is not measured.
lttng --no-sessiond create takt-bench --snapshot --output="$scratch/trace"
lttng --no-sessiond enable-channel --userspace --overwrite --subbuf-size=1M --num-subbuf=4 channel
lttng --no-sessiond enable-event --userspace --channel=channel 'takt_bench:*'
lttng --no-sessiond start
LTTNG_UST_REGISTER_TIMEOUT=5000 "$bench" --lttng-active >&3
lttng --no-sessiond destroy takt-bench
