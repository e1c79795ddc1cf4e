# Takes the explanations of columns from the tables "column | meaning" and "column | key | meaning" of
# docs/reports.md and docs/comparing.md, by section:
#
#     const columnTexts = {"kernels":[["Regs, Local Mem","registers of a thread; local ..."], ...

function plain(text) {
    while (match(text, /\[[^]]*\]\([^)]*\)/)) {
        link = substr(text, RSTART + 1, RLENGTH)
        sub(/\].*/, "", link)
        text = substr(text, 1, RSTART - 1) link substr(text, RSTART + RLENGTH)
    }
    gsub(/[`*]/, "", text)
    gsub(/["\\]/, "\\\\&", text)
    return text
}

BEGIN { printf "'use strict';\nconst columnTexts = {" }

/^## / { section = tolower(substr($0, 4)) }

/^$/ { isTable = 0 }

isTable && !/^\|(---| \|)/ {
    last_cell = split($0, cell, / \| /)
    sub(/ \|$/, "", cell[last_cell])
    printf "%s[\"%s\",\"%s\"]", comma, plain(substr(cell[1], 3)), plain(cell[last_cell])
    comma = ",\n"
}

/^\| column \| (key \| )?meaning \|$/ && section != "folders" {
    isTable = 1
    if (section == last)
        next
    printf "%s\n\"%s\":[", last ? "]," : "", section
    last = section
    comma = ""
}

END { print "]};" }
