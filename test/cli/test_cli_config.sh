#!/bin/bash
# takt config: what a file means, what is wrong with it, which keys there are.
. "${0%/*}/lib_cli.sh"
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
err_has "^takt: bad.yaml:2:3: .*wiat.*wait"
run config check none.yaml
status_is 1
err_has '^takt: .*none\.yaml.*No such file or directory'
run config check .
status_is 1
head -c 1048576 /dev/zero | tr '\0' '[' >nested.yaml
run config check nested.yaml
status_is 1
[ "$(wc -l <<<"$err")" = 1 ] || fail "says more than one line" "$err"

# Names of reports and formats are checked against what there is; a later version's are a note.
printf 'profiling: true\nreports: [scopez]\n' >bad_report.yaml
run config check bad_report.yaml
status_is 1
err_has '^takt: bad_report.yaml:2:11: .*scopez.*scopes'
printf 'profiling: true\noutput: {traces: [chromee]}\n' >bad_format.yaml
run config check bad_format.yaml
status_is 1
err_has '^takt: bad_format.yaml:2:19: .*chromee.*chrome'

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
if command -v python3 >/dev/null; then
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
    same "takt: $(json 'it["message"]')" "$err"
    run config check --json bad.yaml good.yaml none.yaml
    status_is 1
    same "$(json '[file["is_valid"] for file in it]')" "[False, True, False]"
    run config explain --json
    status_is 0
    silent
    same "$(json '[key["default"] for key in it if key["key"] == "profiling.wait"]')" "['3']"
    same "$(json 'len(it)')" "$(grep -cE '^ *[a-z_]+: ' explained.yaml)"
fi
refused 'options is not printed as JSON' config options --json

run config options
status_is 0
out_has '^ *--profiling\.wait '
out_has '--no-profiling'
run config markdown
status_is 0
out_has '^# Configuration'
out_has '^\| `wait` \| `3` '

finish
