#!/bin/sh
# Installs the Debian or Ubuntu packages that a target needs and that are missing.
#
#     install-packages.sh demo|check|aarch64|compilers|bench|fuzz|fresh
#
# Silent where nothing is missing. Fails only if the target cannot do without what is missing: tests
# whose package is missing are skipped by name. TAKT_NO_INSTALL=1 only says what is missing.
set -eu

needed="gcc libc6-dev make libyaml-dev zlib1g-dev"
useful=
case ${1-} in
demo) ;;
check)
    needed="$needed libcmocka-dev libjansson-dev"
    useful="g++ pkg-config cmake python3 protobuf-compiler clang libclang-rt-dev"
    useful="$useful libsqlite3-dev sqlite3 libmicrohttpd-dev libdw-dev"
    useful="$useful chromium-headless-shell valgrind abigail-tools"
    command -v npm >/dev/null || useful="$useful nodejs npm" # other packages bring both, too
    # Its own clang is older than the one that a test needs.
    ! grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release || useful="$useful clang-16"
    ;;
aarch64) needed="make pkg-config gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user" ;;
compilers)
    needed="$needed g++ libcmocka-dev libjansson-dev"
    useful="python3 gcc-11 g++-11 gcc-12 g++-12 gcc-13 g++-13 gcc-14 g++-14"
    useful="$useful clang-13 clang-14 clang-15 clang-16 clang-18 clang-19"
    ;;
bench) useful="pkg-config liblttng-ust-dev" ;;
fuzz) needed="$needed clang libclang-rt-dev" useful="llvm python3" ;;
fresh) needed="debootstrap git iproute2 make" ;;
*) echo "usage: $0 demo|check|aarch64|compilers|bench|fuzz|fresh" >&2 && exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "takt: this is no Debian; the packages needed are called there: $needed $useful"
    exit 0
fi

missing_of() {
    missing=
    for package in "$@"; do
        case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
        *"ok installed") ;;
        *) missing="$missing $package" ;;
        esac
    done
}

# Ends the script, well if the target can do without what is missing.
#
#     leave REASON
leave() {
    # shellcheck disable=SC2086 # one word a package
    missing_of $needed $useful
    [ "$missing" ] || exit 0
    echo "takt: $1. To install what is missing, as root or by your administrator:"
    echo "    apt-get install --no-install-recommends$missing"
    # shellcheck disable=SC2086
    missing_of $needed
    if [ "$missing" ]; then
        echo "takt: make $target cannot do without$missing" >&2
        exit 1
    fi
    echo "takt: going on without them: tests that need one of them are skipped by name"
    exit 0
}
target=$1

# shellcheck disable=SC2086
missing_of $needed $useful
[ "$missing" ] || exit 0
[ "${TAKT_NO_INSTALL:-0}" = 0 ] || leave "installing nothing, since TAKT_NO_INSTALL is set"
as_root=
if [ "$(id -u)" != 0 ]; then
    as_root=sudo
    sudo -n true 2>/dev/null || leave "only root can install packages"
fi

echo "takt: installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Waits while another apt-get is at work, as on a machine that was just started.
# Without Error-Mode it succeeds even if nothing could be fetched.
until $as_root apt-get update -qq -o APT::Update::Error-Mode=any </dev/null 2>"$log"; do
    grep -q 'Could not get lock' "$log" || { cat "$log" && leave "the package archive cannot be reached"; }
    sleep 1
done
known=
for package in $missing; do
    if apt-cache show "$package" >/dev/null 2>&1; then
        known="$known $package"
    else
        echo "takt: this release has no package $package"
    fi
done
[ "$known" ] || leave "nothing could be installed"

# Shows how far it is: what apt-get tells on its own are hundreds of lines. Its exit status comes
# through a file, since a pipe has only the last one's.
# shellcheck disable=SC2086 # one word a package
install() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
        -o DPkg::Lock::Timeout=-1 $known </dev/null 2>&1 || echo "takt: apt-get ended with $?"
}
install | tee "$log" | awk '
    / newly installed,/ { all = $3 + $1; print "takt: " all " packages with what they need themselves"; fflush() }
    /^Get:[0-9]+ / && ++got % 20 == 0 { print "takt: " got " of " all " fetched"; fflush() }
    /^Setting up / && ++set % 20 == 0 { print "takt: " set " of " all " installed"; fflush() }'
if grep -q '^takt: apt-get ended' "$log"; then
    tail -n 15 "$log"
    leave "apt-get could not fetch or install them"
fi
[ "$known" = "$missing" ] || leave "some packages are not in this release"
