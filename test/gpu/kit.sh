#!/bin/sh
# Runs the kit: every program of this folder on the GPU of this machine, one after another. It needs
# a shell and NVIDIA's driver; what else it uses, it looks for.
#
#     run.sh [quick] [FOLDER]
#
# FOLDER, or $OUT, or ./results, gets summary.txt (a few pages), report.txt (all that was printed), what
# CUPTI wrote and traces: at most 8 files of at most 16 MiB each, 64 MiB together. All programs take
# less than 9.5 minutes, with "quick" less than 3. A program that crashes or does not end is told of, and
# the next one runs. Exit status: 0 if all programs ran and found nothing wrong, otherwise 1.
#
# TAKT_CUPTI_LIBRARY names the libcupti to use. KIT_SECONDS is the time for everything (560, quick 170),
# KIT_LIMIT a program's time instead of its own, as SECONDS for all or NAME=SECONDS for one,
# KIT_ONLY the names of those to run.
set -u

usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$kit/run.sh"; }
kit=$(cd "$(dirname "$0")" && pwd) || exit 1
quick='' folder=''
for argument in "$@"; do
    case $argument in
    -h | --help) usage && exit 0 ;;
    quick) quick=quick ;;
    -*) echo "run.sh: no such option: $argument" >&2 && usage >&2 && exit 2 ;;
    *) folder=$argument ;;
    esac
done
folder=${folder:-${OUT:-results}}
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/takt-kit.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$work/traces" "$work/recordings" "$work/tmp"
TMPDIR=$work/tmp
export TMPDIR
unset TAKT_CONFIG TAKT_OPTIONS

report=$work/report.txt table=$work/table
: >"$report" && : >"$table"
say() { echo "$*" && echo "$*" >>"$report"; }
have() { command -v "$1" >/dev/null 2>&1; }
now() { date +%s; }

begun=$(now)
seconds=${KIT_SECONDS:-$([ -n "$quick" ] && echo 170 || echo 560)}
[ -z "$quick" ] || { GPU_QUICK=1 && export GPU_QUICK; }

# --- what is here ---------------------------------------------------------------------------------

# Folders that may have NVIDIA's libraries, the likeliest first.
library_folders() {
    echo "${LD_LIBRARY_PATH-}" | tr ':' '\n'
    if [ -n "$python" ]; then
        "$python" - 2>/dev/null <<'PYTHON'
import glob, site, sys, sysconfig
bases = [sysconfig.get_path("purelib"), *site.getsitepackages(), *sys.path]
for base in dict.fromkeys(base for base in bases if base):
    for part in ("cu13", "cuda_cupti", "cu1[0-9]", "cublas"):
        for found in sorted(glob.glob(f"{base}/nvidia/{part}/lib")):
            print(found)
PYTHON
    fi
    for home in "${CUDA_HOME-}" "${CUDA_PATH-}" /usr/local/cuda /usr/local/cuda-1?.?; do
        [ -z "$home" ] || printf '%s\n' "$home/lib64" "$home/extras/CUPTI/lib64" "$home/lib"
    done
    printf '%s\n' /usr/local/nvidia/lib64 /usr/local/nvidia/lib # containers have the driver there
    printf '%s\n' /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64 "$kit/cupti"
}

# All files of these names, of which the first one is used.
find_libraries() { # NAME...
    library_folders | while read -r place; do
        for name in "$@"; do
            [ -z "$place" ] || [ ! -e "$place/$name" ] || echo "$place/$name"
        done
    done | awk '!seen[$0]++'
}

real() { readlink -f "$1" 2>/dev/null || echo "$1"; }

