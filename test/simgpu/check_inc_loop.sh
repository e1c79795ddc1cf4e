#!/bin/bash
# The demo of Warp's chapter on profiling, on simulated devices that take as long as those of that
# chapter: Takt prints its three tables, digit by digit. Once with the runtime as a library, and once
# with the runtime in the program, as nvcc links it unless told otherwise.
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/../..}"
demo=$TAKT_BIN/samples/inc_loop
[ -x "$demo" ] || { echo "no CUDA toolkit (CUDA_HOME)" && exit 77; }

export LD_LIBRARY_PATH=$TAKT_BUILD/simgpu/13 TAKT_SIM_SCRIPT=test/simgpu/inc_loop.sim
"${CXX:-c++}" ${SAN:+-fsanitize=$SAN} -o "$TMPDIR/static" "$TAKT_BUILD"/obj/samples/inc_loop.o \
    "$TAKT_BUILD"/obj/test/simgpu/cudart_*.o "$TAKT_LIB/libtakt.a" \
    "$LD_LIBRARY_PATH"/libcuda.so.1 "$LD_LIBRARY_PATH/libtaktsim.so" -pthread -ldl
! ldd "$TMPDIR/static" | grep libcudart || exit 1

cat >"$TMPDIR/expected" <<'END'
The device computes nothing (is it simulated?): results are not checked.
CUDA timeline:
----------------+---------+------------------------
Time            | Device  | Activity
----------------+---------+------------------------
    0.021504 ms | cuda:0  | memset
    0.163840 ms | cuda:0  | forward kernel inc_loop
    0.306176 ms | cuda:0  | forward kernel inc_loop
    0.451584 ms | cuda:0  | forward kernel inc_loop
    2.455520 ms | cuda:0  | memcpy DtoH
    0.051200 ms | cuda:1  | memset
    0.374784 ms | cuda:1  | forward kernel inc_loop
    0.707584 ms | cuda:1  | forward kernel inc_loop
    1.042432 ms | cuda:1  | forward kernel inc_loop
    2.136096 ms | cuda:1  | memcpy DtoH

CUDA activity summary:
----------------+---------+------------------------
Total time      | Count   | Activity
----------------+---------+------------------------
    0.072704 ms |       2 | memset
    3.046400 ms |       6 | forward kernel inc_loop
    4.591616 ms |       2 | memcpy DtoH

CUDA device summary:
----------------+---------+------------------------
Total time      | Count   | Device
----------------+---------+------------------------
    3.398624 ms |       5 | cuda:0
    4.312096 ms |       5 | cuda:1
Demo took N ms
END
for program in "$demo" "$TMPDIR/static"; do
    "$program" | sed -E 's/^(Demo took) [0-9.]+ ms$/\1 N ms/' >"$TMPDIR/tables"
    diff "$TMPDIR/expected" "$TMPDIR/tables"
done
