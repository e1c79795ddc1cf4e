#!/bin/bash
# Puts one-line faults into the sources, one at a time, and tells which of them no test finds.
#
#     run.sh [WORD...]    the faults in files whose path has one of the words; without words all
#     run.sh --check      only checks that list.txt fits the sources
#
# list.txt consists of blocks, with an empty line between them:
#
#     src/record/pair.c              a file
#     - if (depth > most)            one of its lines, without the blanks around it: the only such line
#     + if (depth >= most)           the fault that stands there instead
#     T unit/test_pair               tests of which at least one must fail, the fastest first
#     R Depths are never odd.        only if none can find it: why
#
# Each processor has a copy of the working tree in build/mutants, whose build is kept for the next
# time. A fault that a test finds by not ending within TEST_SECONDS (300) counts as found. The exit
# status is 1 if a fault without a reason survived, one with a reason was found, or one does not compile.
set -euo pipefail
cd "$(dirname "$0")/../.."
list=test/mutants/list.txt
folder=$PWD/build/mutants
workers=${WORKERS:-$(nproc)}
export TEST_SECONDS=${TEST_SECONDS:-300} TEST_JOBS=1
unset MAKEFLAGS MFLAGS MAKELEVEL T # of `make mutants T=...`

# Prints each fault as FILE, OLD, NEW, TESTS and REASON with the separator 037 between them.
faults() {
    awk -v OFS='\037' '
        function flush_block() { if (file != "") print file, old, new, tests, reason
                                 file = old = new = tests = reason = "" }
        /^#/ { next }
        /^$/ { flush_block(); next }
        /^- / { old = substr($0, 3); next }
        /^[+] / { new = substr($0, 3); next }
        /^T / { tests = substr($0, 3); next }
        /^R / { reason = substr($0, 3); next }
        file == "" { file = $0; next }
        { print "list.txt, line " NR ": " $0 > "/dev/stderr"; failed = 1 }
        END { flush_block(); exit failed }' $list
}

# path_of GROUP/NAME prints the file that run-tests.sh takes for this test.
path_of() {
    if [ -e "test/$1.c" ] || [ -e "test/$1.cpp" ]; then
        echo "build/test/$1"
    else
        ls "test/$1.sh" 2>/dev/null || ls "test/$1.py" 2>/dev/null
    fi
}

# Each line is in its file once, each fault is another line, and each test exists.
check() {
    local test wrong=0
    for test in $(faults | cut -d $'\037' -f 4 | tr ' ' '\n' | sort -u); do
        path_of "$test" >/dev/null || { echo "list.txt: no test is called $test" && wrong=1; }
    done
    faults | awk -F '\037' '
        function trimmed(line) { gsub(/^[ \t]+|[ \t]+$/, "", line); return line }
        !($1 in is_read) { is_read[$1] = 1
                           while ((getline line < $1) > 0) count[$1, trimmed(line)]++ }
        count[$1, $2] != 1 { print "list.txt: " $1 " has this line " (count[$1, $2] + 0) " times: " $2
                             wrong = 1 }
        $2 == $3 || $3 == "" || $4 == "" { print "list.txt: a part is missing: " $1 ": " $2; wrong = 1 }
        END { print NR " faults"; exit wrong }' || wrong=1
    return $wrong
}

# replace FILE OLD NEW
replace() {
    OLD=$2 NEW=$3 awk '{
        line = $0
        gsub(/^[ \t]+|[ \t]+$/, "", line)
        if (line == ENVIRON["OLD"]) { match($0, /^[ \t]*/); $0 = substr($0, 1, RLENGTH) ENVIRON["NEW"] }
        print
    }' "$1" >build/fault && cat build/fault >"$1"
}

# targets_of SCRIPT prints what the script and the programs of its folder need.
targets_of() {
    echo libs bin/takt
    find "${1%/*}" -name 'prog_*.c*' | sed -E 's|(.*)\.c.*|build/\1|'
    grep -oE 'test_[a-z_]+' "$1" | while read -r name; do
        [ ! -e "${1%/*}/$name.c" ] || echo "build/${1%/*}/$name"
    done
    grep -oE '(samples|test/[a-z]+)/[a-z_]+' "$1" | sed -n 's|^test/.*/prog_|build/&|p; s|^samples/|bin/&|p'
}

