#!/bin/bash
# Fails where the libraries show, need or weigh what they should not.
#
#     check-symbols.sh        with TAKT_LIB and TAKT_BUILD, default lib/ and build/
set -euo pipefail
cd "${TAKT_ROOT:-$(dirname "$0")/..}"
lib=${TAKT_LIB:-lib} build=${TAKT_BUILD:-build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
errors=0

# Complains about each line of the input; `what` says what is wrong with it.
refuse() {
    local line
    while read -r line; do
        echo "$1: $line"
        errors=$((errors + 1))
    done
}

# Each name carries the release that brought it: takt_scope_end_v1@@TAKT_0.1. No node of src/takt.map
# may be newer than the headers; `sort -V` puts the newest last.
number() {
    awk -v name="$1" '$2 == name { print $3 }' include/takt/base.h
}
headers=TAKT_$(number TAKT_VERSION_MAJOR).$(number TAKT_VERSION_MINOR)
exported=$(nm -D --defined-only --with-symbol-versions "$lib/libtakt.so" | awk '$2 != "A" { print $3 }')
[ -n "$exported" ] || refuse "libtakt.so" <<<"exports nothing"
refuse "libtakt.so exports" < <(grep -vE '^takt_[a-z0-9_]+@@TAKT_[0-9]+\.[0-9]+$' <<<"$exported")
newest=$(sed 's/.*@@//' <<<"$exported"$'\n'"$headers" | sort -uV | tail -n 1)
[ "$newest" = "$headers" ] || refuse "src/takt.map" <<<"has $newest, the headers are of $headers"
soname=$(readelf -dW "$lib/libtakt.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = "libtakt.so.$(number TAKT_ABI)" ] ||
    refuse "libtakt.so" <<<"is called $soname, TAKT_ABI is $(number TAKT_ABI)"

# NVTX's headers bring their implementation along, as weak symbols that all their users share.
refuse "libtakt.a shows" < <(nm -A --extern-only --defined-only "$lib/libtakt.a" |
    awk '$NF ~ /^(takt|tkt)_/ { next }
         $(NF - 1) ~ /[VW]/ && $NF ~ /^(nvtx|InitializeInjectionNvtx)/ { next }
         { print $NF, "of", $1 }')

# The command uses the layers that test/layers.txt names, and the files of headers that it names, and
# no others by the back door.
may_use() {
    local layer
    for layer in $(sed -n 's/^cli: *//p' test/layers.txt); do
        case $layer in
        *.h) nm --defined-only "$build/obj/src/${layer%.h}.o" ;;
        *) nm --defined-only "$build/obj/src/$layer/"*.o ;;
        esac | awk 'NF == 3 { print $3 }'
    done
}
refuse "bin/takt uses the hidden" < <(comm -23 \
    <(find "$build/obj/src/cli" -name '*.o' -exec nm -u {} + |
        awk '$2 ~ /^tkt_/ { print $2 }' | sort -u) \
    <(may_use | sort -u))

dynamic=$(readelf -dW "$lib/libtakt.so")
refuse "libtakt.so needs" < <(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$dynamic" |
    grep -vE '^(libc|libm|libpthread|libdl|libyaml-0|libz|ld-linux-(x86-64|aarch64))\.so\.[0-9]+$')
for flag in NOW NODELETE; do
    grep -q "FLAGS.*$flag" <<<"$dynamic" || refuse "libtakt.so" <<<"is not linked with -z ${flag,,}"
done

# A plugin may be opened late: then thread-local storage must fit what the loader keeps in reserve.
tls_bytes=$(readelf -lW "$lib/libtakt.so" | awk '$1 == "TLS" { print $6 }')
tls_bytes=$((${tls_bytes:-0}))
[ "$tls_bytes" -le 80 ] || refuse "libtakt.so" <<<"has $tls_bytes bytes of TLS, 80 at most"
refuse "libtakt.so has TLS that is not initial-exec" < <(readelf -rW "$lib/libtakt.so" |
    grep -E 'DTPMOD|DTPOFF|TLSDESC')

strip -o "$scratch/libtakt.so" "$lib/libtakt.so"
bytes=$(stat -c %s "$scratch/libtakt.so")
[ "$bytes" -le $((640 * 1024)) ] || refuse "libtakt.so" <<<"is $bytes bytes, 655360 at most"
told=$(sed -n 's/^`libtakt.so` has \([0-9]*\) KiB stripped.*/\1/p' docs/overhead.md)
off=$((bytes * 100 / (${told:-1} * 1024) - 100)) # other compilers differ by some per cent
if [ "$(uname -m)" = x86_64 ] && [ ${off#-} -gt 5 ]; then
    refuse "docs/overhead.md" <<<"tells ${told:-no} KiB; libtakt.so has $((bytes / 1024)) KiB stripped"
fi

echo "libtakt.so: $bytes bytes stripped, $tls_bytes of TLS, $(wc -l <<<"$exported") names"
[ "$errors" = 0 ]
