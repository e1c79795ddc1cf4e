#!/bin/sh
# Installs the Debian or Ubuntu packages that a target needs and that are missing.
#
#     install-packages.sh demo|check|aarch64|compilers|bench|fuzz
#
# Silent where nothing is missing. TAKT_NO_INSTALL=1 only says what is missing. Packages that this
# release of the distribution does not have are left out: what they serve is skipped by name.
set -eu

packages="gcc libc6-dev make libyaml-dev zlib1g-dev"
case ${1-} in
demo) ;;
check)
    packages="$packages g++ pkg-config cmake libcmocka-dev libjansson-dev python3"
    packages="$packages protobuf-compiler clang libclang-rt-dev"
    packages="$packages libsqlite3-dev sqlite3 libmicrohttpd-dev libdw-dev"
    packages="$packages chromium-headless-shell valgrind abigail-tools"
    command -v npm >/dev/null || packages="$packages nodejs npm" # other packages bring both, too
    ;;
aarch64) packages="make pkg-config gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user" ;;
compilers)
    packages="$packages g++ libcmocka-dev libjansson-dev gcc-11 g++-11 gcc-12 g++-12"
    packages="$packages clang-13 clang-14 clang-15 clang-16 clang-19"
    ;;
bench) packages="$packages pkg-config liblttng-ust-dev" ;;
fuzz) packages="$packages clang libclang-rt-dev llvm python3" ;;
*) echo "usage: $0 demo|check|aarch64|compilers|bench|fuzz" >&2 && exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
    echo "takt: this is no Debian; the packages needed are called there: $packages"
    exit 0
fi

missing=
for package in $packages; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
    *"ok installed") ;;
    *) missing="$missing $package" ;;
    esac
done
[ "$missing" ] || exit 0

if [ "${TAKT_NO_INSTALL:-0}" != 0 ]; then
    echo "takt: not installed, since TAKT_NO_INSTALL is set:$missing"
    exit 0
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    as_root=sudo
    if ! sudo -n true 2>/dev/null; then
        echo "takt: packages are missing. Run this, then try again (or set TAKT_NO_INSTALL=1):" >&2
        echo "    sudo apt-get install --no-install-recommends$missing" >&2
        exit 1
    fi
fi

echo "takt: installing$missing"
$as_root apt-get update -qq </dev/null
known=
for package in $missing; do
    if apt-cache show "$package" >/dev/null 2>&1; then
        known="$known $package"
    else
        echo "takt: this release has no package $package"
    fi
done
# shellcheck disable=SC2086 # one word a package
[ -z "$known" ] ||
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq --no-install-recommends $known </dev/null >/dev/null
