#!/bin/bash
# The lists of tests, test/sanitizers.txt and test/long.txt, name tests that there are, each once
# for a sanitizer.
. "${0%/*}/support/lib_script.sh"
cd "$TAKT_ROOT" || exit 1

exist() { # LIST NAME...
    local list=$1 name
    [ $# -gt 1 ] || fail "$list names no test"
    for name in "${@:2}"; do
        grep -qxF -- "$name" <<<"$TEST_NAMES" || fail "$list: there is no test $name"
    done
}
names_of() { test/support/left-out.sh "$1"; }

mapfile -t names < <(names_of address && names_of thread)
exist sanitizers.txt "${names[@]}"
for san in address thread; do
    twice=$(names_of $san | sort | uniq -d)
    [ -z "$twice" ] || fail "sanitizers.txt: $san leaves out more than once: $twice"
done
[ "$(names_of address,undefined)" = "$(names_of address)" ] ||
    fail "undefined changes what is left out"
[ -z "$(names_of '')" ] || fail "a build without sanitizers leaves out: $(names_of '')"
odd=$(grep -nE ':$' test/sanitizers.txt | grep -vE '^[0-9]+:(any|address|thread), .{20}')
[ -z "$odd" ] || fail "sanitizers.txt: no sanitizer or no reason: $odd"

mapfile -t names < <(grep -v '^#' test/long.txt)
exist long.txt "${names[@]}"

finish "all listed tests are there"
