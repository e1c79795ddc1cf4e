#!/bin/bash
# Takes a function out of a shared library, in place: its name in the table of symbols becomes another
# one of the same length.
#
#     hide_symbol.sh LIBRARY FUNCTION
set -euo pipefail
library=$1 function=$2
LC_ALL=C grep -q "$function" "$library"
LC_ALL=C sed -i "s/\x00$function\x00/\x00X${function:1}\x00/g" "$library"
