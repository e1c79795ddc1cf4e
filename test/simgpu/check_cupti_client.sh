#!/bin/bash
# The stand-in libcupti against a tracer that is as small as one can be: every record and callback
# that a fixed program causes, in all flavours, compared with what the program and the script say;
# then every fault that the stand-in can have, seen to happen.
cd "${TAKT_ROOT:-$(dirname "$0")/../..}" || exit 1
. test/support/lib_script.sh || exit 1
sim=$TAKT_BUILD/simgpu
program=$TAKT_BUILD/test/simgpu/prog_cupti_client
durations='kernel.density=100000;kernel.forces=50000;memset=2000;memcpy=3000'
locks=
[ -n "${SAN-}" ] || locks=$sim/libsimlocks.so

# client FLAVOUR SCRIPT OPTION...: its output in $scratch/out, its status in $status, and the counts
# that the stand-in makes in $scratch/counts.
client() {
    local flavour=$1 script=$2 library=$sim/$1/libcupti.so.13
    shift 2
    [ -e "$library" ] || library=$sim/$flavour/libcupti.so.12
    rm -f "$scratch/counts"
    {
        LD_LIBRARY_PATH=$sim/$flavour \
            TAKT_SIM="$durations;cupti.report=$scratch/counts;$script" \
            timeout -s KILL "${limit:-600}" "$program" "$library" "$@" \
            >"$scratch/out" 2>"$scratch/errors"
        status=$?
    } 2>/dev/null # bash's own word about a crash
}

# Compares the output, or what `filter` leaves of it, with standard input.
says() {
    cat >"$scratch/wanted"
    if [ -n "${1-}" ]; then
        grep -E "$1" "$scratch/out" >"$scratch/part" || true
    else
        cp "$scratch/out" "$scratch/part"
    fi
    same "$what" "$scratch/wanted" "$scratch/part"
}

# count WORD N: one of the stand-in's counts.
count() {
    grep -qx "$1 $2" "$scratch/counts" ||
        fail "$what: $1 is not $2 but $(grep "^$1 " "$scratch/counts")"
}

# matches N PATTERN: so many lines.
matches() {
    local found
    found=$(grep -cE "$2" "$scratch/out")
    [ "$found" = "$1" ] || fail "$what: $found lines match $2 instead of $1"
}

work='^(kernel|memcpy|memset|graph)'

for flavour in 12 13 multi; do
    what="flavour $flavour: records"
    client $flavour 'devices=2' kinds=10,1,2,38,49 counts
    says <<'END'
