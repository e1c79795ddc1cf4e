#!/bin/bash
# Catapult's trace viewer, which chrome://tracing is, reads exports as Takt's own tables have them.
. "${0%/*}/lib_viewers.sh"
need node npm
npm_package traceviewer 1.0.11
make_views chrome json
# shellcheck disable=SC2154,SC2086 # the libraries set them; a word for each trace
node "$here/catapult_test.js" "$node_modules/traceviewer" "$scratch" $names
