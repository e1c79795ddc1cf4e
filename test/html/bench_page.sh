#!/bin/bash
# A page with a million spans and about as many activities, of a stand-in GPU: its size, how soon
# it is ready in Chromium, and the frames while panning. Not a test: it prints what it measures.
. "${0%/*}/../support/lib_script.sh"
. "${0%/*}/../support/lib_npm.sh"
. "${0%/*}/lib_pages.sh"
large_page
"$takt" info "$large/large.0.pftrace" | grep -E 'contents|losses'
node "${0%/*}/bench_page.js" "$large/large.html" "$@"
