#!/bin/bash
# The program and the commands of docs/getting-started.md do what the page says.
. "${0%/*}/lib_cli.sh"
root=$(cd "${TAKT_ROOT:-.}" && pwd)
page=$root/docs/getting-started.md
lib=$(cd "${TAKT_LIB:-lib}" && pwd)
cd "$scratch" || exit 1

# The block of language $1 that contains $2.
block() {
    awk -v language="$1" -v word="$2" '
        $0 == "```" && inside { if (index(text, word)) printf "%s", text; inside = 0 }
        inside { text = text $0 "\n" }
        $0 == "```" language { inside = 1; text = "" }' "$page"
}
block c 'int main(void)' >fall.c
{
    sed '/^int main/,$d' fall.c
    block c 'int main(int argc'
} >fall_args.c
block yaml 'profiling:' >profile.yaml
[ -s fall.c ] && [ -s profile.yaml ] || { echo "the page has no program or no YAML" && exit 1; }

sanitize=${SAN:+-fsanitize=$SAN}
for name in fall fall_args; do
    # shellcheck disable=SC2086 # words
    ${CC:-cc} -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror $sanitize -I"$root/include" $name.c \
        "$lib/libtakt.a" -lyaml -lz -lm -ldl -pthread -o $name || fail "$name does not compile"
done

# Alone it says nothing of Takt's.
ran='(fall)' out=$(./fall 2>&1)
out_has '^20 steps, height '
[ "$(wc -l <<<"$out")" = 1 ] || fail "says more than its own line" "$out"
alone=$out

run config check profile.yaml
status_is 0
out_has '^steps needed: 18;'

ran='(TAKT_CONFIG=profile.yaml fall)'
out=$(TAKT_CONFIG=profile.yaml ./fall 2>&1)
for name in accelerate move; do
    out_has "^ *$name .* 3$" # a call in each of the three steps
done
out_has "; Takt's cost "
out_lacks 'begun before|unfinished'
out_has "^$alone\$" # and the result is the same
mapfile -t traces < <(find runs/fall -name '*.pftrace' | sort)
[ "${#traces[@]}" = 2 ] || fail "wrote ${#traces[@]} traces, not 2" "$(find runs)"
[ "$(find runs/fall -name '*.json.gz' | wc -l)" = 2 ] || fail "wrote no Chrome traces" "$(find runs)"
run report --scopes --rows 10 "${traces[@]}"
status_is 0
out_has '^ *accelerate '

ran='(fall_args --profiling.wait 5 ...)'
out=$(./fall_args --profiling.wait 5 --profiling.active 3 --profiling.no-record-shapes 2>&1)
out_has '^ *accelerate '
ran='(fall_args --no-profiling)'
out=$(TAKT_CONFIG=profile.yaml ./fall_args --no-profiling 2>&1)
out_is ""
ran='(fall_args --profiling.wiat)'
out=$(./fall_args --profiling.wiat 5 2>&1)
out_has "unknown option '--profiling.wiat'; did you mean '--profiling.wait'"

# A wrong configuration stops the profile and not the program.
ran='(wrong configuration)'
printf 'profiling: {wiat: 3}\n' >wrong.yaml
out=$(TAKT_CONFIG=wrong.yaml ./fall 2>&1)
out_has 'wrong.yaml:1:13: '
out_has "^$alone\$"

finish
