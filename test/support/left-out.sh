#!/bin/sh
# Prints the names of the tests that test/sanitizers.txt leaves out of a build.
#
#     left-out.sh SAN     with SAN as make has it
exec awk -v san=",$1," '
    /^#/ { next }
    /:$/ {
        split($1, word, ",")
        is_out = word[1] == "any" ? san != ",," : index(san, "," word[1] ",")
        next
    }
    is_out { for (i = 1; i <= NF; i++) print $i }' "${0%/*}/../sanitizers.txt"