memory #1 allocated d0 kind 3 bytes 4096 async 0 pool 0
memory #2 allocated d0 kind 2 bytes 4096 async 0 pool 0
memcpy #4 d0 c1 s13 kind 1 from 2 to 3 flags 1 bytes 4096 graph 0.0 3000 ns
kernel #5 d0 c1 s13 _Z7densityPfi grid 2,3,4 block 32,2,1 shared 0+128 regs 32 local 0 type 0 graph 0.0 100000 ns
memset #6 d0 c1 s13 value 7 kind 3 flags 1 bytes 1024 graph 0.0 2000 ns
kernel #7 d0 c1 s7 _Z6forcesPf grid 1,1,1 block 64,1,1 shared 0+0 regs 32 local 0 type 0 graph 0.0 50000 ns
wait #8 type 3 c1 s13
wait #9 type 4 c1 s-1
memcpy #10 d0 c1 s7 kind 2 from 3 to 2 flags 0 bytes 2048 graph 0.0 3000 ns
memory #12 freed d0 kind 2 bytes 4096 async 0 pool 0
memory #13 freed d0 kind 3 bytes 4096 async 0 pool 0
memory #14 allocated d0 kind 3 bytes 64 async 0 pool 0
kernel #21 d0 c1 s14 _Z7densityPfi grid 8,1,1 block 16,1,1 shared 0+0 regs 32 local 0 type 0 graph 1.node 100000 ns
memset #21 d0 c1 s14 value 1 kind 3 flags 1 bytes 64 graph 1.node 2000 ns
kernel #22 d0 c1 s14 _Z7densityPfi grid 8,1,1 block 16,1,1 shared 0+0 regs 32 local 0 type 0 graph 1.node 100000 ns
memset #22 d0 c1 s14 value 1 kind 3 flags 1 bytes 64 graph 1.node 2000 ns
wait #23 type 3 c1 s14
memory #27 freed d0 kind 3 bytes 64 async 0 pool 0
memory #29 allocated d0 kind 3 bytes 256 async 0 pool 0
memory #31 allocated d1 kind 3 bytes 256 async 0 pool 0
kernel #32 d1 c2 s7 _Z6forcesPf grid 1,1,1 block 64,1,1 shared 0+0 regs 32 local 0 type 0 graph 0.0 50000 ns
memcpy2 #33 d1 c2 s7 kind 10 from d0 c1 to d1 c2 bytes 256 3000 ns
wait #34 type 4 c2 s-1
records 23 requests 1 completions 1 by flusher 1
END
    count buffers_out 1
    count buffers_back 1
    cp "$scratch/out" "$scratch/all"

    what="flavour $flavour: in small buffers, from the worker and the flush"
    client $flavour 'devices=2' kinds=10,1,2,38,49 buffer=512 wait
    same "$what" <(grep -v ^records "$scratch/all") "$scratch/out"
    for order in calls reverse; do
        what="flavour $flavour: in the order '$order'"
        client $flavour "devices=2;cupti.order=$order" kinds=10,1,2,38,49
        same "$what" <(grep -v ^records "$scratch/all") "$scratch/out"
    done
    what="flavour $flavour: two records a buffer"
    client $flavour 'devices=2' kinds=10,1,2,38,49 records=2 wait counts
    same "$what" <(grep -v ^records "$scratch/all") <(grep -v ^records "$scratch/out")
    count buffers_back 12

    what="flavour $flavour: whole graphs"
    client $flavour '' kinds=10,1,2,51
    says '#2[12]' <<'END'
graph #21 d0 c1 s14 graph 1 102000 ns
graph #22 d0 c1 s14 graph 1 102000 ns
END

    what="flavour $flavour: calls"
    client $flavour '' calls kinds=4,5
    says '#(5|21) ' <<'END'
api #5 cuLaunchKernel = 0
api #5 cudaLaunchKernel_v7000 = 0
enter #5 driver cuLaunchKernel of _Z7densityPfi c1
enter #5 runtime cudaLaunchKernel of _Z7densityPfi c1
exit #5 driver cuLaunchKernel of _Z7densityPfi c1
exit #5 runtime cudaLaunchKernel of _Z7densityPfi c1
api #21 cuGraphLaunch = 0
api #21 cudaGraphLaunch_v10000 = 0
enter #21 driver cuGraphLaunch c1
enter #21 runtime cudaGraphLaunch c1
exit #21 driver cuGraphLaunch c1
exit #21 runtime cudaGraphLaunch c1
END
    matches 0 'other data|reversed|foreign|failed'

    what="flavour $flavour: external correlation"
    client $flavour '' kinds=39,5 external
    says '#(13|14) |pop|before' <<'END'
pop 18
api #13 cudaFree_v3020 = 0
external #13 kind 3 id 77
external #13 kind 4 id 78
api #14 cudaMalloc_v3020 = 0
END

    what="flavour $flavour: things that exist, and things that come"
    client $flavour 'devices=2' late kinds=+8,+9,+37 resources waits
    says '^(device|context|stream)' <<'END'
context 1 d0 null stream 7
context 2 d1 null stream 7
device 0 Takt simulated GPU 0 cc 8.9 sms 128
device 1 Takt simulated GPU 1 cc 8.9 sms 128
stream c1 s14 flag 2
stream c1 s15 flag 1
stream c1 s7 flag 3
END
    matches 2 '^domain 4 id 1'
    matches 2 '^resource 3 id 1[45]$'
    matches 1 '^resource 1 id 2$'
    matches 1 '^resource 18 id 1$'

    what="flavour $flavour: a flush takes what is complete, and a forced one all"
    long='kernel.density=200000000'
    client $flavour "$long" kinds=10,2 early=0
    matches 0 'no stamps'
    matches 4 '^kernel'
    client $flavour "$long" kinds=10,2 early=1
    says '#(5|6) ' <<'END'