describe_machine() {
    say "# Takt's kit for a GPU${quick:+, quick}: $(date '+%Y-%m-%d %H:%M %Z')"
    sed 's/^/kit: /' "$kit/about.txt" | tee -a "$report"
    say "system: $(uname -srm), $(getconf _NPROCESSORS_ONLN 2>/dev/null || echo '?') processors"
    sed -n 's/^model name[[:space:]]*: /processor: /p' /proc/cpuinfo 2>/dev/null | head -n 1 |
        tee -a "$report"
    if have nvidia-smi; then
        nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,persistence_mode \
            --format=csv,noheader 2>&1 | sed 's/^/nvidia-smi: /' | tee -a "$report"
    else
        say "nvidia-smi: not there"
    fi
    [ ! -r /proc/driver/nvidia/version ] ||
        sed -n '1s/^/driver: /p' /proc/driver/nvidia/version | tee -a "$report"
    find_libraries libcuda.so.1 | while read -r path; do
        echo "libcuda found: $path -> $(real "$path")"
    done | tee -a "$report"
    find_libraries libcupti.so.13 libcupti.so.12 | while read -r path; do
        echo "libcupti found: $path -> $(real "$path")"
    done | tee -a "$report"
    say "libcupti used: ${TAKT_CUPTI_LIBRARY:-none}"
    find_libraries libcudart.so.13 | while read -r path; do
        echo "libcudart found: $path"
    done | tee -a "$report"
    say "libcudart used: $(cudart_used)"
    if [ -n "$python" ]; then
        say "python: $python, $("$python" --version 2>&1)"
    else
        say "python: none"
    fi
}

cudart_used() {
    for place in $(echo "${LD_LIBRARY_PATH-}" | tr ':' ' ') "$kit/lib"; do
        [ ! -e "$place/libcudart.so.13" ] || { echo "$place/libcudart.so.13" && return; }
    done
}

# --- running --------------------------------------------------------------------------------------

# Runs a command for at most so many seconds; 124 if it did not end.
limited() { # SECONDS COMMAND...
    limit=$1
    shift
    if have timeout && [ -z "${KIT_NO_TIMEOUT-}" ]; then
        timeout -k 2 "$limit" "$@"
        return $?
    fi
    "$@" &
    child=$!
    until=$(($(now) + limit))
    while kill -0 "$child" 2>/dev/null; do
        if [ "$(now)" -ge "$until" ]; then
            kill -9 "$child" 2>/dev/null
            wait "$child" 2>/dev/null
            return 124
        fi
        sleep 0.1 2>/dev/null || sleep 1
    done
    wait "$child"
}

count=0 total=0 ran=0 wrong=0 skipped=0 is_counting=1
line() { printf '%-18s %-28s %4s s\n' "$1" "$2" "$3" >>"$table"; }

# One program: its name, its longest time, and what to run.
step() { # NAME SECONDS COMMAND...
    case " ${KIT_ONLY:-$1} " in
    *" $1 "*) ;;
    *) return ;;
    esac
    if [ -n "$is_counting" ]; then
        total=$((total + 1))
        return
    fi
    name=$1 most=$2
    shift 2
    count=$((count + 1))
    left=$((begun + seconds - $(now)))
    for limit in ${KIT_LIMIT-}; do
        case $limit in
        *=*) [ "${limit%=*}" != "$name" ] || most=${limit#*=} ;;
        *) most=$limit ;;
        esac
    done
    [ "$most" -le "$left" ] || most=$left
    if [ "$most" -le 0 ]; then
        say "$count/$total $name ... not run: the time is used up"
        line "$name" "NOT RUN: out of time" 0
        wrong=$((wrong + 1))
        return
    fi
    printf '%s' "$count/$total $name ... "
    step_begun=$(now)
    limited "$most" "$@" >"$work/output" 2>&1 </dev/null
    status=$?
    took=$(($(now) - step_begun))
    case $status in
    0) verdict=ok && ran=$((ran + 1)) ;;
    77)
        if grep -q 'needs a CUDA device' "$work/output"; then
            verdict="NO DEVICE" && wrong=$((wrong + 1))
        else
            verdict=skipped && skipped=$((skipped + 1))
        fi
        ;;
    124 | 137) verdict="DID NOT END in $most s" && wrong=$((wrong + 1)) ;;
    12[89] | 1[3-9][0-9]) verdict="CRASHED, signal $((status - 128))" && wrong=$((wrong + 1)) ;;
    *) verdict="FAILED, status $status" && wrong=$((wrong + 1)) ;;
    esac
    echo "$took s, $verdict"
    line "$name" "$verdict" "$took"
    {
        echo && echo "== $count/$total $name: $verdict, $took s"
        head -c 262144 "$work/output"
        [ "$(wc -c <"$work/output")" -le 262144 ] || printf '\n(cut here)\n'
    } >>"$report"
    case $verdict in
    skipped) tail -n 1 "$work/output" | sed 's/^/    /' | tee -a "$table" ;;
    ok) ;;
    *) grep -v '^ ' "$work/output" | tail -n 3 | cut -c 1-160 | sed 's/^/    /' | tee -a "$table" ;;
    esac
    sed -n 's/^\* /    /p' "$work/output" >>"$table" # what programs marked with a star
}

