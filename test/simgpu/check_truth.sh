#!/bin/bash
# Takt reports what a simulation did: per scope, device, stream, step and call, to the nanosecond,
# in each report and file, at both levels of graphs, and with devices whose clocks drift apart.
. "${0%/*}/lib_truth.sh"

drift='clock.offset@0=-37us;clock.offset@1=3ms;clock.drift@0=20000;clock.drift@1=-30000'
truth 13 summary node
truth 13 both node
truth 13 trace launch
truth 13 trace node "$drift" 20000 -30000
if [ -z "${SAN-}" ]; then
    truth 13 trace node
    truth 13 trace node 'clock.offset@0=-37us;clock.offset@1=3ms'
    truth 13 summary launch
    truth 13 both launch
fi

finish "$runs runs, and all that Takt says of them is true"
