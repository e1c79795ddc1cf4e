#!/bin/bash
# Assembles the page of `takt report --html` from page.html, the style sheet and the scripts, and
# adds a security policy that allows exactly these.
#
# assemble.sh FOLDER
#
# writes FOLDER/page.html, and its parts before and after the trace as head.html and tail.html.
#
# These marks stand on their own lines in page.html: @POLICY@, @STYLE@, @SCRIPT@ and, for the trace,
# @BLOCKS@. Explanations of columns come from docs/reports.md and docs/comparing.md.
set -eu
here=$(dirname "$0")
out=$1
export LC_ALL=C

# Leaves out comments that have their lines to themselves.
code() { awk '/^ *\/\*/ { inside = 1 } !inside; inside && /\*\/$/ { inside = 0 }' "$@"; }

code "$here"/*.css >"$out/style"
{
    awk -f "$here/columns.awk" "$here"/../../../docs/{reports,comparing}.md
    code "$here"/*.js
} >"$out/script"

# Prints the hash of an element as Content Security Policy Level 3 defines it: over the text between
# the tags, which begins with the newline after the opening tag.
hash_of() { # FILE
    local digits
    digits=$({ echo && cat "$1"; } | sha256sum)
    printf 'sha256-'
    printf '%b' "$(sed 's/ .*//; s/../\\x&/g' <<<"$digits")" | base64
}
policy="default-src 'none'; script-src '$(hash_of "$out/script")'; style-src '$(hash_of "$out/style")'"
policy="$policy; worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"

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
