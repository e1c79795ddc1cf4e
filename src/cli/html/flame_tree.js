/* Trees for the flame graph: time by call path. A node has a name, a kind ('scope', 'call',
 * 'activity' or 'frame'), its parent and children, its total and self time, and a count. Paths are
 * made from spans or, if the page has not all of them, from the report "tree". */
'use strict';

function makeNode(name, kind = 'scope', parent = null) {
    return {name, kind, parent, children: new Map(), total: 0, self: 0, count: 0, order: 0};
}

/* Returns a child and adds it if it is missing. Calls have keys of their own, because a scope may
 * have the name of a call. */
function childOf(node, name, kind = 'scope') {
    const key = kind === 'call' ? `\n${name}` : name;
    let child = node.children.get(key);
    if (!child) {
        child = makeNode(name, kind, node);
        child.order = node.children.size;
        node.children.set(key, child);
    }
    return child;
}

/* Computes self times from totals. A call into CUDA is part of its scope's self time, as in the
 * reports. */
function settleSelf(node) {
    node.self = node.total;
    for (const child of node.children.values()) {
        settleSelf(child);
        if (child.kind !== 'call')
            node.self -= child.total;
    }
    return node;
}

/* Computes totals from the self times of all nodes below. */
function settleTotals(node) {
    node.total = node.self;
    for (const child of node.children.values())
        node.total += settleTotals(child).total;
    return node;
}

/* Adds a thread's spans to a tree, and returns the node of each. */
function addThread(trace, track, root) {
    const {what, depth, duration, flags} = track.events;
    const names = namesOf(trace, track);
    const nodes = new Array(track.count);
    const open = [];
    for (let i = 0; i < track.count; i++) {
        const parent = depth[i] > 0 ? open[depth[i] - 1] : root;
        const node = childOf(parent, names[what[i]], flags[i] & SPAN_CALL ? 'call' : 'scope');
        node.total += duration[i];
        node.count++;
        if (depth[i] === 0)
            root.total += duration[i];
        open[depth[i]] = nodes[i] = node;
    }
    return nodes;
}

/* Returns the tree of the host's scopes. `trace.nodes` then has the node of each span, by track. */
function hostTree(trace) {
    if (!trace.hostTree) {
        trace.hostTree = makeNode('all scopes');
        trace.nodes = trace.tracks.map((track) => (track.kind === 'thread' ?
            addThread(trace, track, trace.hostTree) : []));
        settleSelf(trace.hostTree);
    }
    return trace.hostTree;
}

/* Returns the tree of a device: its activities below the scopes that launched them. */
function deviceTree(trace, device) {
    hostTree(trace);
    const root = makeNode(device);
    const known = new Map([[trace.hostTree, root]]);
    const pathOf = (node) => {
        if (!known.has(node))
            known.set(node, childOf(pathOf(node.parent), node.name, node.kind));
        return known.get(node);
    };
    for (const stream of trace.tracks.filter((t) => t.kind === 'stream' && t.group === device)) {
        const {what, duration, track, scope, scopeName} = stream.events;
        const names = namesOf(trace, stream);
        for (let i = 0; i < stream.count; i++) {
            const above = track[i] && scope[i] ? pathOf(trace.nodes[track[i] - 1][scope[i] - 1]) :
                scopeName[i] ? childOf(root, trace.strings[scopeName[i]]) : root;
            const node = childOf(above, names[what[i]], 'activity');
            node.self += duration[i];
            node.count++;
        }
    }
    return settleTotals(root);
}

/* Returns the self time of each of a thread's spans; calls into CUDA count for themselves. */
function selfTimes(track) {
    const {depth, duration} = track.events;
    const self = Float64Array.from(duration);
    const open = [];
    for (let i = 0; i < track.count; i++) {
        open[depth[i]] = i;
        if (depth[i] > 0)
            self[open[depth[i] - 1]] -= duration[i];
    }
    return self;
}

/* Returns the tree of call stacks: functions from the outermost on, with the scope that each begin
 * recorded as the innermost. */
