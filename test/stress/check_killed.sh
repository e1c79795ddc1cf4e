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

read_back=0
for after in 0.05 0.3 0.61 1.13 1.9; do
    rm -rf "$scratch/traces"
    "$prog" "$scratch/traces" >"$scratch/steps" 2>"$scratch/errors" &
    pid=$!
    sleep "$after" # real time: what is tested is a kill in the middle of real writing
    kill -KILL $pid
    wait $pid 2>/dev/null
    said=$(tail -n 1 "$scratch/steps")
    file=$(find "$scratch/traces" -name '*.pftrace' 2>/dev/null)
    [ -s "${file:-/nonexistent}" ] || continue # killed before its first slice
    read_back=$((read_back + 1))

    "$takt" info "$file" >"$scratch/info" 2>"$scratch/errors"
    [ $? = 4 ] || {
        fail "after $after s: takt info ends otherwise than with 4: $(cat "$scratch/errors")"
        continue
    }
    grep -q "^  incomplete  *the program was killed" "$scratch/info" ||
        fail "after $after s: takt info does not say that the program was killed"
    grep -q "^  losses  *none until the end of what is known$" "$scratch/info" ||
        fail "after $after s: losses are told as if they were known"
    grep -q "^  cost  *at least" "$scratch/info" || fail "after $after s: the cost is told as known"
    steps=$(column steps recorded count)
    work=$(column scopes work calls)
    [ "$steps" -le $((${said:-0} + 1)) ] || fail "after $after s: $steps steps, said $said"
    { [ "$work" -gt 0 ] || [ "$steps" = 0 ]; } && [ "$work" -le $((100 * (${said:-0} + 2))) ] ||
        fail "after $after s: $work times work, said $said steps"
    "$takt" export --chrome -o "$scratch/killed.json" "$file" >"$scratch/output" 2>&1
    [ $? = 4 ] &&
        python3 test/support/check_chrome.py "$scratch/killed.json" >"$scratch/rules" ||
        fail "after $after s: $(head -n 5 "$scratch/rules")"
    "$takt" report --scopes --json --rows all "$file" 2>/dev/null | python3 test/support/lib_scopes.py \
        >"$scratch/table"
    python3 test/support/chrome_totals.py "$scratch/killed.json" >"$scratch/totals"
    same "after $after s: Chrome against the table" "$scratch/table" "$scratch/totals"
done
[ "$read_back" -ge 2 ] || fail "only $read_back of 5 left a file"

# The last one ran for two seconds; most of that is there, on both threads.
[ "$steps" -ge $((said / 2)) ] || fail "$steps of $said steps are in the file"
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
