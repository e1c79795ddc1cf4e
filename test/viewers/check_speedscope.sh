#!/bin/bash
# The speedscope application in Chromium opens exports, and shows what Takt's own tables have.
# Pictures are left in $TAKT_BUILD/viewers/pictures, to be looked at.
. "${0%/*}/lib_viewers.sh"
need node npm
need_browser
npm_package playwright-core 1.49.1
npm_package speedscope 1.25.0
mkdir -p "$build/viewers/pictures"
make_views speedscope speedscope.json
# shellcheck disable=SC2154,SC2086 # the libraries set them; a word for each trace
node "$here/speedscope_test.js" "$node_modules/speedscope/dist/release/index.html" "$scratch" $names
