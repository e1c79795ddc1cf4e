#!/bin/bash
# Files that nobody meant to be traces, and traces that somebody meant to do harm with: every verb
# tells what is wrong or shows what there is; no control character reaches the terminal, and nothing
# is left of a file that could not be written.
. "${0%/*}/lib_cli.sh"
corpus=$PWD/test/fuzz/corpus/trace
make=$(cd "${TAKT_BUILD:-build}/test/cli" && pwd)/prog_trace
cd "$scratch" || exit 1

reports=$("$takt" help report | sed -n 's/^      \(--[a-z]*\)  .*/\1/p' |
    grep -vxE -- '--(json|csv|markdown|html|flops|all)')
formats=$("$takt" help export | sed -n 's/^      --\([a-z-]*\)  .*/\1/p' |
    grep -vxE 'json|max-size|plain|per-device|no-waits')
[ "$(wc -w <<<"$reports")" -ge 13 ] || fail "help names only these reports" "$reports"
[ "$(wc -w <<<"$formats")" -ge 9 ] || fail "help names only these formats" "$formats"
has_sqlite=yes
if "$takt" doctor | grep -q libsqlite3-dev; then
    leave_out "SQLite's files" "takt was built without SQLite"
    formats=${formats/sqlite/} has_sqlite=
fi

# Controls but line breaks: C0, DEL, C1, and what turns or breaks lines.
raw=$'[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]'
harmless() {
    ! grep -qaP "$raw" "$scratch/out" "$scratch/err" || fail "shows control characters" \
        "$(grep -haP "$raw" "$scratch/out" "$scratch/err" | cat -v)"
}

# Runs `takt ARGS...`, which must end with $1 and be harmless; if it fails, one line says why, and
# JSON is an empty list.
ends() {
    local expected=$1
    shift
    run "$@"
    status_is "$expected"
    harmless
    [ "$expected" = 0 ] || [ "${out:-[]} $(wc -l <<<"$err")" = "[] 1" ] || fail "tells this" "$out$err"
}

# Every verb; $1 is the status and $2 the file.
every_verb() {
    local format
    mkdir written
    ends "$1" info "$2"
    for format in "" --json --csv --markdown; do
        # shellcheck disable=SC2086 # words
        ends "$1" report $reports $format --all --flops --by-arguments --by-stack 3 --rows all "$2"
    done
    ends "$1" report --html -o written/page.html "$2"
    for format in $formats; do
        case $1-$format-$2 in
        0-stacks* | 0-folded*-nothing.pftrace | 0-folded-device-o*) ends 1 export --"$format" -o "written/$format" "$2" ;;
        *) ends "$1" export --"$format" -o "written/$format" "$2" ;;
        esac
    done
    for format in "" --json --csv --markdown; do
        # shellcheck disable=SC2086 # words
        ends "$1" diff $format "$corpus/whole.pftrace" "$2"
    done
    run check --against "$corpus/whole.pftrace" "$2"
    status_is 2
    harmless
    [ "$1" = 0 ] || [ -z "$(ls -A written)" ] || fail "wrote something" "$(ls -A written)"
    [ -z "$(find written -name '*tmp*')" ] || fail "left files behind" "$(ls -A written)"
    rm -r written
}

# ---- No traces ----
: >empty.pftrace
head -c 3000 "$takt" >program.pftrace
echo '{"samples": []}' >chrome.pftrace
printf '\x1f\x8b' >cut.pftrace.gz
mkdir folder
for file in empty.pftrace program.pftrace chrome.pftrace cut.pftrace.gz folder missing; do
    every_verb 1 $file
done

# Members of a gzip file may follow one another: 640 MiB of zeros behind a good head. Reading stops
# at a limit, whatever else would come.
head -c 16777216 /dev/zero | gzip -9 >member
{ head -c 7 "$corpus/whole.pftrace" | gzip && for _ in $(seq 40); do cat member; done; } >bomb.pftrace.gz
ends 1 info bomb.pftrace.gz
err_is 'takt: bomb.pftrace.gz: not a trace: it unpacks to more than 256 times its size'

