#!/bin/bash
# Everything that can go wrong with CUPTI and the driver, on the stand-ins: whatever it is, the
# program computes what it computes without Takt, ends as it would have, and is told in one line or
# by a count when something is missing. And Takt never does with CUPTI what hangs or crashes with
# the real one.
cd "${TAKT_ROOT:-$(dirname "$0")/../..}" || exit 1
. test/support/lib_script.sh || exit 1
sim=$TAKT_BUILD/simgpu
program=$TAKT_BUILD/test/simgpu/prog_faults
last=none
log=() found=() results=() alone=()
durations='kernel.density=20000;kernel.forces=10000'
whole='activities 23, kernels 20, in compute 23' # 2 kernels 10 times, 2 copies, a set
locks=
[ -n "${SAN-}" ] || locks=$sim/libsimlocks.so
# A collector that is not back within a second at exit is left to itself.
# The C library frees what a detached thread had of thread-local memory when another takes its stack;
# ThreadSanitizer does not see what orders the two.
echo 'race:dl_deallocate_tls' >"$scratch/unordered"
export TSAN_OPTIONS="${TSAN_OPTIONS-} report_thread_leaks=0 suppressions=$scratch/unordered"
unset TAKT_LOG TAKT_CUPTI_LIBRARY

# Runs the program under a script, into $scratch/NAME and NAME.errors; the status is its last line.
execute() { # NAME SCRIPT WORD...
    local name=$1 script=$2
    shift 2
    {
        LD_PRELOAD=$locks LD_LIBRARY_PATH=$sim/$flavour TAKT_SIM="$durations;$script" \
            timeout -s KILL 600 "$program" "$@" >"$scratch/$name" 2>"$scratch/$name.errors"
        echo "status $?" >>"$scratch/$name"
    } 2>/dev/null # bash's own word about a crash
}

# The lines of a file, which need not be there, in an array; without a process, since processes are
# what this test would otherwise spend its time on.
read_lines() { # ARRAY FILE
    eval "$1=()"
    [ ! -e "$2" ] || mapfile -t "$1" <"$2"
}

# True if a line fits the pattern.
any() { # PATTERN LINE...
    local pattern=$1 line
    shift
    for line in "$@"; do
        [[ ! $line =~ $pattern ]] || return 0
    done
    return 1
}

# What a program printed: in `found` what it finds, in `results` the rest, in `log` what Takt says.
read_run() { # NAME
    local line all
    found=() results=()
    read_lines all "$scratch/$1"
    read_lines log "$scratch/$1.errors"
    for line in "${all[@]}"; do
        if [[ $line == '# '* ]]; then found+=("${line:2}"); else results+=("$line"); fi
    done
}

