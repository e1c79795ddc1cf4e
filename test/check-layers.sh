#!/bin/bash
# Fails where a file includes what it may not: a layer of src/ another than test/layers.txt allows,
# a sample anything of Takt but takt/*.h, a public header more than it promises.
#
# It fails, too, where docs/architecture.md shows another graph than the includes make.
#
#     check-layers.sh [ROOT]         checks
#     check-layers.sh graph [ROOT]   prints the graph, for Mermaid: which folder includes which
set -euo pipefail
[ "${1-}" = graph ] && is_graph=1 && shift
cd "${1:-${TAKT_ROOT:-$(dirname "$0")/..}}"

# Prints "file:line: #include ..." as "file line how what", where how is < or ".
includes() {
    find "$1" -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.cuh' | sort |
        xargs -r grep -nHE '^[[:space:]]*#[[:space:]]*include' /dev/null |
        sed -nE 's/^([^:]*):([0-9]+):[^<"]*([<"])([^>"]*).*/\1 \2 \3 \4/p'
}

# All include base, so that base is not drawn.
graph() {
    echo 'graph LR'
    includes src | awk '{
        split($1, from, "/")
        if ($3 == "\"" && split($4, to, "/") > 1 && from[2] != to[1] && to[1] != "base")
            print "    " from[2] " --> " to[1]
    }' | sort -u
}
[ -z "${is_graph-}" ] || { graph && exit; }

{
    sed -e 's/#.*//' -e 's/:/ /' -e '/^[[:space:]]*$/d' -e 's/^/layer /' test/layers.txt
    includes src
    includes samples
    includes include
} | awk '
    function wrong(why) {
        printf "%s:%s: includes %s: %s\n", $1, $2, $4, why
        errors++
    }
    function in_layer(layer,    parts) {
        if (!(layer in known)) {
            wrong("src/" layer " is not in test/layers.txt")
        } else if ($3 == "<") {
            if ($4 ~ /^nvtx3\// && layer != "nvtx")
                wrong("NVTX belongs to src/nvtx")
            if ($4 ~ /^(cuda|cupti)/)
                wrong("what Takt uses of CUDA is declared in src/cuda/abi.h")
        } else if ($4 ~ /\.\./) {
            wrong("write the path from src/")
        } else if (split($4, parts, "/") > 1 && parts[1] != layer) {
            if (!((layer, parts[1]) in allowed) && !((layer, $4) in allowed))
                wrong("src/" layer " may not include src/" $4)
        }
    }
    $1 == "layer" {
        known[$2]
        for (i = 3; i <= NF; i++)
            allowed[$2, $i]
        next
    }
    { files++ }
    $4 ~ /^takt\// { next }
    $1 ~ /^src\// { split($1, path, "/"); in_layer(path[2]); next }
    $1 ~ /^samples\// && $3 == "\"" && $4 ~ /\// { wrong("samples see only takt/*.h"); next }
    $1 ~ /^include.*\.h$/ && ($4 == "stdio.h" || $4 !~ /^std[a-z]*\.h$|^type_traits$/) {
        wrong("a public header includes only <takt/*.h> and <std*.h>, but not <stdio.h>, and <type_traits>")
    }
    END {
        if (!files) { print "no includes found under " ENVIRON["PWD"]; errors++ }
        exit errors != 0
    }'

drawn=$(sed -n '/^```mermaid$/,/^```$/p' docs/architecture.md 2>/dev/null | sed '1d;$d')
[ ! -e docs/architecture.md ] || [ "$drawn" = "$(graph)" ] || {
    echo 'docs/architecture.md shows another graph of includes than `make include-graph` prints'
    exit 1
}
