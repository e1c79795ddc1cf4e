#!/bin/bash
# make check where machines make it hard:
#
#     busy     beside eight busy loops and a disk that is written to, with make -j8
#     one      on one core, with 2 GiB of memory where control groups can be made
#     odd      in a folder with an umlaut (one with a blank is refused with a sentence), with a TMPDIR of
#              180 characters and a blank, umask 077, a German locale, a time zone with 45 minutes in it,
#              no HOME, closed standard input, and a slow reader of what it prints
#     twice    at the same time in two checkouts
#
#     hard.sh [ROUNDS]      HARD="busy odd" picks some
#
# Each runs in a clone of its own; logs are in TAKT_HARD (build/hard). A mistake is not hidden by a
# second try: there is none.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${TAKT_HARD:-$PWD/build/hard}
failures=0
mkdir -p "$folder"

# check CLONE COMMAND...: a new clone, and the command in it.
check() {
    local clone=$1
    rm -rf "$clone"
    git clone -q . "$clone"
    (cd "$clone" && "${@:2}")
}

busy() {
    local loads=()
    trap 'kill "${loads[@]}" 2>/dev/null || true' RETURN EXIT
    for _ in 1 2 3 4 5 6 7 8; do
        while :; do :; done &
        loads+=($!)
    done
    while :; do dd if=/dev/zero of="$folder/ballast" bs=1M count=200 conv=fsync 2>/dev/null; done &
    loads+=($!)
    check "$folder/busy" make -j8 check
}

# Both versions of control groups.
limit_memory() {
    local root=/sys/fs/cgroup file=memory.max
    [ -e $root/cgroup.controllers ] || root=$root/memory file=memory.limit_in_bytes
    mkdir -p $root/takt-hard && echo 2G >$root/takt-hard/$file && echo "$BASHPID" >$root/takt-hard/cgroup.procs
}

one() {
    limit_memory || echo "one: a control group cannot be made here: memory is not limited"
    check "$folder/one" taskset -c 0 make check
}

odd() {
    local long=$folder/"tmp dir"
    while [ ${#long} -lt 170 ]; do long+=/0123456789; done
    mkdir -p "$long" "$folder/locales"
    localedef -i de_DE -f UTF-8 "$folder/locales/de_DE.UTF-8" ||
        echo "odd: the German locale cannot be made here: the programs' locale is C"
    umask 077
    check "$folder/a Straße" make 2>&1 | grep 'cannot be built in'
    check "$folder/Straße" env -u HOME TMPDIR="$long" LOCPATH="$folder/locales" \
        LC_ALL=de_DE.UTF-8 TZ=Pacific/Chatham \
        make check <&- | while IFS= read -r line; do
        echo "$line"
        sleep 0.02
    done
}

twice() {
    local first status=0
    check "$folder/first" make check &
    first=$!
    check "$folder/second" make check || status=$?
    wait $first && return $status
}

for ((round = 1; round <= ${1:-1}; round++)); do
    for condition in ${HARD:-busy one odd twice}; do
        begin=$SECONDS log=$folder/$condition.$round.log
        if (set -o pipefail && $condition) >"$log" 2>&1; then
            echo "ok $condition, round $round: $(grep -E '[0-9]+ passed' "$log" | tr '\n' ' ') ($((SECONDS - begin)) s)"
        else
            echo "FAILED $condition, round $round ($((SECONDS - begin)) s): $log"
            grep -E '^FAILED|[0-9]+ passed|\*\*\*' "$log" | tail -n 20 | sed 's/^/    /'
            failures=$((failures + 1))
        fi
    done
done
[ "$failures" = 0 ]
