#!/bin/bash
# Where libcupti is looked for, in layouts of pip, conda, and toolkits made of stand-ins. The program
# runs from a folder of its own; as the system finds libraries, it finds the driver and no libcupti.
cd "${TAKT_ROOT:-$(dirname "$0")/../..}" || exit 1
. test/support/lib_script.sh || exit 1
sim=$TAKT_BUILD/simgpu
unset TAKT_SIM TAKT_SIM_SCRIPT TAKT_CUPTI_LIBRARY "${!CUDA_@}" VIRTUAL_ENV CONDA_PREFIX
scratch=$(cd "$scratch" && pwd -P) || exit 1
mkdir -p "$scratch/driver" "$scratch/program"
ln "$sim/13/libcuda.so.1" "$sim/13/libtaktsim.so" "$scratch/driver" 2>/dev/null ||
    cp "$sim/13/libcuda.so.1" "$sim/13/libtaktsim.so" "$scratch/driver"
cp "$TAKT_BUILD/test/simgpu/prog_find" "$scratch/program/find"
# What the system has installed is not to be found: the loader stops at these.
echo "no library" | tee "$scratch/driver/libcupti.so.12" >"$scratch/driver/libcupti.so.13"

put() { # LIBRARY PATH: a copy of a stand-in, below the scratch folder
    mkdir -p "$scratch/$(dirname "$2")"
    cp "$sim/$1" "$scratch/$2"
}

