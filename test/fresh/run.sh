#!/bin/bash
# The README's two commands on bare Debian 12 and 13, which have make and nothing else that Takt needs:
#
#     root      a clone, as root, without pseudo-terminals
#     user      the same machine with its packages, as an ordinary user, without network, and the
#               sources are a tarball of git archive
#     bare      an ordinary user on a machine without packages: told what is missing; then with what
#               cannot be done without, and nothing else
#
#     run.sh [RELEASE...]      FRESH="root bare" picks some of the three
#
# Roots and packages are kept in TAKT_FRESH (build/fresh) for the next time. Logs are there, too.
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/fresh/lib_root.sh
[ "$(id -u)" = 0 ] || { echo "check-fresh needs root, for chroot and mounts" >&2 && exit 1; }
wanted=${FRESH:-root user bare}
failures=0
if command -v npm >/dev/null; then
    given+=("npm_config_registry=$(npm config get registry)")
fi

# step WHAT ROOT USER COMMAND: runs it; its output is in $log.
step() {
    local begin=$SECONDS
    log="$fresh/$2.log"
    if within "$2" "$3" "$4" >"$log" 2>&1; then
        echo "ok $1: $(grep -E '[0-9]+ passed' "$log" || tail -n 1 "$log") ($((SECONDS - begin)) s)"
    else
        bad "$1: $(grep -E '^FAILED|[0-9]+ passed|Error|rror:' "$log" | tail -n 20)" "see $log"
    fi
}

bad() {
    echo "FAILED $*"
    cp "$log" "$log.$failures"
    failures=$((failures + 1))
}

# Fails unless the last step's output has the text.
says() {
    grep -q -- "$1" "$log" || bad "does not say '$1'"
}

sources() { # ROOT clone|tarball USER
    local folder=$fresh/$1/home/someone/takt
    rm -rf "$folder"
    if [ "$2" = clone ]; then
        git clone -q . "$folder"
    else
        mkdir "$folder" && git archive HEAD | tar -x -C "$folder"
    fi
    chroot "$fresh/$1" chown -R "$3:" /home/someone/takt
}

[ $# -gt 0 ] || set -- bookworm trixie
for release in "$@"; do
    make_root "$release"
    full=$release-full
    if [[ $wanted == *root* || ! -e $fresh/$full ]]; then
        copy_root "$release" "$full"
        sources "$full" clone root
        no_pts=1 step "$release, root, make demo" "$full" root "make demo"
        says 'bin/takt view'
        no_pts=1 step "$release, root, make check" "$full" root "make check"
        says ' 0 failed'
    fi
    if [[ $wanted == *user* ]]; then
        sources "$full" tarball someone
        offline=1 step "$release, user with packages, tarball, no network, make demo" "$full" someone "make demo"
        offline=1 step "$release, user with packages, tarball, no network, make check" "$full" someone "make check"
        says ' 0 failed'
    fi
    if [[ $wanted == *bare* ]]; then
        bare=$release-bare
        copy_root "$release" "$bare"
        sources "$bare" clone someone
        step "$release, user without packages, make demo is refused" "$bare" someone "! make demo"
        says 'apt-get install --no-install-recommends gcc'
        offline=1 step "$release, root without packages and network" "$bare" root "! make demo"
        says 'apt-get install --no-install-recommends gcc'
        sources "$bare" clone someone # without what root has built
        step "$release, what is asked for" "$bare" root \
            "apt-get update -qq && apt-get install -qq --no-install-recommends gcc libc6-dev libyaml-dev zlib1g-dev"
        step "$release, user with these, make" "$bare" someone "make"
        step "$release, user with these, make demo" "$bare" someone "make demo"
        step "$release, user with these, make check is refused" "$bare" someone "! make check"
        says 'cannot do without libcmocka-dev libjansson-dev'
        step "$release, what is asked for" "$bare" root "apt-get install -qq --no-install-recommends libcmocka-dev libjansson-dev"
        step "$release, user with what tests need and nothing else, make check" "$bare" someone "make check"
        says ' 0 failed'
    fi
done
[ "$failures" = 0 ] && echo "both commands hold on $*"