program() { # NAME SECONDS ARGUMENTS...
    what=$1 long=$2
    shift 2
    step "$what${1:+ $*}" "$long" "$kit/bin/$what" "$@"
}

# --- what is run ----------------------------------------------------------------------------------

run_samples() {
    step "takt doctor" 20 "$kit/bin/takt" doctor
    for sample in graph inc_loop phases report_callback stream_overlap; do
        program $sample 30
    done
    if [ -n "$cublas" ]; then
        step cublas_builtin 30 env LD_LIBRARY_PATH="${LD_LIBRARY_PATH-}:${cublas%/*}" \
            "$kit/bin/cublas_builtin"
    else
        step cublas_builtin 1 sh -c 'echo "no libcublas.so.13 here"; exit 77'
    fi
    step sph 40 "$kit/bin/sph" --device cuda --steps 60 --profile "$kit/profile.yaml" \
        --output.directory "$work/traces"
}

# One short program with each libcupti besides the one that is used.
other_cuptis() {
    number=1
    for path in $other_cuptis; do
        number=$((number + 1))
        step "cupti_$number" 40 sh -c 'echo "* libcupti $1"; TAKT_CUPTI_LIBRARY=$1 exec "$0" release' \
            "$kit/bin/gpu_graphs" "$path"
    done
}

# What nobody knows yet comes first.
run_open_questions() {
    program gpu_windows 90
    program gpu_cost 120
    program gpu_finalize 100
    program gpu_graphs 90
    program gpu_empty 40
    program gpu_counters 60
    program gpu_processes 100
    other_cuptis
    program gpu_phases 40
    # Beside a framework, Takt has to find the libcupti that the framework has loaded.
    for name in torch torch-graph jax cupy warp; do
        if [ -n "$python" ]; then
            step python_$name 150 sh -c "$unset"' exec "$0" "$@"' "$python" "$kit/python_loop.py" $name
        else
            step python_$name 1 sh -c 'echo "no python3 here"; exit 77'
        fi
    done
}

run_programs() {
    for name in gpu_scopes gpu_events gpu_marks; do
        program $name 30
    done
    step gpu_record 30 env GPU_RECORD="$work/recordings/everything.recording" "$kit/bin/gpu_record"
    program gpu_calls 20
    program gpu_forms 60
    program gpu_captures 120
    program gpu_graph_ids 40
    program gpu_flush 40
    program gpu_threads 60
    program gpu_counts 90
    program gpu_switch 40
    program gpu_gaps 40
    ! have compute-sanitizer ||
        step gpu_phases_memcheck 60 compute-sanitizer --error-exitcode 1 --report-api-errors no \
            "$kit/bin/gpu_phases"
    program gpu_endings 60
    program gpu_errors 40
    program gpu_clocks 100
}

plan() {
    run_open_questions
    run_samples
    run_programs
}

# --- results --------------------------------------------------------------------------------------

