#!/bin/bash
# Puts the kit together: test/gpu/README.md. `make gpu-kit` builds what it copies.
#
#     make_kit.sh FOLDER TOOLKIT PROGRAM-OR-LIBRARY...
#
# FOLDER is made anew; FOLDER.tar.gz is the same for carrying. The driver's libraries and the C
# library are the other machine's, and so are large ones of the toolkit, which samples can do without.
set -euo pipefail
kit=$1 toolkit=$2
shift 2
limit=$((50 * 1024 * 1024))
rm -rf "$kit" "$kit.tar.gz"
mkdir -p "$kit/bin" "$kit/lib" "$kit/cupti"

for file in "$@"; do
    case $file in
    *.so*) strip -o "$kit/lib/$(basename "$file")" "$file" ;;
    *) strip -o "$kit/bin/$(basename "$file")" "$file" ;;
    esac
done

# Each library that a program needs, under the name by which it is asked for.
ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u |
    while read -r name path; do
        case $name in
        libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | libresolv.so*) ;;
        libcuda.so* | libcublas*.so*) ;;
        *) cp -L "$path" "$kit/lib/$name" && chmod u+w "$kit/lib/$name" ;;
        esac
    done

# Where the other machine has no libcupti, run.sh takes this one.
for name in "$toolkit"/lib64/libcupti.so.1? "$toolkit"/extras/CUPTI/lib64/libcupti.so.1?; do
    [ ! -e "$name" ] || cp -L "$name" "$kit/cupti/"
done

cp test/gpu/kit.sh "$kit/run.sh"
cp test/gpu/*.py samples/sph/profile.yaml "$kit/"
{
    sed -n 's/^#define TAKT_VERSION_\([A-Z]*\) *\([0-9]*\).*/\2/p' include/takt/base.h | paste -sd. |
        sed 's/^/takt /'
    git describe --always --dirty 2>/dev/null | sed 's/^/commit /' || true
    "$toolkit/bin/nvcc" --version | grep release
    ${CC:-cc} --version | sed -n 1p
    ldd --version | sed -n 1p
} >"$kit/about.txt"

bytes=$(du -sb "$kit" | cut -f 1)
[ "$bytes" -le "$limit" ] || { echo "$kit has $bytes bytes, over $limit" >&2 && exit 1; }
tar -C "$(dirname "$kit")" -czf "$kit.tar.gz" "$(basename "$kit")"
echo "$kit: $((bytes / 1024)) KiB; $kit.tar.gz: $(($(stat -c %s "$kit.tar.gz") / 1024)) KiB"
