#!/bin/bash
# Manual page and completion: made from what the parser reads, so each verb and each option is in
# them; and the shells do complete with them.
. "${0%/*}/lib_cli.sh"

has() { # TEXT WHAT
    grep -qF -- "$1" <<<"$out" || fail "has no $2: $1"
}

# All that there is, as --help tells it.
verbs=$("$takt" help | sed -nE '/^Verbs:/,/^$/s/^  ([a-z]+)  .*/\1/p')
[ "$(wc -w <<<"$verbs")" -ge 10 ] || fail "too few verbs" "$verbs"
options_of() { # VERB
    "$takt" help "$1" | sed -nE 's/^  (-[a-zA-Z],|   ) --([a-z-]+).*/--\2/p'
}

# ---- The manual page ----

run help --man
status_is 0
silent
manual=${out//\\-/-}
out=$manual
for verb in $verbs; do
    [ "$verb" = help ] && continue
    has ".SS takt $verb" verb
    section=$(sed -n "/^\.SS takt $verb /,/^\.S/p" <<<"$manual")
    for option in $(options_of "$verb"); do
        [ "$option" = --help ] || grep -qE -- "^\\\\fB(-[a-zA-Z]\\\\fR, \\\\fB)?$option\\\\fR" <<<"$section" ||
            fail "takt $verb has no $option in the manual"
    done
done
if command -v groff >/dev/null; then
    "$takt" help --man | groff -man -Tutf8 -ww >/dev/null 2>"$scratch/warnings"
    [ ! -s "$scratch/warnings" ] || fail "groff warns of the manual" "$(cat "$scratch/warnings")"
fi

# ---- bash, for real ----

run completion bash
status_is 0
silent
eval "$out" || fail "bash does not take it"
[ "$(complete -p takt)" = "complete -o filenames -F _takt takt" ] || fail "bash completes otherwise"

# offers 'takt report --co' has: what stands for the last word; each blank begins a word, as does =.
offers() {
    local line=$1 wanted=$2
    line=${line//=/ = }
    read -ra COMP_WORDS <<<"$line"
    [[ $line == *' ' && $line != *'= ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _takt
    [ "${COMPREPLY[*]}" = "$wanted" ] || fail "completes '$1' as '${COMPREPLY[*]}', not '$wanted'"
}

mkdir "$scratch/folder" && cd "$scratch/folder" || exit 1
touch run.pftrace 'run of today.pftrace' other
offers 'takt rep' report
offers 'takt ' "$(xargs <<<"$verbs") --help --version"
offers 'takt report --timel' --timeline
offers 'takt report --color ' 'auto always never'
offers 'takt report --color=' 'auto always never'
offers 'takt report --color=n' never
offers 'takt report --rows ' ''
offers 'takt report run.' run.pftrace
offers 'takt export -o o' other
offers 'takt export --output=o' other
offers 'takt help di' diff
offers 'takt config e' explain
offers 'takt config check o' other
offers 'takt frobnicate ' ''
offers 'takt view run' 'run.pftrace run of today.pftrace'
for verb in $verbs; do
    [ "$verb" = help ] && continue
    for option in $(options_of "$verb"); do
        COMP_WORDS=(takt "$verb" "$option") COMP_CWORD=2
        _takt
        [[ " ${COMPREPLY[*]} " == *" $option "* ]] || fail "bash: takt $verb has no $option"
    done
done

# ---- zsh and fish: their syntax where they are installed, and that nothing is left out ----

for shell in zsh fish; do
    run completion $shell
    status_is 0
    silent
    for verb in $verbs; do
        has "$verb" "verb in $shell"
        for option in $([ "$verb" = help ] || options_of "$verb"); do
            case $shell in
            zsh) has "$option" "option in zsh" ;;
            fish) [ "$option" = --help ] ||
                has "__fish_seen_subcommand_from $verb' -l ${option#--}" "option in fish" ;;
            esac
        done
    done
    command -v $shell >/dev/null || continue
    printf '%s\n' "$out" >"$scratch/script"
    $shell -n "$scratch/script" 2>"$scratch/errors" || fail "$shell: $(cat "$scratch/errors")"
done
if command -v fish >/dev/null; then
    offered=$(fish --no-config -c "source $scratch/script; complete -C 'takt report --timel'")
    [[ $offered == --timeline* ]] || fail "fish offers '$offered'"
fi

refused '^takt completion: name a shell' completion
refused '^takt completion: name a shell' completion tcsh
refused '^takt completion: name only one shell' completion bash zsh

finish
