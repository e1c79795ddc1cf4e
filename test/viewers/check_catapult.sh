#!/bin/bash
# Catapult's trace viewer, which chrome://tracing is, reads exports as Takt's own tables have them.
. "${0%/*}/lib_viewers.sh"
need node npm
npm_package traceviewer 1.0.11
make_views chrome json
cd "$scratch" || exit 1 # its loader takes paths that begin like the current folder's for relative
# shellcheck disable=SC2154,SC2086 # the libraries set them; a word for each trace
node "$here/catapult_test.js" "$node_modules/traceviewer" "$scratch" $names
