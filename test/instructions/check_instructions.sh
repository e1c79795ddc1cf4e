#!/bin/bash
# What each path of the interface costs in instructions, as callgrind counts them: exact, however
# busy the machine is. Fails above a path's budget, which holds for Debian 12's gcc and -O2; with
# another compiler or processor it only prints. A path that became cheaper by a tenth fails as well:
# then its budget in prog_paths.c is to follow.
. "${0%/*}/../support/lib_script.sh"
need valgrind
prog=$TAKT_BUILD/test/instructions/prog_paths
[ -x "$prog" ] || { echo "$prog is not built" && exit 1; }
cd "$scratch" || exit 1

valgrind --tool=callgrind --collect-atstart=no --callgrind-out-file=out "$prog" >paths 2>log || {
    cat log
    exit 1
}

compiler=$("$CC" -v 2>&1 | sed -n 's/^gcc version \([0-9]*\).*/gcc \1/p')
is_judged=no
[ "$compiler $(uname -m)" = "gcc 12 x86_64" ] && grep -q -- -O2 "$TAKT_BUILD/flags.stamp" && is_judged=yes

# Of the dump that the program asked for under this name.
instructions_of() {
    local dump
    dump=$(grep -l "^desc: Trigger: Client Request: $1\$" out.*) || return
    awk '$1 == "totals:" || $1 == "summary:" { count = $2 } END { print count }' "$dump"
}

printf '%-26s %12s %8s\n' path instructions budget
count=0
while read -r name times most; do
    all=$(instructions_of "$name")
    [ "$all" ] || { fail "$name: nothing was counted" && continue; }
    each=$(awk -v all="$all" -v times="$times" 'BEGIN { printf "%.1f", all / times }')
    printf '%-26s %12s %8s\n' "$name" "$each" "$most"
    count=$((count + 1))
    [ $is_judged = yes ] || continue
    awk -v each="$each" -v most="$most" 'BEGIN { exit !(each <= most) }' ||
        fail "$name takes $each instructions, more than $most"
    awk -v each="$each" -v most="$most" 'BEGIN { exit !(each >= 0.9 * most) }' ||
        fail "$name takes $each instructions: its budget of $most is out of date"
done <paths
[ "$count" -ge 20 ] || fail "only $count paths were counted"
[ $is_judged = yes ] && finish "no path takes more than its budget" && exit
finish "not judged: the budgets are those of gcc 12 on x86-64"
