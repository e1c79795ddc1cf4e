# Takt in one file, in the folder $into. build() makes a program with it.
. "${0%/*}/../support/lib_script.sh"
need python3
cd "$TAKT_ROOT" || exit 1
# Variables given to the outer make reach the inner one; its job server does not.
MAKEFLAGS=$(sed -E 's/(^| )(-j[0-9]*|--jobserver[^ ]*)//g' <<<"${MAKEFLAGS-}")
export MAKEFLAGS
into=$scratch/takt
make --silent amalgamation INTO="$into" >/dev/null || fail "make amalgamation fails"
# In so long a file the last one takes gcc as long as all else; the files alone are compiled with it.
warnings=(-Wall -Wextra -Werror -Wno-misleading-indentation)

# What includes <takt/scope.h> finds the one header there, too.
mkdir "$scratch/takt-headers" "$scratch/takt-headers/takt"
for header in include/takt/*.h; do
    echo '#include "../../takt/takt.h"' >"$scratch/takt-headers/takt/${header##*/}"
done
build() { # OUT SOURCE LIBRARY...
    ${CC:-cc} -D_GNU_SOURCE -I"$scratch/takt-headers" -Itest -o "$1" "$2" "${@:3}" -pthread -lm -ldl ||
        fail "$2 does not build"
}