# ---- Traces with hardly anything in them ----
echo 'run nothing' | "$make" nothing.pftrace
printf 'run one\nthread main\nspan -1 0 10 20 a\n' | "$make" one.pftrace
printf 'run open\nthread main\nspan -1 2 10 20 a\n' | "$make" open.pftrace
for file in nothing one open; do
    every_verb 0 $file.pftrace
done

# ---- Names that mean something to terminals, pages and spreadsheets ----
name=$'=1+1;<script>alert(1)</script>\x1b[31m\x1b]0;t\x07\xc2\x9b0m\xe2\x80\xaert\xe2\x81\xa6\xe2\x80\xa8\xd8\x9c|`*_\\"\'&amp;,]]>-->\xff\xfe\r\x08\t\x7fend'
for line in run backend device thread 'span -1 0 10 2000' 'call 0 20 30' 'activity 30 900' async \
    'span -1 0 10 20'; do
    echo "$line $name"
done | "$make" names.pftrace
every_verb 0 names.pftrace
run diff names.pftrace "$corpus/whole.pftrace"
out_has 'backends differ: =1\+1;<script>alert\(1\)</script>\?\[31m\?\]0;t\?\?0m\?rt\?'
run check --against "$corpus/whole.pftrace" names.pftrace
out_has '^not comparable: .*</script>\?\[31m\?'
run report --scopes --json names.pftrace
out_has '\\u001b\[31m.*\\u009b0m\\u202ert\\u2066\\u2028\\u061c'
run report --html -o names.html names.pftrace
! grep -q '<script>alert' names.html || fail "the page has a name's markup"

# ---- Where nothing can be written ----
for words in "report one.pftrace" "report --json one.pftrace" "info one.pftrace" "help" \
    "diff one.pftrace open.pftrace"; do
    # shellcheck disable=SC2086 # words
    "$takt" $words >/dev/full 2>err </dev/null
    [ $? = 1 ] && [ "$(cat err)" = "takt: standard output: No space left on device" ] ||
        fail "(to a full disk: $words) tells this" "$(cat err)"
done
# What a rename would take the place of: as root that is the device itself, or the link.
mkfifo device
ln -s device link
for file in device link; do
    [ -z "$has_sqlite" ] ||
        refused "-o .*device is not a regular file: name another file" export --sqlite -o $file one.pftrace
    refused "-o .*device is not a regular file: name another file" report --html -o $file one.pftrace
    [ -p $file ] || fail "$file was replaced"
done
# What another database has left would be applied to the new one.
if [ -n "$has_sqlite" ]; then
    ends 0 export --sqlite -o kept.db one.pftrace
    cp kept.db before.db
    for ending in wal journal; do
        echo log >kept.db-$ending
        ends 1 export --sqlite -o kept.db one.pftrace
        err_has "kept.db is not replaced: kept.db-$ending belongs to it"
        cmp -s kept.db before.db || fail "the database was replaced beside its -$ending"
        : >kept.db-$ending # nothing is left in it
    done
    ends 0 export --sqlite -o kept.db one.pftrace
fi
: >real && ln -s real link-to-file
for words in ${has_sqlite:+"export --sqlite"} "report --html"; do
    # shellcheck disable=SC2086 # words
    ends 0 $words -o link-to-file one.pftrace
    [ -L link-to-file ] && [ -s real ] || fail "the link was replaced" "$(ls -l)"
    : >real
done
# A folder of tables is whole, or not there.
mkdir -p tables/waits.csv
ends 1 export --csv -o tables one.pftrace
[ "$(ls tables)" = waits.csv ] || fail "left a part of the tables" "$(ls tables)"
(ulimit -f 0 && trap '' XFSZ && exec "$takt" export --csv -o full one.pftrace) >out 2>err
[ $? = 1 ] && [ ! -e full ] || fail "left a folder where no file could be written" "$(cat err; ls full)"

finish
