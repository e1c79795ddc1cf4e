#!/bin/bash
# A program that streams its trace and is killed, at any moment, leaves what it had: a file that
# takt reads, whose numbers fit what the program said it had done.
. "${0%/*}/../support/lib_script.sh"
need python3
prog=$TAKT_BUILD/test/stress/prog_killed

column() { # REPORT NAME COLUMN: a value of that row in the file
    "$takt" report "--$1" --json --rows all "$file" 2>/dev/null | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
name, key = sys.argv[1:]
print(next((row[key] for row in rows if next(iter(row.values())) == name), 0))' "$2" "$3"
}

# await STEPS: until the file of the program that runs has so many; tells the last count in $seen
await() {
    seen=0
    while kill -0 $pid 2>/dev/null; do
        file=$(find "$scratch/traces" -name '*.pftrace' 2>/dev/null)
        [ ! -s "${file:-/nonexistent}" ] || seen=$(column steps recorded count)
        [ "${seen:-0}" -lt "$1" ] || break
        sleep 0.05
    done
}

read_back=0
for after in 0.05 0.3 0.61 "1 step" "300 steps"; do
    rm -rf "$scratch/traces"
    "$prog" "$scratch/traces" >"$scratch/steps" 2>"$scratch/errors" &
    pid=$!
    case $after in
    *step*) await "${after%% *}" ;;
    *) sleep "$after" ;; # real time: the kill comes in the middle of real writing
    esac
    kill -KILL $pid
    wait $pid 2>/dev/null
    said=$(tail -n 1 "$scratch/steps")
    file=$(find "$scratch/traces" -name '*.pftrace' 2>/dev/null)
    [ -s "${file:-/nonexistent}" ] || continue # killed before its first slice
    read_back=$((read_back + 1))

    "$takt" info "$file" >"$scratch/info" 2>"$scratch/errors"
    [ $? = 4 ] || {
        fail "after $after: takt info ends otherwise than with 4: $(cat "$scratch/errors")"
        continue
    }
    grep -q "^  incomplete  *the program was killed" "$scratch/info" ||
        fail "after $after: takt info does not say that the program was killed"
    grep -q "^  losses  *none until the end of what is known$" "$scratch/info" ||
        fail "after $after: losses are told as if they were known"
    grep -q "^  cost  *unknown" "$scratch/info" || fail "after $after: the cost is told as known"
    steps=$(column steps recorded count)
    work=$(column scopes work calls)
    [ "$steps" -le $((${said:-0} + 1)) ] || fail "after $after: $steps steps, said $said"
    { [ "$work" -gt 0 ] || [ "$steps" = 0 ]; } && [ "$work" -le $((100 * (${said:-0} + 2))) ] ||
        fail "after $after: $work times work, said $said steps"
    "$takt" export --chrome -o "$scratch/killed.json" "$file" >"$scratch/output" 2>&1
    [ $? = 4 ] &&
        python3 test/support/check_chrome.py "$scratch/killed.json" >"$scratch/rules" ||
        fail "after $after: $(head -n 5 "$scratch/rules")"
    "$takt" report --scopes --json --rows all "$file" 2>/dev/null | python3 test/support/lib_scopes.py \
        >"$scratch/table"
    python3 test/support/chrome_totals.py "$scratch/killed.json" >"$scratch/totals"
    same "after $after: Chrome against the table" "$scratch/table" "$scratch/totals"
done
[ "$read_back" -ge 2 ] || fail "only $read_back of 5 left a file"

# What the last one had written before the kill is there, on both threads.
[ "$steps" -ge "$seen" ] || fail "$steps steps are in the file, which had $seen before the kill"
[ "$(column scopes beside calls)" -gt 0 ] || fail "the second thread is missing"
[ "$(column scopes 'never finished' calls)" = 1 ] || fail "the scope that was open is missing"

# The page says it in a banner, whatever else it shows.
"$takt" report --html -o "$scratch/page.html" "$file" >/dev/null 2>&1
[ $? = 4 ] || fail "the page of a killed program ends otherwise than with 4"
grep -q '"ending": "killed"' "$scratch/page.html" || fail "the page does not know that it is incomplete"

# Without stop a profiler that the program has made is saved when the program exits.
rm -rf "$scratch/traces"
"$prog" "$scratch/traces" 300 >/dev/null
file=$(find "$scratch/traces" -name '*.pftrace')
[[ $file != *.partial.* && $file != *$'\n'* ]] || fail "exit without stop leaves: $file"
"$takt" report "$file" >"$scratch/report" 2>/dev/null || fail "exit without stop: status $?"
grep -q '^Steps' "$scratch/report" || fail "exit without stop: $(head -n 3 "$scratch/report")"
finish "$read_back of 5 killed programs left a trace; the last one $steps of $said steps"
