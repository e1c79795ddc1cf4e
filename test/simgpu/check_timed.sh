#!/bin/bash
# The sample of a timed call on a simulated device, value by value: a kernel of 10 us, a copy of 2 ms,
# 4 MiB that are allocated and freed.
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/../..}"
sim=$TAKT_BUILD/simgpu/13
LD_LIBRARY_PATH=$sim TAKT_CUPTI_LIBRARY=$sim/libcupti.so.13 \
    TAKT_SIM='kernel=10us; memcpy.HtoD=2ms; overhead.load=3ms' "$TAKT_BIN/samples/timed" \
    >"$TMPDIR/printed"

# Times of the host depend on the machine, and so does the moment of the peak.
sed -nE '/^kernel saxpy/s/ +/ /gp; /^saxpy/s/ +/ /gp
         /^timed\.c:[0-9]+: 20 repetitions$/,$ { /^  on devices/,$!d; s/^(  (loading|peak at)) .*/\1/; p }' \
    "$TMPDIR/printed" >"$TMPDIR/values"
diff - "$TMPDIR/values" <<'END'
kernel saxpy 20 100.00% 200.000us 10.000us 10.000us 10.000us 10.000us 0.000us 4096,1,1 256,1,1 32 100.00% warps
saxpy scope device 20 200.000us 10.000us 0.50% 1258.3 100.00% 124.82% 209.715 0.25% memory
  on devices, 2.0 activities a repetition:
  mean          2.010 ms
  median        2.010 ms
  min           2.010 ms
  max           2.010 ms
  stddev        0.000 us
  loading
  memory         4.00 MiB at most, 0 B now
  peak at
  free          24.00 GiB of 24.00 GiB
  work        209.715 GFLOP/s of device time
  used          0.254% of 82.575 TFLOP/s fp32
  moved        1258.3 GB/s of device time
The device computes nothing (is it simulated?): results are not checked.
END
