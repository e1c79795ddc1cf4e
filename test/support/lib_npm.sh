# Sourced by script tests, after lib_script.sh: packages of npm's, without what they depend on.
#
#     npm_package NAME VERSION      fetches it, once for each build folder, to $node_modules/NAME;
#                                   skips the test where it cannot be had
#     need_browser                  sets CHROMIUM, for the scripts of node; skips the test without one
# shellcheck shell=bash
build=$(cd "${TAKT_BUILD:-build}" && pwd) || exit 1
node_modules=$build/node/node_modules

fetch() { # NAME VERSION; what is there is there as a whole
    local new=$scratch/package
    grep -qs "\"version\": \"$2\"" "$node_modules/$1/package.json" && return
    (cd "$scratch" && timeout 600 npm pack --silent --fetch-retries 1 "$1@$2") \
        >"$scratch/npm" 2>&1 && mkdir "$new" &&
        tar -xzf "$scratch/$(tail -n 1 "$scratch/npm")" -C "$new" --strip-components 1 &&
        rm -rf "${node_modules:?}/$1" && mkdir -p "$(dirname "$node_modules/$1")" &&
        mv "$new" "$node_modules/$1"
}

# Under a lock, since tests run beside each other.
npm_package() {
    mkdir -p "$node_modules" && exec 9>"$build/node/lock" && flock 9
    fetch "$1" "$2" || { echo "npm cannot fetch $1@$2 here" && exit 77; }
    exec 9>&-
}

# The one without windows starts faster and takes half of the processor's time.
need_browser() {
    local name
    for name in chromium-headless-shell chromium chromium-browser; do
        CHROMIUM=$(command -v "$name") && break
    done
    [ -n "$CHROMIUM" ] || { echo "needs chromium" && exit 77; }
    export CHROMIUM TAKT_BUILD=$build
}
