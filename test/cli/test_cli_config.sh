#!/bin/bash
# takt config: what a file means, what is wrong with it, which keys there are.
. "${0%/*}/lib_cli.sh"
need python3
cd "$scratch" || exit 1 # long paths are shortened in messages

cat >good.yaml <<'YAML'
simulation: {particles: 5000, solver: [jacobi, {tolerance: 1.0e-6}]}
profiling:
  wait: 3
  warmup: 1
  active: 3
  repeat: 1
reports: [scopes]
output: {traces: [perfetto]}
YAML
run config check good.yaml
status_is 0
silent
out_has '^profiling: on$'
out_has '^steps needed: 7; with repeat_mode additional: 11$'
out_has '^reports: scopes$'
out_has "^sections skipped: 'simulation' \(line 1\)\$"
alone=$out

# As in the program, TAKT_OPTIONS counts; and it is said so.
export TAKT_OPTIONS="profiling.repeat=2"
run config check good.yaml
status_is 0
out_has '^With TAKT_OPTIONS="profiling.repeat=2"$'
out_has '^steps needed: 14;'
unset TAKT_OPTIONS

# Errors have file, line and column, and the nearest key; the exit status says so.
printf 'profiling:\n  wiat: 3\n' >bad.yaml
run config check bad.yaml
status_is 1
out_is ""
err_is "takt: bad.yaml:2:3: unknown key 'profiling.wiat'; did you mean 'wait'?
     2 |   wiat: 3
       |   ^"

# All errors are told, with the line and a mark below the place; the first 20 of many.
printf 'profiling:\n  mode: trce\n  level: 9\n  name: 流体/x\n  active 3\n  warmup: 1\n' >errors.yaml
run config check errors.yaml
status_is 1
out_is ""
err_is "takt: errors.yaml:2:9: profiling.mode: expected trace, summary, both or flight, got 'trce'; did you mean 'trace'?
     2 |   mode: trce
       |         ^
takt: errors.yaml:3:10: profiling.level: expected a whole number from 1 to 4, got '9'
     3 |   level: 9
       |          ^
takt: errors.yaml:4:9: profiling.name: expected a name without '/', got '流体/x'
     4 |   name: 流体/x
       |         ^
takt: errors.yaml:5:9: the colon behind the key is missing: write 'active: 3'
     5 |   active 3
       |         ^
takt: errors.yaml: 4 errors"
{ echo profiling: && printf '  key%d: 1\n' {1..33}; } >many.yaml
run config check many.yaml
status_is 1
[ "$(grep -c '^takt: many.yaml:[0-9]*:3: unknown key' <<<"$err")" = 20 ] || fail "does not tell 20 errors" "$err"
err_has '^takt: many.yaml: 33 errors; these were the first 20$'

# Through a pipe, whose text can be read only once.
run config check <(cat errors.yaml)
err_has '^     5 \|   active 3$'
run config check none.yaml
status_is 1
err_has '^takt: .*none\.yaml.*No such file or directory'
run config check .
status_is 1
head -c 1048576 /dev/zero | tr '\0' '[' >nested.yaml
run config check nested.yaml
status_is 1
err_has '^takt: nested.yaml:1:33: nested deeper than the limit of 32 levels$'

# Names of reports and formats are checked against what there is; a later version's are a note.
printf 'profiling: true\nreports: [scopez]\n' >bad_report.yaml
run config check bad_report.yaml
status_is 1
err_has '^takt: bad_report.yaml:2:11: .*scopez.*scopes'
printf 'profiling: true\noutput: {traces: [chromee]}\n' >bad_format.yaml
run config check bad_format.yaml
status_is 1
err_has '^takt: bad_format.yaml:2:19: .*chromee.*chrome'

