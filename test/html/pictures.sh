#!/bin/bash
# Makes the pictures of the README from a run of the fluid on the processor: what the terminal shows,
# and the page. Arguments: the folder for terminal.svg and page.png.
. "${0%/*}/../support/lib_script.sh"
. "${0%/*}/../support/lib_npm.sh"
. "${0%/*}/lib_pages.sh"

"$TAKT_BIN/samples/sph" --device cpu --steps 40 --profile samples/sph/profile.yaml \
    --output.directory "$scratch" >"$scratch/out" 2>&1 ||
    { echo "sph fails: $(cat "$scratch/out")" && exit 1; }
page sph "$scratch/sph.0.pftrace"
command="takt report --scopes sph.0.pftrace"
(cd "$scratch" && echo "\$ $command" && COLUMNS=96 "$takt" ${command#takt } --color always) >"$scratch/terminal"
node "${0%/*}/pictures.js" "$scratch/terminal" "$scratch/sph.html" "$1" || exit 1
for file in terminal.svg page.png; do
    bytes=$(stat -c %s "$1/$file")
    echo "$1/$file: $bytes bytes"
    [ "$bytes" -le 150000 ] || exit 1
done
