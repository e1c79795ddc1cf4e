#!/bin/bash
# Installs into a stage and uses what lies there as a stranger would: pkg-config shared and static,
# CMake, the command; then uninstalls, which must leave no file.
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/../..}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
stage=$scratch/stage prefix=/opt/takt
skipped=

# Variables given to the outer make reach the inner one; its job server does not.
MAKEFLAGS=$(sed -E 's/(^| )(-j[0-9]*|--jobserver[^ ]*)//g' <<<"${MAKEFLAGS-}")
export MAKEFLAGS
install() {
    make --silent "$1" PREFIX=$prefix DESTDIR="$stage"
}

# Runs the program $1, which must tell its version and need libtakt.so or, when $2 is static, not.
expect() {
    local needed=shared version text
    grep -q 'NEEDED.*libtakt' <<<"$(readelf -d "$1")" || needed=static
    [ $needed = "$2" ] || { echo "$1 is linked $needed, not $2" && exit 1; }
    version=$(sed -n 's/^Version: //p' "$PKG_CONFIG_PATH/takt.pc")
    text=$(LD_LIBRARY_PATH=$stage$prefix/lib "$1")
    [ "$text" = "library $version, headers $version" ] || { echo "$1 says: $text" && exit 1; }
}

install install
LD_LIBRARY_PATH="" "$stage$prefix/bin/takt" --version

export PKG_CONFIG_PATH=$stage$prefix/lib/pkgconfig
if command -v pkg-config >/dev/null; then
    # As make does: what pkg-config prints is quoted for a shell.
    eval "${CC:-cc} test/install/program.c -o '$scratch/shared' $(pkg-config --cflags --libs takt)"
    expect "$scratch/shared" shared
else
    skipped="no pkg-config"
fi

if command -v cmake >/dev/null; then
    cmake -S test/install -B "$scratch/cmake" -DCMAKE_C_COMPILER="${CC:-cc}" \
        -DCMAKE_PREFIX_PATH="$stage$prefix"
    cmake --build "$scratch/cmake"
    expect "$scratch/cmake/with_shared" shared
    expect "$scratch/cmake/with_static" static
else
    skipped="$skipped no cmake"
fi

# The linker takes an archive only where there is no shared library.
rm "$stage$prefix/lib/libtakt.so"
if command -v pkg-config >/dev/null; then
    eval "${CC:-cc} test/install/program.c -o '$scratch/static' \
        $(pkg-config --static --cflags --libs takt)"
    expect "$scratch/static" static
fi

install uninstall
left=$(find "$stage" ! -type d)
[ -z "$left" ] || { echo "uninstall leaves: $left" && exit 1; }
[ -z "$skipped" ] || { echo "all that could be tried works; $skipped" && exit 77; }