# build TEST... builds what the tests need.
build() {
    local test targets=()
    for test in "$@"; do
        [[ $test == build/* ]] || test=$(targets_of "$test")
        targets+=($test)
    done
    make -s $(printf '%s\n' "${targets[@]}" | sort -u)
}

# try FILE OLD NEW TESTS prints "found", "survived" or "does not compile". The tests run one after the
# other, until one has failed.
try() {
    local name path answer=survived
    cp -p "$1" build/whole
    replace "$1" "$2" "$3"
    for name in $4; do
        path=$(path_of "$name")
        build "$path" >build/log 2>&1 || { answer='does not compile' && break; }
        test/support/run-tests.sh "$path" >>build/log 2>&1 || { answer=found && break; }
        ! grep -q '^skipped' build/log || answer="survived, a test was skipped"
    done
    cat build/whole >"$1" # newer than what was made of the fault
    echo "$answer"
}

# Copies what is new of the working tree to where a worker has its own, and builds there what all need.
# What is copied is newer than what was built of an older text, or of a fault.
prepare() {
    local file
    git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
        cmp -s "$file" "$1/$file" || { mkdir -p "$1/$(dirname "$file")" && cp "$file" "$1/$file"; }
    done
    cd "$1"
    mkdir -p build
    make -s programs >build/log 2>&1 || { cat build/log && exit 1; }
}

# worker NUMBER FILE takes each fault whose turn it is, and writes what became of it.
worker() {
    local turn=0 file old new tests reason answer begin
    prepare "$folder/$1"
    while IFS=$'\037' read -r file old new tests reason; do
        turn=$((turn + 1))
        [ $((turn % workers)) = "$1" ] || continue
        begin=$SECONDS
        answer=$(try "$file" "$old" "$new" "$tests" </dev/null)
        printf '%s\037%s\037%s\037%s\037%s\n' "$answer" "$reason" "$file" "$old" "$new" >>"$folder/results"
        printf '%4d of %d  %-9s %s: %s (%d s)\n' "$(wc -l <"$folder/results")" "$(wc -l <"$2")" \
            "$answer" "$file" "$new" $((SECONDS - begin))
    done <"$2"
}

# The tests must pass without a fault, or each would be found.
check_tests() {
    local path paths=()
    cd "$folder/0"
    for path in $(cut -d $'\037' -f 4 "$1" | tr ' ' '\n' | sort -u | while read -r name; do path_of "$name"; done); do
        paths+=("$path")
    done
    build "${paths[@]}" && TEST_JOBS=$workers test/support/run-tests.sh "${paths[@]}"
}

tell() {
    echo
    awk -F '\037' '
        { match($3, /^.*\//); where = substr($3, 1, RLENGTH - 1); all[where]++; found[where] += $1 == "found" }
        END { for (where in all) printf "%-20s %4d faults, %4d found\n", where, all[where], found[where] }' \
        "$folder/results" | sort
    awk -F '\037' '
        $1 == "found" { found++ }
        $1 == "found" && $2 == "" { next }
        $1 == "found" { print "found, though list.txt says that none can: " $3 ": " $5; failed = 1; next }
        { print $1 ": " $3 "\n    - " $4 "\n    + " $5 ($2 == "" ? "" : "\n    " $2); failed = failed || $2 == "" }
        END { print NR " faults, " found + 0 " found"; exit failed }' "$folder/results"
}

if [ "${1-}" = --check ]; then
    check
    exit
fi
check
mkdir -p "$folder"
faults | awk -F '\037' -v words="$*" '
    BEGIN { count = split(words, word, " ") }
    { for (i = 1; i <= count && !index($1, word[i]); i++) { } }
    count == 0 || i <= count' >"$folder/faults"
echo "building $workers copies in $folder"
for ((i = 0; i < workers; i++)); do
    (prepare "$folder/$i") &
done
wait
echo 'running the tests without a fault'
(check_tests "$folder/faults")
: >"$folder/results"
for ((i = 0; i < workers; i++)); do
    (worker $i "$folder/faults") &
done
wait
tell
