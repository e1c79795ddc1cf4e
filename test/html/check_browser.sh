#!/bin/bash
# Pages of `takt report --html` in Chromium: they open from a file, ask nothing of the network, and
# do what people want of them.
. "${0%/*}/../support/lib_script.sh"
. "${0%/*}/../support/lib_npm.sh"
. "${0%/*}/lib_pages.sh"
here=$(cd "${0%/*}" && pwd) || exit 1

simulate sim trace
simulate summary summary
for report in summary timeline activities scopes kernels tree; do
    "$takt" report --$report --json --rows all "$scratch/sim/sim.0.pftrace" >"$scratch/$report.json"
done

fluid_page
"$takt" report --tree --json --rows all "$scratch/fluid/sph.0.pftrace" >"$scratch/fluid-tree.json"
torch_run 1
page torch "$scratch/torch1.json"
"$build/test/html/prog_hostile" "$scratch/hostile.pftrace" && page hostile "$scratch/hostile.pftrace"
"$build/test/html/prog_hostile" "$scratch/empty.pftrace" nothing && page empty "$scratch/empty.pftrace"

node "$here/page_test.js" "$scratch" && node "$here/ways_test.js" "$scratch" &&
    node "$here/views_test.js" "$scratch"
status=$?
[ $status = 0 ] && finish "pages open, and do what they are asked to$pictures"
exit $status