kernel #5 d0 c1 s13 _Z7densityPfi grid 2,3,4 block 32,2,1 shared 0+128 regs 32 local 0 type 0 graph 0.0 no stamps
memset #6 d0 c1 s13 value 7 kind 3 flags 1 bytes 1024 graph 0.0 no stamps
END

    what="flavour $flavour: kinds that there are not"
    client $flavour '' kinds=10,3,6,18,27,28,53,777,13,12,13
    says '^kind' <<'END'
kind 13: 14
kind 18: 14
kind 27: 14
kind 28: 14
kind 3: 14
kind 53: 14
kind 6: 38
kind 777: 21
END
done

what="pools, events, overhead"
client 13 '' kinds=17,36,38,49,50 more
says '#(29|3[0-9]) |overhead' <<'END'
overhead kind 7 of ours
memory #29 allocated d0 kind 3 bytes 512 async 1 pool 1
pool #29 operation 1 d0
memory #30 freed d0 kind 3 bytes 512 async 1 pool 1
pool #32 operation 3 d0
event #34 d0 c1 s7
wait #35 type 1 c1 s-1
END

what="a graph from before graphs were traced as a whole"
client 13 '' old kinds=10,51
[ "$status" = 134 ] && grep -q 'CUPTI crashes' "$scratch/errors" || fail "$what: ends with $status"

what="calls without records"
client 13 '' kinds=5 quiet=211
matches 0 'cudaLaunchKernel'
matches 2 'cudaGraphLaunch'

what="attributes"
client 13 '' attributes
says <<'END'
device buffer 3200000 in 8
no attribute: 1
per thread 1 in 1
too short: 10
END
client 12 '' attributes
matches 1 'per thread 0 in 1'

what="a buffer for each thread, or one for all"
client 13 '' kinds=10 threads=3 counts
matches 1 '^records 304 requests 4 completions 4 by flusher 4$'
client 13 '' kinds=10 threads=3 shared buffer=131072 counts
matches 1 '^records 304 requests 1 completions 1 by flusher 1$'
client 12 '' kinds=10 threads=3 counts
matches 1 '^records 304 requests 1 completions 1 by flusher 1$'

what="a clock of the client's"
client 13 'cupti.version=130000' kinds=10,1 clock
matches 4 '^kernel.* no stamps'
matches 2 '^memcpy.* 3000 ns'
client 13 '' kinds=10,1 clock
matches 3 '^kernel.* 100000 ns'
client 13 'cupti.version=22' kinds=10,1 clock
matches 3 '^kernel.* 100000 ns'
client multi '' kinds=10,1 clock
matches 3 '^kernel.* 100000 ns'

what="a device's clock that runs fast"
client 13 'clock.drift@0=10000000' kinds=10,1
matches 3 '^kernel.* 101000 ns'

what="one subscriber at a time"
client 13 '' second
says <<'END'
a function of V1: 0
owner 'CUPTI for client'
second: 39
second: 39
END
client 12 '' second
matches 1 'second: 39'

what="several subscribers"
client multi 'devices=2' v2 second kinds=10,1,2,38,49
says '^(a function|owner|second)' <<'END'
a function of V1: 14
owner ''
second: 0
second: 39
END
grep -vE '^(a function|owner|second)' "$scratch/out" >"$scratch/part"
same "$what" <(grep -v ^records "$scratch/all") "$scratch/part"
client multi '' v2 second external kinds=39,5
matches 2 '#13 kind [34] id 7[78]'

what="without a device"
client 13 'devices=0' kinds=10
matches 1 'status cuptiSubscribe: 999'

# --- faults --------------------------------------------------------------------------------------

what="another tool was first"
client 13 'cupti.owner=Nsight Systems' kinds=10
says 'status|owner' <<'END'
owner Nsight Systems
status cuptiSubscribe: 39
END
count after_refusal 0

what="statuses"
client 13 'fault=cuptiActivityEnable@2=15' kinds=10,1,2
says '^kind' <<'END'
kind 1: 15
END
client 13 'fault=cuptiActivityFlushAll=999' kinds=10
says '^(status|kernel)' <<'END'
status cuptiActivityFlushAll: 999
END