function stackTree(trace) {
    const root = makeNode('all call stacks');
    const ends = trace.stacks.map((frames) => frames.reduceRight(
        (node, frame) => childOf(node, frame, 'frame'), root));
    for (const track of trace.tracks.filter((t) => t.kind === 'thread')) {
        const {what, stack, flags} = track.events;
        const names = namesOf(trace, track);
        const self = selfTimes(track);
        for (let i = 0; i < track.count; i++) {
            const above = stack[i] ? ends[stack[i] - 1] : childOf(root, '(no call stack)', 'frame');
            const node = childOf(above, names[what[i]], flags[i] & SPAN_CALL ? 'call' : 'scope');
            node.self += self[i];
            node.count++;
        }
    }
    return settleTotals(root);
}

/* Returns a tree made from the report "tree": host times, or times of all devices. */
function reportTree(report, title, totalKey, selfKey) {
    const root = makeNode(title);
    const open = [];
    for (const row of report.rows) {
        const node = childOf(row.depth > 0 ? open[row.depth - 1] : root, row.name);
        node.total = row[totalKey] ?? 0;
        node.self = row[selfKey] ?? 0;
        node.count = row.calls;
        if (row.depth === 0)
            root.total += node.total;
        open[row.depth] = node;
    }
    return root;
}

/* Returns the trees that a trace has, as [title, make]. */
function flameTrees(trace) {
    const {tree} = trace.tables;
    const has = (kind) => trace.tracks.some((track) => track.kind === kind && track.count);
    if (!trace.facts.has_spans || trace.hidden.count) {
        const rows = tree?.rows ?? [];
        return [
            rows.length && ['Host', () =>
                reportTree(tree, 'all scopes', 'cpu_total_ns', 'self_cpu_ns')],
            rows.some((row) => row.cuda_total_ns) && ['Devices', () =>
                reportTree(tree, 'all devices', 'cuda_total_ns', 'self_cuda_ns')],
        ].filter(Boolean);
    }
    return [
        has('thread') && ['Host', () => hostTree(trace)],
        ...deviceNames(trace).map((device) => [device, () => deviceTree(trace, device)]),
        trace.stacks.length && has('thread') && ['Call stacks', () => stackTree(trace)],
    ].filter(Boolean);
}

/* Calls f(node) for each node that is not below another one for which f returned true. */
function eachOutermost(node, f) {
    if (!f(node))
        for (const child of node.children.values())
            eachOutermost(child, f);
}

function addSubtree(target, source) {
    target.total += source.total;
    target.self += source.self;
    target.count += source.count;
    for (const child of source.children.values())
        addSubtree(childOf(target, child.name, child.kind), child);
}

/* Returns what a name's occurrences call, and what calls them, each as a tree whose root is the
 * name. Time of a recursive call counts once. */
function sandwichOf(root, {name, kind}) {
    const callees = makeNode(name, kind);
    const callers = makeNode(name, kind);
    eachOutermost(root, (node) => {
        if (node.name !== name || node.kind !== kind)
            return false;
        addSubtree(callees, node);
        let target = callers;
        for (let above = node.parent; ; above = above.parent) {
            target.total += node.total;
            target.count += node.count;
            if (!above?.parent)
                return true;
            target = childOf(target, above.name, above.kind);
        }
    });
    return {callees, callers};
}

/* Returns rectangles for a tree: {node, x, width, depth}, with x and width as shares of the root.
 * Children are in order of time spent or of first begin. Frames narrower than `least` are left
 * out. */
function layOutFlame(root, isByTime, least) {
    const frames = [];
    const compare = isByTime ? (a, b) => b.total - a.total || a.order - b.order :
        (a, b) => a.order - b.order;
    const place = (node, x, depth) => {
        const width = node.total / (root.total || 1);
        if (width < least && depth > 0)
            return;
        frames.push({node, x, width, depth});
        for (const child of [...node.children.values()].sort(compare)) {
            place(child, x, depth + 1);
            x += child.total / (root.total || 1);
        }
    };
    place(root, 0, 0);
    return frames;
}
