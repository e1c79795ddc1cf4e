#!/bin/bash
# check_truth.sh with other releases of CUPTI: their records have other layouts, and the result is
# the same.
. "${0%/*}/lib_truth.sh"

for flavour in 12 multi; do
    truth $flavour both node
    truth $flavour trace launch
done

finish "$runs runs, and all that Takt says of them is true"