takes() { # WHAT PATH [VARIABLE=VALUE...] [-- LIBRARY...]
    local what=$1 expected=$scratch/$2 variables=()
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        variables+=("${1//@/$scratch}")
        shift
    done
    [ $# -eq 0 ] || shift
    env LD_LIBRARY_PATH="$scratch/driver" "${variables[@]}" \
        "$scratch/program/find" "${@/#/$scratch/}" >"$scratch/out" 2>&1 </dev/null
    grep -qxF "taken $expected" "$scratch/out" ||
        { fail "$what: takes another than $expected:" && cat "$scratch/out"; }
}

says() { # PATTERN
    grep -qE -- "$1" "$scratch/out" || { fail "does not say: $1" && cat "$scratch/out"; }
}

# Beside what is loaded.
put 13/libcudart.so.13 pip12/nvidia/cuda_runtime/lib/libcudart.so.12
put 12/libcupti.so.12 pip12/nvidia/cuda_cupti/lib/libcupti.so.12
takes "pip's packages of CUDA 12" pip12/nvidia/cuda_cupti/lib/libcupti.so.12 \
    -- pip12/nvidia/cuda_runtime/lib/libcudart.so.12
put 13/libcudart.so.13 pip13/nvidia/cu13/lib/libcudart.so.13
put 13/libcupti.so.13 pip13/nvidia/cu13/lib/libcupti.so.13
takes "pip's packages of CUDA 13" pip13/nvidia/cu13/lib/libcupti.so.13 \
    -- pip13/nvidia/cu13/lib/libcudart.so.13
put 13/libcudart.so.13 toolkit/lib64/libnvrtc.so.13
put 13/libcudart.so.13 toolkit/targets/x86_64-linux/lib/libcublas.so.13
put 13/libcupti.so.13 toolkit/extras/CUPTI/lib64/libcupti.so.13
takes "a toolkit's libnvrtc" toolkit/extras/CUPTI/lib64/libcupti.so.13 -- toolkit/lib64/libnvrtc.so.13
takes "a toolkit's libcublas" toolkit/extras/CUPTI/lib64/libcupti.so.13 \
    -- toolkit/targets/x86_64-linux/lib/libcublas.so.13
# uv and Spack make folders of links to files elsewhere, whose neighbours are others.
mkdir -p "$scratch/links/lib"
ln -s "$scratch/pip13/nvidia/cu13/lib/libcudart.so.13" "$scratch/links/lib/libcudart.so.13"
takes "a link to libcudart" pip13/nvidia/cu13/lib/libcupti.so.13 -- links/lib/libcudart.so.13
takes "TAKT_CUPTI_LIBRARY" pip12/nvidia/cuda_cupti/lib/libcupti.so.12 \
    TAKT_CUPTI_LIBRARY=@/pip12/nvidia/cuda_cupti/lib/libcupti.so.12 \
    -- pip13/nvidia/cu13/lib/libcudart.so.13

# Loaded already, by a path, with a name of its own that soname look-ups do not know.
put 12/libcupti.so.12 odd/libcupti.so.2025.1.0
LC_ALL=C sed -i 's/\x00libcupti\.so\.12\x00/\x00libcupti.so.77\x00/g' "$scratch/odd/libcupti.so.2025.1.0"
takes "loaded by its path" odd/libcupti.so.2025.1.0 CUDA_HOME=@/toolkit \
    -- pip13/nvidia/cu13/lib/libcudart.so.13 odd/libcupti.so.2025.1.0

# By variables.
put 13/libcupti.so.13 path/lib64/libcupti.so.13
takes "CUDA_PATH" path/lib64/libcupti.so.13 CUDA_PATH=@/path
put 13/libcupti.so.13 sbsa/targets/sbsa-linux/lib/libcupti.so.13
takes "a target of CUDA_HOME" sbsa/targets/sbsa-linux/lib/libcupti.so.13 CUDA_HOME=@/sbsa \
    CUDA_PATH=@/path
put 13/libcupti.so.13 conda/lib/libcupti.so.13
takes "conda" conda/lib/libcupti.so.13 CONDA_PREFIX=@/conda
put 13/libcupti.so.13 venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13
takes "a virtual environment" \
    venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13 VIRTUAL_ENV=@/venv
mkdir -p "$scratch/broken/lib64"
echo "no library" >"$scratch/broken/lib64/libcupti.so.13"
takes "a file that is no library" path/lib64/libcupti.so.13 CUDA_HOME=@/broken CUDA_PATH=@/path
says "^searched libcupti.so.12: cannot be loaded: "
says "^searched $scratch/broken/lib64/libcupti.so.13: cannot be loaded: "
says "^searched $scratch/path/lib64/libcupti.so.13: taken$"
takes "folders without it" path/lib64/libcupti.so.13 CUDA_HOME=@/missing CUDA_PATH=@/links \
    CONDA_PREFIX=@/path
says "^searched $scratch/missing: not there$"
says "^searched $scratch/links: no libcupti$"

# Never one newer than the driver takes, if an older one is there.
old=TAKT_SIM=driver.version=12040
put 12/libcupti.so.12 home12/lib64/libcupti.so.12
takes "13 before 12, for an old driver" home12/lib64/libcupti.so.12 "$old" CUDA_HOME=@/path \
    CUDA_PATH=@/home12
says "^searched libcupti.so.13: not tried: newer than the driver \(13 > 12.4\)$"
says "^searched $scratch/path/lib64/libcupti.so.13: newer than the driver \(13 > 12.4\)$"
takes "13 beside libcudart, for an old driver" home12/lib64/libcupti.so.12 "$old" \
    CUDA_PATH=@/home12 -- pip13/nvidia/cu13/lib/libcudart.so.13
takes "13 loaded, for an old driver" home12/lib64/libcupti.so.12 "$old" \
    CUDA_PATH=@/home12 -- pip13/nvidia/cu13/lib/libcupti.so.13
put 12/libcupti.so.12 newer/lib64/libcupti.so.2024.3.2
ln -s libcupti.so.2024.3.2 "$scratch/newer/lib64/libcupti.so.12"
put 12/libcupti.so.12 fitting/lib64/libcupti.so.2024.1.0
ln -s libcupti.so.2024.1.0 "$scratch/fitting/lib64/libcupti.so.12"
takes "12.6 before 12.4, for 12.4" fitting/lib64/libcupti.so.12 "$old" CUDA_HOME=@/newer \
    CUDA_PATH=@/fitting
says "^searched $scratch/newer/lib64/libcupti.so.12: newer than the driver \(12.6 > 12.4\)$"
put 12/libcupti.so.12 cuda-12.6/lib64/libcupti.so.12
takes "a toolkit's folder tells its release" fitting/lib64/libcupti.so.12 "$old" \
    CUDA_HOME=@/cuda-12.6 CUDA_PATH=@/fitting

# Where only newer ones are there, the nearest is tried, and the message names both versions.
if ! compgen -G '/usr/local/cuda*/lib*/libcupti.so.12' >/dev/null &&
    ! compgen -G '/usr/lib*/*/libcupti.so.12' >/dev/null; then
    takes "none but newer ones" newer/lib64/libcupti.so.12 "$old" CUDA_HOME=@/path CUDA_PATH=@/newer
    says "^searched $scratch/newer.*: taken, though newer than the driver \(12.6 > 12.4\)$"
fi
takes "13 that an old driver refuses" path/lib64/libcupti.so.13 "$old;fault=cuptiSubscribe_v2=15" \
    TAKT_CUPTI_LIBRARY=@/path/lib64/libcupti.so.13
says 'problem CUPTI 13.0 \(130001\) is newer than the driver, .* up to 12.4 \(15\): update the driver'
takes "13.0 that the driver of 13.0 refuses" path/lib64/libcupti.so.13 \
    "TAKT_SIM=driver.version=13000;fault=cuptiSubscribe_v2=15" \
    TAKT_CUPTI_LIBRARY=@/path/lib64/libcupti.so.13
says 'problem CUPTI cannot be used \(15\): '

finish "libcupti is found wherever it lies, the one that goes with the driver"