what="stamps"
client 13 'cupti.stamps=zero' kinds=10,1,2,38
matches 9 'no stamps'
client 13 'cupti.stamps=reversed' kinds=10,1,2,38
matches 9 'reversed'
client 13 'cupti.stamps=absurd' kinds=10
matches 4 ' 9223372036854776048 ns'
client 13 'cupti.stamps=zero;cupti.stamps_every=4' kinds=10,1,2
matches 2 'no stamps'

what="records that are lost, unknown, corrupt"
client 13 'cupti.drop_every=4' kinds=10,1,2
matches 1 '^dropped 2$'
matches 7 "$work"
client 13 'cupti.unknown_every=3' kinds=10,1,2
matches 3 '^kind 57$'
matches 9 "$work"
client 13 'cupti.order=calls;cupti.corrupt_at=3' kinds=10,1,2
matches 1 '^status of iteration: 21$'
matches 2 "$work"
client 13 'cupti.order=calls;cupti.corrupt_at=3;cupti.cut=1' kinds=10,1,2
matches 0 '^status'
matches 2 "$work"
client 13 'cupti.wrong_context=1' kinds=10,1,2
matches 9 ' d9999 c9999 '

what="callbacks that do not come"
client 13 'cupti.callbacks=0' calls resources kinds=10
matches 0 '^(enter|exit|resource)'
matches 4 '^kernel'

what="ways to give buffers back"
client 13 'cupti.completion=never' kinds=10 counts
matches 1 '^records 0 requests 1 completions 0 by flusher 0$'
client 13 'cupti.completion=twice' kinds=10 counts
matches 1 '^records 8 requests 1 completions 2 by flusher 2$'
client 13 'cupti.completion=thread' kinds=10 counts
matches 1 '^records 4 requests 1 completions 1 by flusher 0$'
client 13 'cupti.completion=late;cupti.late_ms=30' kinds=10 wait counts
matches 1 '^records 4 requests 1 completions 1 by flusher 0$'
client 13 'cupti.completion=exit' kinds=10 keep counts
matches 1 '^records 0 requests 1 completions 0 by flusher 0$'
count buffers_back 1

what="a function that does not return"
limit=2 client 13 'cupti.hang=cuptiActivityFlushAll' kinds=10
[ "$status" = 137 ] || fail "$what: status $status"

what="refused buffers"
client 12 '' refuse kinds=10
[ "$status" = 134 ] || fail "$what: status $status"
grep -q 'crashes when it is given no buffer' "$scratch/errors" || fail "$what: no word of it"
client 13 '' refuse kinds=10
says '^(dropped|state|kernel)' <<'END'
dropped 4
state 3
state 3
state 3
state 3
END

what="what a client must not do"
client 13 '' zeroed kinds=10
count not_zeroed 0
client 13 '' dirty kinds=10
count not_zeroed 1
client 13 '' reenter kinds=10
count forbidden 1
client 13 'cupti.slow_request_us=10000' slow kinds=10
count slow_requests 1
client 13 '' fork kinds=10
matches 1 'child ended by signal 14'
grep -q 'cuptiActivityFlushAll() in a forked child hangs' "$scratch/errors" || fail "$what: fork"

if [ -n "$locks" ]; then
    what="locks"
    LD_PRELOAD=$locks client 13 '' kinds=10
    count locks_held 0
    LD_PRELOAD=$locks client 13 '' lock kinds=10
    count locks_held 6 # the flush, and the reading of four records within it
    grep -q 'FlushAll() while a mutex is held, locked in .*prog_cupti_client' "$scratch/errors" ||
        fail "$what: no word of where"
fi

what="an option that there is not"
client 13 'cupti.drop_evry=2' kinds=10
grep -q 'no such option: cupti.drop_evry' "$scratch/errors" || fail "$what: not told"
[ "$status" = 134 ] || fail "$what: status $status"

what="a missing function"
cp "$sim"/13/*.so* "$scratch"
test/simgpu/hide_symbol.sh "$scratch/libcupti.so.13" cuptiSubscribe_v2
LD_LIBRARY_PATH=$scratch "$program" "$scratch/libcupti.so.13" second >"$scratch/out"
says <<'END'
second: 39
END

finish "the stand-in libcupti does what it says"