# under WHAT SCRIPT WORD...: the program under a fault, in flavour $flavour (13), compared with
# itself without Takt.
under() {
    what="$1 (${2:-no script}${3+, }${*:3})"
    local script=$2 line counts
    shift 2
    flavour=${flavour-13}
    # Faults of CUPTI are none of a program that does not use it.
    if [ "${last-}" != "$*$([[ $script != devices* ]] || echo "$script")" ]; then
        execute without "$script" without "$@"
        last="$*$([[ $script != devices* ]] || echo "$script")"
        read_run without
        alone=("${results[@]}")
    fi
    rm -f "$scratch/counts"
    execute with "$script;cupti.report=$scratch/counts" "$@"
    read_run with
    [ "${alone[*]}" = "${results[*]}" ] || fail "$what: results ${results[*]}; alone ${alone[*]}"
    for line in "${log[@]}"; do
        [[ $line == 'takt: '* ]] || fail "$what: $line"
    done
    [ ${#log[@]} -le 1 ] || fail "$what: says more than a line: ${log[*]}"
    read_lines counts "$scratch/counts"
    local wrong='locks_held|after_refusal|in_child|forbidden|not_zeroed|unaligned|late_settings'
    ! any "^($wrong) [1-9]" "${counts[@]}" || fail "$what: ${counts[*]}"
}

says() { # PATTERN; "": not a word
    if [ -z "$1" ]; then
        [ ${#log[@]} = 0 ] || fail "$what: says ${log[*]}"
    else
        any "$1" "${log[@]}" || fail "$what: does not say '$1' but '${log[*]}'"
    fi
}

finds() { # PATTERN of a whole line
    any "^($1)\$" "${found[@]}" || fail "$what: does not find '$1' but: ${found[*]}"
}

# Either everything was recorded, or something tells that it was not.
nothing_lost_in_silence() {
    local lost='^takt: |^(device dropped|incomplete|unattributed|bad time|unknown|overwritten) [1-9]'
    any "^$whole\$" "${found[@]}" || any "$lost" "${log[@]}" "${found[@]}" ||
        fail "$what: lost in silence: ${found[*]}"
}

under "all is well" ''
says ''
finds 'backend CUPTI 13.0 \(130001\)'
finds "$whole"
grep -qx 'calls 0' "$scratch/counts" && fail "$what: CUPTI was not used"
flavour=multi under "all is well" ''
finds 'backend CUPTI 13.3 \(130300\)'
finds "$whole"
TAKT_CUPTI_LIBRARY=$sim/12/libcupti.so.12 flavour=12 under "all is well" ''
finds 'backend CUPTI 12.8 \(26\)'
finds "$whole"

# --- no CUPTI ------------------------------------------------------------------------------------

echo | "${CC:-cc}" -x c -shared -o "$scratch/libcudart.so.13" -
what="no libcuda"
cp "$TAKT_BUILD/test/simgpu/prog_driverless" "$scratch" # away from what it was linked with
LD_LIBRARY_PATH=$scratch "$scratch/prog_driverless" "$scratch/libcudart.so.13" \
    >"$scratch/found" 2>"$scratch/log"
read_lines found "$scratch/found"
read_lines log "$scratch/log"
if ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1 '; then
    echo "a driver is installed here, so that it cannot be taken away"
else
    says ''
    finds 'backend none'
fi

what="libcudart loaded late"
LD_LIBRARY_PATH=$scratch "$scratch/prog_driverless" "$scratch/libcudart.so.13" late \
    >"$scratch/found" 2>"$scratch/log"
read_lines log "$scratch/log"
says '^takt: CUDA was loaded during this recording: activities of devices are recorded from the next'
[ ${#log[@]} = 1 ] || fail "$what: said more than once"

under "a driver without devices" 'devices=0'
says ''
finds 'backend none'
flavour=12 under "a driver without devices, as CUPTI 12 says it" 'devices=0;fault=cuptiSubscribe=15'
says ''
finds 'backend none'

TAKT_CUPTI_LIBRARY=/missing/libcupti.so under "no libcupti" ''
says 'libcupti.* cannot be loaded.*CUDA events take over'
finds 'backend CUDA events'

under "libcupti is too old" 'cupti.version=17'
says 'older than 11.8: install a newer one'
under "libcupti that crashes programs" 'cupti.version=130000'
says 'install the one of CUDA 13.0 Update 1'

cp "$sim/13/libcupti.so.13" "$sim/13/libtaktsim.so" "$scratch"
for function in cuptiActivityFlushAll cuptiSubscribe cuptiActivityGetNextRecord; do
    cp "$sim/13/libcupti.so.13" "$scratch"
    test/simgpu/hide_symbol.sh "$scratch/libcupti.so.13" $function
    TAKT_CUPTI_LIBRARY=$scratch/libcupti.so.13 under "$function is missing" ''
    says 'libcupti lacks functions: install'
done
for function in cuptiSubscribe_v2 cuptiSetThreadIdType; do
    cp "$sim/13/libcupti.so.13" "$scratch"
    test/simgpu/hide_symbol.sh "$scratch/libcupti.so.13" $function
    TAKT_CUPTI_LIBRARY=$scratch/libcupti.so.13 under "$function is missing" ''
    finds "$whole"
done

# --- another tool --------------------------------------------------------------------------------

under "another tool was first" 'cupti.owner=Nsight Systems'
says 'another profiler \(Nsight Systems\) uses CUPTI'
finds 'backend CUDA events'
under "another tool without a name" 'fault=cuptiSubscribe_v2=39'
says 'another profiler \(Nsight, .*\) uses CUPTI'
TAKT_CUPTI_LIBRARY=$sim/12/libcupti.so.12 flavour=12 under "another tool, as 12.x said it" \
    'fault=cuptiSubscribe=12'
says 'another profiler'
under "another tool in mid-run" '' second twice
finds 'another tool: 39'
finds "$whole"
says ''

under "records cannot be measured at first" 'fault=cuptiActivityGetNextRecord@1=14'
says ''
finds "$whole"
under "records cannot be measured" 'fault=cuptiActivityGetNextRecord=14'
says '\(14\): another tool uses it in a way that excludes this one; CUDA events take over'
finds 'backend CUDA events'

# --- two families of functions, from 13.3 on -----------------------------------------------------

for status in 14 1 39; do
    flavour=multi under "only cuptiSubscribe works" "fault=cuptiSubscribe_v2=$status"
    says ''
    finds "$whole"
done
for functions in apart kinds; do
    flavour=multi under "functions of the other family" "cupti.v2_family=$functions" twice
    says ''
    finds 'backend CUPTI 13.3 \(130300\)'
    finds "$whole"
done
flavour=multi under "another tool with a name" 'cupti.owner=Nsight Systems'
says 'another profiler \(Nsight Systems\) uses CUPTI'

# --- statuses ------------------------------------------------------------------------------------

cases='@1=15 @2=999 =15'
[ -z "${SAN-}" ] || cases='=15' # the others would take three times as long
functions=$(grep -oh 'cupti[A-Z][A-Za-z0-9_]*' src/cuda/*.h | sort -u)
for function in $functions; do
    grep -q "X($function," test/simgpu/cupti_abi.h || continue
    for case in $cases; do
        # Without flushes Takt waits until it gives up.
        [ $function = cuptiActivityFlushAll ] && words='twice impatient' || words=twice
        under "a status" "fault=$function$case" $words
        nothing_lost_in_silence
    done
done
for status in 15 35 999; do
    for function in cuptiSubscribe_v2 cuptiActivityRegisterCallbacks cuptiActivityEnable; do
        under "a status" "fault=$function=$status"
        says "\($status\): .*CUDA events take over"
        finds 'backend CUDA events'
    done
    for function in cuptiEnableCallback cuptiGetCallbackName; do
        under "no callbacks" "fault=$function=$status"
        says "\($status\).*CUDA events take over"
        finds 'backend CUDA events'
    done
    under "all kinds but one" "fault=cuptiActivityEnable@2+=$status"
    says "some kinds of activities are missing: .*$status"
    # What is watched is asked for first, then the driver's calls: these are within the runtime's.
    under "some calls" "fault=cuptiEnableCallback@50+=$status"
    says "some kinds of calls are missing: .*$status"
    finds "$whole"
done

# --- records -------------------------------------------------------------------------------------

under "zero timestamps" 'cupti.stamps=zero'
finds 'incomplete 23'
under "some zero timestamps" 'cupti.stamps=zero;cupti.stamps_every=10'
finds 'incomplete 2'
finds 'activities 21, .*'
under "reversed timestamps" 'cupti.stamps=reversed'
finds 'bad time 23'
under "absurd timestamps" 'cupti.stamps=absurd'
finds 'bad time 23'
under "dropped records" 'cupti.drop_every=4'
finds 'device dropped [1-9][0-9]*'
under "unknown kinds" 'cupti.unknown_every=3'
finds "$whole"
under "a corrupted record" 'cupti.order=calls;cupti.corrupt_at=20'
finds 'unknown [1-9]'
under "a cut buffer" 'cupti.order=calls;cupti.corrupt_at=20;cupti.cut=1'
finds 'unknown [1-9]'
under "contexts that do not exist" 'cupti.wrong_context=1'
finds 'unknown 23'
under "kernels without stamps in 13.0" 'cupti.version=130001'
finds "$whole"
under "no callbacks" 'cupti.callbacks=0'
finds 'activities 23, kernels 20, in compute 0'
finds 'unattributed 23'

# --- buffers -------------------------------------------------------------------------------------

under "buffers that come back late" 'cupti.completion=late'
nothing_lost_in_silence
for way in never exit; do
    under "buffers that come back $way" "cupti.completion=$way" impatient
    nothing_lost_in_silence
done
for way in twice thread; do
    under "buffers that come back otherwise: $way" "cupti.completion=$way"
    finds "$whole"
done
TAKT_CUPTI_LIBRARY=$sim/12/libcupti.so.12 flavour=12 under "no buffer may be refused" \
    'cupti.crash_on_null=1' twice
finds "$whole"

# --- hangs, ends ---------------------------------------------------------------------------------

under "a flush does not return" 'cupti.hang=cuptiActivityFlushAll' impatient
nothing_lost_in_silence
for function in cuptiActivityEnable cuptiSubscribe_v2; do
    under "$function does not return" "cupti.hang=$function" impatient
    says 'has not answered for 1 s: .*; try'
    nothing_lost_in_silence
done
# AddressSanitizer's own allocator may be locked in the child.
if [[ ${SAN-} != *address* ]]; then
    under "fork" '' fork
    finds "$whole"
fi
under "exit, recording, while a thread launches" '' exit
under "_exit, recording" '' _exit
under "a stream is being captured" '' capture
finds 'activities 25, kernels 22, .*'
under "the device is reset" '' reset
finds "$whole"

finish "the program is the same under $(wc -w <<<"$functions") functions' faults and all others"
