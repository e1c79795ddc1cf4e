#!/bin/bash
# Help texts, the version, and what is said to a wrong question.
. "${0%/*}/lib_cli.sh"

run --version
status_is 0
out_is "takt $(sed -nE 's/^#define TAKT_VERSION_(MAJOR|MINOR|PATCH) //p' \
    "${TAKT_ROOT:-.}/include/takt/base.h" | paste -sd.)"
silent

# Without a verb: the overview on standard error, since it was not asked for.
run
status_is 2
out_is ""
err_has '^Usage: takt VERB'

for words in help --help -h 'help help'; do
    # shellcheck disable=SC2086 # words
    run $words
    status_is 0
    silent
    for verb in report export diff check info config; do
        out_has "^  $verb +[a-z]"
    done
done

for verb in report export diff check info config; do
    run help $verb
    status_is 0
    silent
    out_has "^Usage: takt $verb "
    out_has '^  -h, --help '
    help_text=$out
    for option in --help -h; do
        run $verb $option
        status_is 0
        out_is "$help_text"
    done
    [ "$(awk 'length > 80' <<<"$help_text")" = "" ] || fail "help is wider than 80 columns" "$help_text"
    refused "^takt $verb: unknown option --no-such-thing\$" $verb --no-such-thing
    refused "^takt $verb: unknown option -Q\$" $verb -Q
    refused "^takt $verb: unknown option --hepl; did you mean --help\\?\$" $verb --hepl
    refused "^takt $verb: standard input \\(-\\) is not supported: name a file\$" $verb -
done

# The reports and formats that the design promises are options with a description.
run report --help
for report in timeline activities devices scopes tree memory steps summary; do
    out_has "^ +--$report +[A-Za-z]"
done
run export --help
for format in perfetto chrome folded speedscope; do
    out_has "^ +--$format +[A-Za-z]"
done

refused '^takt: unknown verb reprot; did you mean report\?$' reprot
refused '^takt: unknown verb exp; did you mean export\?$' exp
refused '^takt: unknown verb frobnicate$' frobnicate
refused '^takt: unknown verb frobnicate$' help frobnicate
refused '^takt: unknown option --json; options of a verb follow the verb$' --json
refused '^takt: unknown verb $' ''
touch "$scratch/run.pftrace"
refused '^takt: the verb is missing; did you mean: takt report .*/run.pftrace$' "$scratch/run.pftrace"
refused 'unknown verb \?\[31mred$' "$(printf '\033[31mred')"

refused '^takt report: unknown option --scops; did you mean --scopes\?$' report --scops x
refused '^takt report: unknown option --makrdown; did you mean --markdown\?$' report --makrdown x
refused '^takt report: no file given' report
refused '^takt report: no file given' report --scopes
refused '^takt report: --rows needs a value: N$' report --rows
refused '^takt report: --json takes no value$' report --json=yes x
for rows in 0 -3 ten 1x '' 99999999999999999999; do
    refused "^takt report: --rows \"$rows\": expected a number from 1 on, or all\$" report "--rows=$rows" x
done
refused '^takt report: --width "0": expected a number of columns' report --width 0 x
refused '^takt report: --color "blue": expected auto, always or never$' report --color blue x
refused '^takt report: --sort "": expected the name of a column$' report --sort '' x

refused '^takt info: no file given' info
refused '^takt export: no file given' export --chrome
refused '^takt export: no format given' export x
refused '^takt export: no format given' export -o out.xyz x
refused '^takt export: unknown option --crome; did you mean --chrome\?$' export --crome x
refused '^takt export: -o|^takt export: --output needs a value: OUT$' export --chrome x -o
refused '^takt export: --output is given twice$' export --chrome -o a -o b x
refused '^takt export: standard output \(-\) is not supported: name a file$' export --chrome -o - x
for size in 0 -1 big 1x 1e99 nan ''; do
    refused "^takt export: --max-size \"$size\": expected a size" export --chrome "--max-size=$size" x
done

refused '^takt config: no action given: check FILE, explain or options$' config
refused '^takt config: check: no file given: name a configuration$' config check
refused '^takt config: explain takes no file$' config explain x
refused '^takt config: unknown action explan; did you mean explain\?$' config explan
refused '^takt config: unknown action dance$' config dance

# A file that is called like an option follows "--".
run info -- --help
status_is 1
err_has '--help'

# Output that cannot be written is told, and is a failure.
if [ -w /dev/full ]; then
    "$takt" help >/dev/full 2>"$scratch/err"
    status=$? err=$(cat "$scratch/err") out='' ran='help >/dev/full'
    status_is 1
    err_is "takt: standard output: No space left on device"
fi

finish
