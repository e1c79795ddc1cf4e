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
diff <(echo "$warning") "$scratch/alone"

include=
for home in "${CUDA_HOME-}" /usr/local/cuda; do
    [ ! -e "$home/include/nvtx3/nvToolsExt.h" ] || { include=$home/include; break; }
done
[ -n "$include" ] || skip "the NVTX headers that Takt was built with are not here (CUDA_HOME)"
"$CC" -shared -fPIC -o "$scratch/tool.so" -isystem "$include" test/support/nvtx_injection.c

NVTX_INJECTION64_PATH=$scratch/tool.so "$program" 2>"$scratch/heard"
diff - "$scratch/heard" <<END
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
END

# A library that does not exist, or is no tool, must not disturb the program.
for broken in "$scratch/missing.so" /dev/null; do
    NVTX_INJECTION64_PATH=$broken "$program" 2>&1 | diff <(echo "$warning") -
done