size_of() { wc -c <"$1" | tr -d ' '; }
most_bytes=16777216 all_bytes=67108864 most_files=8

# Copies a file into the results if it fits; texts are cut, others are left out with a word.
pack() { # FILE
    name=$(basename "$1")
    size=$(size_of "$1")
    if [ "$packed" -ge $most_files ]; then
        echo "left out: $name: there are $most_files files" >>"$summary"
    elif [ "$size" -le $most_bytes ] && [ $((bytes + size)) -le $all_bytes ]; then
        cp "$1" "$folder/$name"
        bytes=$((bytes + size)) packed=$((packed + 1))
    elif [ "$name" = report.txt ]; then
        head -c $((most_bytes - 64)) "$1" >"$folder/$name" && echo '(cut here)' >>"$folder/$name"
        bytes=$((bytes + most_bytes)) packed=$((packed + 1))
        echo "cut: $name had $size bytes" >>"$summary"
    else
        echo "left out: $name has $size bytes" >>"$summary"
    fi
}

# Many files as one, where there is a tar; the largest ones stay behind until it fits.
bundle() { # FOLDER
    [ -n "$(ls "$work/$1")" ] || return 0
    if ! have tar || ! have gzip; then
        for file in "$work/$1"/*; do pack "$file"; done
        return
    fi
    while :; do
        tar -C "$work" -czf "$work/$1.tar.gz" "$1"
        [ "$(size_of "$work/$1.tar.gz")" -gt $most_bytes ] || break
        largest=$(ls -S "$work/$1" | head -n 1)
        echo "left out: $1/$largest has $(size_of "$work/$1/$largest") bytes" >>"$summary"
        rm -f "$work/$1/$largest"
        [ -n "$(ls "$work/$1")" ] || return 0
    done
    pack "$work/$1.tar.gz"
}

write_results() {
    summary=$work/summary.txt packed=1 bytes=0
    {
        sed -n '/^kit: /d; / found: /d; /^$/q; p' "$report"
        echo
        cat "$table"
        echo
        echo "$ran ok, $wrong wrong, $skipped skipped, $(grep -c 'BUDGET MISSED' "$table") budgets missed," \
            "$(($(now) - begun)) s"
    } >"$summary"
    for old in summary.txt report.txt recordings.tar.gz traces.tar.gz; do rm -f "$folder/$old"; done
    pack "$report"
    bundle recordings
    bundle traces
    cp "$summary" "$folder/summary.txt"
}

python=
for candidate in "${PYTHON-}" python3; do
    [ -n "$python" ] || [ -z "$candidate" ] || ! have "$candidate" || python=$candidate
done
case $(find_libraries libcuda.so.1 | head -n 1) in
/usr/local/nvidia/*)
    LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/nvidia/lib64:/usr/local/nvidia/lib
    export LD_LIBRARY_PATH
    ;;
esac
cublas=$(find_libraries libcublas.so.13 | head -n 1)
unset=''
if [ -z "${TAKT_CUPTI_LIBRARY-}" ]; then
    unset='unset TAKT_CUPTI_LIBRARY;'
    TAKT_CUPTI_LIBRARY=$(find_libraries libcupti.so.13 libcupti.so.12 | head -n 1)
    export TAKT_CUPTI_LIBRARY
fi
other_cuptis='' # of another size than those before: a package may be there twice
sizes=" $(size_of "$TAKT_CUPTI_LIBRARY" 2>/dev/null) "
for path in $(find_libraries libcupti.so.13 libcupti.so.12); do
    size=$(size_of "$path")
    case $sizes in
    *" $size "*) ;;
    *) sizes="$sizes$size " other_cuptis="$other_cuptis $path" ;;
    esac
done
describe_machine
plan
is_counting=
plan
write_results
echo
cat "$folder/summary.txt"
echo "results: $folder"
[ "$wrong" = 0 ] && [ "$ran" -gt 0 ]