# A report is sorted by a column of its own, and an option is one that it takes; columns that only some
# traces have count. The program says the same.
printf 'profiling: true\nreports: [scopes sort=grid, steps by_stack=3, kernels sort=-Grid_Dim, scopes sort=-cuda_total_ns, scopes sort=Total_GFLOPs, kernels all]\n' >odd_report.yaml
run config check odd_report.yaml
status_is 1
told=$(grep '^takt: .*:2:' <<<"$err")
[ "$(cut -d: -f 4- <<<"$told")" = "11: reports: scopes: sort: expected one of its columns, named as in the table or in JSON, got 'grid'
29: reports: steps: by_stack is an option of scopes only
125: reports: kernels: all is an option of scopes and tree only; commas separate reports" ] ||
    fail "tells other faults of reports" "$err"

# Several files: each is checked.
run config check bad.yaml good.yaml
status_is 1
out_has "^==> good.yaml <==\$"
[ "$(sed '/^==>/d; /^$/d' <<<"$out")" = "$alone" ] || fail "means another thing beside a bad file" "$out"

# What explains itself is a configuration that is accepted.
run config explain
status_is 0
silent
for key in wait warmup active repeat record_shapes profile_memory with_stack directory; do
    out_has "^ *#? *$key:"
done
cp out explained.yaml
run config check explained.yaml
status_is 0

# As JSON: what a file means or what is wrong with it, one array of several, and each key.
json() { # EXPRESSION of `it`
    python3 -c 'import json, sys; it = json.load(open(sys.argv[2])); print(eval(sys.argv[1]))' \
        "$1" "$scratch/out" 2>&1
}
same() { [ "$1" = "$2" ] || fail "tells $1, not $2" "$out"; }
run config check --json good.yaml
status_is 0
silent
same "$(json 'it["is_valid"], it["enabled"], it["mode"]')" "(True, True, 'trace')"
same "$(json '[it["schedule"][key] for key in ("wait", "warmup", "active", "repeat")]')" "[3, 1, 3, 1]"
same "$(json 'it["steps_needed"], it["reports"], it["traces"]')" "(7, ['scopes'], ['perfetto'])"
same "$(json 'it["directory"], it["max_memory"]')" "('runs/{name}/{time}', 268435456)"
run config check --json bad.yaml
status_is 1
err_has '^takt: bad.yaml:2:3: '
same "$(json 'it["file"], it["is_valid"], it["line"], it["column"]')" "('bad.yaml', False, 2, 3)"
same "takt: $(json 'it["message"]')" "$(head -n 1 <<<"$err")"
run config check --json errors.yaml
status_is 1
same "$(json 'it["error_count"], [(e["line"], e["column"]) for e in it["errors"]]')" \
    "(4, [(2, 9), (3, 10), (4, 9), (5, 9)])"
same "$(json 'it["errors"][3]["text"], it["errors"][0]["message"] == it["message"]')" "('  active 3', True)"
run config check --json many.yaml
same "$(json 'it["error_count"], len(it["errors"])')" "(33, 20)"
run config check --json bad.yaml good.yaml none.yaml
status_is 1
same "$(json '[file["is_valid"] for file in it]')" "[False, True, False]"
run config explain --json
status_is 0
silent
same "$(json '[key["default"] for key in it if key["key"] == "profiling.wait"]')" "['3']"
same "$(json 'len(it)')" "$(grep -cE '^ *[a-z_]+: ' explained.yaml)"
run config explain --json
explained=$out
run config options --json
status_is 0
out_is "$explained"
refused 'markdown is not printed as JSON' config markdown --json

run config options
status_is 0
out_has '^ *--profiling\.wait '
out_has '--no-profiling'
run config markdown
status_is 0
out_has '^# Configuration'
out_has '^\| `wait` \| `3` '

# What is valid, but most likely not meant.
doubts() { # YAML LINE...
    printf "$1" >doubtful.yaml
    shift
    run config check doubtful.yaml
    status_is 0
    [ "$(grep '^careful: ' out)" = "$(printf 'careful: %s\n' "$@")" ] || fail "has other doubts" "$out"
}
doubts 'profiling: {mode: summary}\noutput: {traces: [chrome, perfetto, folded]}\n' \
    'a summary has no spans, so no chrome trace is written; use mode both'
doubts 'profiling: {mode: summary}\nreports: [scopes, tree, threads, timeline, tasks, counters, memory, launches: {rows: 5}]\n' \
    'a summary has no spans, so no timeline report is printed; use mode both' \
    'a summary has no spans, so no launches rows=5 report is printed; use mode both'
doubts 'profiling: {mode: summary}\nreports: [scopes, scopes by_arguments, scopes by_stack=3, kernels by_arguments]\n' \
    'a summary has no spans, so no scopes by_arguments report is printed; use mode both' \
    'a summary has no spans, so no scopes by_stack=3 report is printed; use mode both' \
    'a summary has no spans, so no kernels by_arguments report is printed; use mode both'
doubts 'profiling: {record_shapes: false}\nreports: [scopes by_arguments, scopes by_stack=3, kernels by_arguments]\n' \
    'by_arguments finds no arguments with record_shapes false' \
    'by_stack finds no stacks with with_stack false'
doubts 'profiling: {active: 0, wait: 5, repeat: 1}\n' 'wait has no effect with active 0'
doubts 'profiling: {active: 0, mode: flight}\noutput: {stream: true}\n' \
    'flight keeps the last spans only, and stream writes all of them; use one of both'
doubts 'wait: 5\nengine: 3\n' 'wait is a key of profiling: write "profiling:" above it, and indent it'
doubts 'directory: x\nprofile: {epochs: 3}\n' \
    'directory is a key of output: write "output:" above it, and indent it' \
    "skipped the section 'profile'; did you mean 'profiling'?"
printf 'profile:\n  wait: 3\n' >meant.yaml
run config check meant.yaml
status_is 1
err_has "unknown section 'profile'; did you mean 'profiling'"
printf 'profiling: {mode: both}\noutput: {traces: chrome}\nwait: 5\n' >certain.yaml
run config check certain.yaml
! grep -q '^careful' out || fail "doubts what is certain" "$out"

finish
