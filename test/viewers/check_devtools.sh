#!/bin/bash
# The engine of Chrome DevTools' panel "Performance" reads exports as Takt's own tables have them.
. "${0%/*}/lib_viewers.sh"
need node npm
npm_package @paulirish/trace_engine 0.0.65
npm_package third-party-web 0.30.0 # the engine loads both
npm_package legacy-javascript 0.0.1
make_views chrome json
# shellcheck disable=SC2154,SC2086 # the libraries set them; a word for each trace
node "$here/devtools_test.mjs" "$node_modules/@paulirish/trace_engine" "$scratch" $names
