#!/bin/bash
# What a tool that listens to NVTX hears of Takt's ranges, and that nobody else does.
set -euo pipefail
cd "$TAKT_ROOT"
program=$TAKT_BUILD/test/unit/prog_nvtx
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

skip() {
    echo "$1"
    exit 77
}

nm "$program" | grep nvtxGlobals >/dev/null || skip "this build has no NVTX ranges"
"$program" 2>"$scratch/alone" || { cat "$scratch/alone"; exit 1; }

warning='log 1: NVTX range: unknown color "octarine"; try a name such as "yellow", or #rrggbb'
no_range="log 1: nsight: capture_range: step 1 is not in Nsight's recording, since the program has \
no CUDA context yet: use CUDA before the first recorded step"
too_many='log 1: NVTX range: too many domains: "d13" and later ones are left out'
{ echo "$warning"; echo "log 2: recording 1 step"; echo "$no_range"; echo "$too_many"; } >"$scratch/quiet"
diff "$scratch/quiet" "$scratch/alone"

include=
for home in "${CUDA_HOME:-/usr/local/cuda}"; do
    [ ! -e "$home/include/nvtx3/nvToolsExt.h" ] || { include=$home/include; break; }
done
[ -n "$include" ] || skip "the NVTX headers that Takt was built with are not here (CUDA_HOME)"
"$CC" -shared -fPIC -o "$scratch/tool.so" -isystem "$include" test/support/nvtx_injection.c

NVTX_INJECTION64_PATH=$scratch/tool.so "$program" 2>"$scratch/heard"
sed '/many/,$d; /domain d0$/,$d' "$scratch/heard" | diff - <(cat <<END
nvtx: start 1 first color 1 ffffff00
nvtx: start 2 second color 1 ff102030
nvtx: end 1
nvtx: end 2
nvtx: start 3 (null) color 1 ff7400ff
nvtx: end 3
$warning
nvtx: start 4 odd color 1 ff7400ff
nvtx: end 4
nvtx: start 5 odder color 1 ff7400ff
nvtx: end 5
nvtx: start 6 timer color 1 ffff0000
nvtx: end 6
nvtx: domain sph
nvtx: category 1 of sph is io
nvtx: start 7 write color 1 ff7400ff domain sph category 1 payload -1
nvtx: end 7 of sph
nvtx: start 8 write color 1 ff7400ff domain sph category 1 payload 0
nvtx: end 8 of sph
nvtx: category 2 of default is io
nvtx: start 9 read color 1 ff7400ff category 2
nvtx: end 9
log 2: recording 1 step
$no_range
nvtx: domain takt
nvtx: category 3 of takt is step
nvtx: start 10 step 1 color 1 ff7400ff domain takt category 3 payload 1
nvtx: end 10 of takt
END
)

# There are 15 domains, sph and takt among them; the other 3 of 16 ranges are in the default one, with
# the category that it has already.
expect() {
    [ "$(grep -c "$1" "$scratch/heard")" = "$2" ] || { echo "not $2 times: $1"; exit 1; }
}
expect '^log 1: NVTX range: too many domains: "d13" and later ones are left out$' 1
expect '^nvtx: domain d[0-9]*$' 13
expect '^nvtx: category [0-9]* of d[0-9]* is io$' 13
expect '^nvtx: start [0-9]* many color 1 ff7400ff domain d[0-9]* category [0-9]*$' 13
expect '^nvtx: start [0-9]* many color 1 ff7400ff category 2$' 3

# A library that does not exist, or is no tool, must not disturb the program.
for broken in "$scratch/missing.so" /dev/null; do
    NVTX_INJECTION64_PATH=$broken "$program" 2>&1 | diff "$scratch/quiet" -
done
