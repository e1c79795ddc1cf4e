#!/bin/bash
# Builds Takt for aarch64 with Debian's cross compiler, and runs it under qemu-user.
#
#     check.sh [MAKE'S ARGUMENTS...]     with MAKE and B as make had them
#
# The libraries that Takt needs come from Debian's arm64, unpacked into a folder: nothing of another
# architecture is installed on this machine. Where compiler, emulator or libraries cannot be had,
# that is said and nothing fails.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$B/aarch64
libraries=(libyaml-dev zlib1g-dev libsqlite3-dev libdw-dev libcmocka-dev libjansson-dev libgomp1
    libstdc++6)

skip() {
    echo "check-aarch64 skipped: $*"
    exit 0
}

for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64; do
    command -v $tool >/dev/null || skip "there is no $tool"
done

# An apt of its own, to which this machine is an arm64 on which nothing is installed yet.
apt() {
    APT_CONFIG=$scratch/apt.conf timeout 300 apt-get -qq "$@" </dev/null >/dev/null
}
begin_apt() {
    mkdir -p "$scratch/lists/partial" "$scratch/cache/archives/partial"
    : >"$scratch/status"
    cat >"$scratch/apt.conf" <<END
#clear APT::Architectures;
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
APT::Install-Recommends "false";
Acquire::Languages "none";
Dir::State "$scratch";
Dir::State::Lists "$scratch/lists";
Dir::State::status "$scratch/status";
Dir::Cache "$scratch/cache";
END
}

# The folder with the libraries. It is made under another name, so that it is there as a whole.
unpack_libraries() {
    local root=$1 tool package
    for tool in apt-get dpkg-deb; do
        command -v $tool >/dev/null || skip "there is no $tool: this is no Debian"
    done
    scratch=$(mktemp -d) || exit 1
    trap 'rm -rf "$scratch"' EXIT
    begin_apt
    apt update || echo "check-aarch64: not all lists of packages can be had"
    apt install --yes --download-only "${libraries[@]}" ||
        skip "the libraries for arm64 cannot be had"
    rm -rf "$root" "$root.new"
    mkdir -p "$root.new"
    for package in "$scratch"/cache/archives/*.deb; do
        dpkg-deb --extract "$package" "$root.new" || skip "$package cannot be unpacked"
    done
    echo "${libraries[*]}" >"$root.new/packages"
    mv "$root.new" "$root"
}

mkdir -p "$build"
root=$(realpath "$build")/root
[ "$(cat "$root/packages" 2>/dev/null)" = "${libraries[*]}" ] || unpack_libraries "$root"

# Return addresses are signed, as Ubuntu's and Fedora's compilers do it for aarch64.
export PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export QEMU_LD_PREFIX=$root QEMU_CPU=${QEMU_CPU:-max} TEST_RUNNER=qemu-aarch64
options="--sysroot=$root -mbranch-protection=standard"
exec "$MAKE" B="$build" CC="aarch64-linux-gnu-gcc $options" CXX="aarch64-linux-gnu-g++ $options" \
    AR=aarch64-linux-gnu-ar SAN= CUDA=0 WERROR=1 "$@" check-emulated
