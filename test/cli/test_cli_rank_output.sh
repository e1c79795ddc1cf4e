#!/bin/bash
# Of the ranks of a job rank 0 prints reports, which say so; all have theirs in files, if asked to. In a
# launcher's terminal there are no colours, and no width of its own.
. "${0%/*}/../support/lib_script.sh"
need "${CC:-cc}"
cd "$scratch" || exit 1
printf '%s\n' '#include <takt/takt.h>' 'int main(void) { takt_profiler_start(NULL);' \
    'for (int i = 0; i < 3; i++) { { TAKT_SCOPE("forces"); } takt_profiler_step(NULL); }' \
    'return takt_profiler_stop(NULL); }' >program.c
compile program.c -o program || exit 1

rank() { # RANK SIZE [OPTION...]
    OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_SIZE=$2 \
        TAKT_OPTIONS="profiling.active=0 reports=scopes output.directory=$scratch/files output.traces= ${*:3}" "$scratch/program"
}
for size in 1 3; do
    rm -rf files
    rank 0 $size >out.0 2>err.0 || fail "rank 0 of $size fails: $(cat err.0)"
    [ "$(grep -c 'Self CPU time total' out.0)" -gt 0 ] || fail "rank 0 of $size prints no table"
done
grep -q '^rank 0 of 3; of all: ' out.0 || fail "rank 0 does not say who it is: $(head -n 2 out.0)"
rank 1 3 >out.1 2>err.1 || fail "rank 1 fails: $(cat err.1)"
! grep -q 'Self CPU' out.1 || fail "rank 1 prints tables"
for one in 0 1; do
    rank $one 2 output.reports=tables.txt >out 2>err || fail "rank $one fails: $(cat err)"
    [ "$(head -n 1 "files/tables.rank$one.txt")" = "rank $one of 2" ] || fail "the file of rank $one begins otherwise"
done

if has_terminal; then
    cat >terminal.py <<'END'
import os, pty, sys
def keep(fd):
    data = os.read(fd, 65536)
    open("typed", "ab").write(data)
    return data
os.environ["TERM"] = "xterm"
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], keep)))
END
    for size in 1 2; do
        rm -f typed
        OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=$size TAKT_OPTIONS="profiling.active=0 reports=scopes output.traces= output.directory=$scratch/files" \
            python3 terminal.py "$scratch/program" >said 2>&1 || fail "fails in a terminal, $size ranks: $(tail -n 3 said)"
        grep -q $'\033' typed && colours=yes || colours=no
        [ $size = 1 ] || [ $colours = no ] || fail "a rank of $size writes escapes"
    done
else
    leave_out "a launcher's terminal" "$no_terminal"
fi
finish "rank 0 prints"
