#!/bin/bash
# Puts the page of `takt report --html` together: page.html, with the style sheet and the scripts in
# it, and the policy that lets exactly these run.
#
#     assemble.sh FOLDER      writes FOLDER/page.html, of which head.html and tail.html are the parts
#                             before and behind the trace
#
# Marks in page.html are lines of their own: @POLICY@, @STYLE@, @SCRIPT@, and @BLOCKS@ for the trace.
set -eu
here=$(dirname "$0")
out=$1
export LC_ALL=C

cat "$here"/*.css >"$out/style"
cat "$here"/*.js >"$out/script"

# What Content Security Policy Level 3 calls the hash of an element: of the text between its tags, to
# which the end of the opening tag's line belongs.
hash_of() { # FILE
    local digits
    digits=$({ echo && cat "$1"; } | sha256sum)
    printf 'sha256-'
    printf '%b' "$(sed 's/ .*//; s/../\\x&/g' <<<"$digits")" | base64
}
policy="default-src 'none'; script-src '$(hash_of "$out/script")'; style-src '$(hash_of "$out/style")'"
policy="$policy; img-src data:; base-uri 'none'; form-action 'none'"

sed -e "s|^@POLICY@\$|<meta http-equiv=\"Content-Security-Policy\" content=\"$policy\">|" \
    -e "/^@STYLE@\$/ {
        r $out/style
        d
    }" \
    -e "/^@SCRIPT@\$/ {
        r $out/script
        d
    }" "$here/page.html" >"$out/page.html"

sed '/^@BLOCKS@$/,$d' "$out/page.html" >"$out/head.html"
sed '1,/^@BLOCKS@$/d' "$out/page.html" >"$out/tail.html"
