#!/bin/bash
# What graphs launch is in the scope that launched it, in each of three windows, where CUPTI's ids of
# graph launches are right in a process' first session alone; and where that cannot be helped the
# trace says so, and no graph is put into the scope of another call.
. "${0%/*}/../support/lib_script.sh"
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_LOG
export LD_LIBRARY_PATH=$build/simgpu/13 TAKT_CUPTI_LIBRARY=$build/simgpu/13/libcupti.so.13

# windows OPTIONS MODE...; the expected lines come from stdin.
windows() {
    timeout 600 "$build/test/simgpu/prog_graph_ids" "$1;kernel=1000" "${@:2}" >"$scratch/out" 2>&1 ||
        fail "$*: ends with $?"
    cat >"$scratch/expected"
    same "$*" "$scratch/expected" "$scratch/out"
}

right='right 20, wrong 0, none 0, plain 20, losses 0: CUPTI'
nodes='takt: launches of graphs are recorded node by node and then combined: a graph was instantiated while launches were not recorded as a whole, such as before the first warm-up, and CUPTI may crash if it records its launches so'
unsure=', scopes of graphs unsure'

# three OPTIONS VERSION MODE...
three() {
    local name="13.$(($2 / 100 % 10)) ($2)"
    windows "cupti.version=$2;$1" "${@:3}" <<<"$right $name
$right $name
$right $name"
}

# The releases that have the fault: one session for all windows, whatever they want.
for ids in right stale shifted; do
    three "cupti.graph_ids=$ids" 130001 node node node
    three "cupti.graph_ids=$ids" 130001 launch launch launch
done
three cupti.graph_ids=stale 130001 node launch node
three cupti.graph_ids=shifted 130100 node node node

# Whole launches have to go off when nodes are wanted.
windows 'cupti.version=130001;cupti.graph_ids=stale' launch node launch <<<"$right 13.0 (130001)
$right 13.0 (130001)$unsure
$right 13.0 (130001)$unsure"

# Until the program launches a graph, CUPTI goes off between windows.
alone='right 0, wrong 0, none 0, plain 20, losses 0: CUPTI 13.0 (130001)'
windows 'cupti.version=130001;cupti.graph_ids=right' plain plain node <<<"$alone
$alone
$right 13.0 (130001)$unsure"

# Others switch off between windows. A graph from before whole launches were recorded makes them nodes.
windows 'cupti.version=130101;cupti.graph_ids=right' node launch node <<<"$right 13.1 (130101)
$nodes
$right 13.1 (130101)
$right 13.1 (130101)"

# Ids that are wrong where nobody expects it: of a call that launches no graph, so it is not believed.
# Twenty activities have no known launch, and twenty launches no activity.
windows 'cupti.version=130101;cupti.graph_ids=shifted' node node <<<"$right 13.1 (130101)
right 0, wrong 0, none 20, plain 20, losses 40: CUPTI 13.1 (130101)"

finish "graphs are in their scopes in all windows"
