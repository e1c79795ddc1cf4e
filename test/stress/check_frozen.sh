#!/bin/bash
# The program's threads never wait for the disk of a crash-safe recording: a disk that is frozen does
# not stop a program that goes through all of its memory, again and again.
. "${0%/*}/../support/lib_script.sh"
need python3 mkfs.ext4 fsfreeze losetup
[ "$(id -u)" = 0 ] || { echo "needs root, for a disk to freeze" && exit 77; }
findmnt -T /dev/shm -n -o FSTYPE | grep -qx tmpfs || { echo "needs /dev/shm" && exit 77; }
mkdir "$scratch/disk"
truncate -s 128M "$scratch/image"
mkfs.ext4 -qF "$scratch/image" && mount -o loop "$scratch/image" "$scratch/disk" 2>/dev/null ||
    { echo "needs loop devices" && exit 77; }
end() {
    fsfreeze -u "$scratch/disk" 2>/dev/null
    kill -9 "${program-}" 2>/dev/null && wait
    umount "$scratch/disk"
    remove_recordings "$scratch" && rm -rf "$scratch"
}
trap end EXIT

"$TAKT_BUILD/test/stress/prog_frozen" "$scratch/disk/run" "$scratch/counts" 2>"$scratch/said" &
program=$!
# Until so many scopes more have ended: says "went on", or "waits" if the program sleeps where no
# signal wakes it, each time that it is looked at.
await_scopes() {
    python3 - "$scratch/counts" $program "$1" <<'END'
import struct, sys, time
def count():
    try:
        return struct.unpack("<Q", open(sys.argv[1], "rb").read(8))[0]
    except (OSError, struct.error):
        return 0
end, waits = count() + int(sys.argv[3]), 0
while count() < end and waits < 50:
    before = count()
    time.sleep(0.02)
    state = open("/proc/%s/stat" % sys.argv[2]).read().rpartition(")")[2].split()[0]
    if state == "Z":
        sys.exit("the program has ended")
    waits = waits + 1 if state == "D" and count() == before else 0
print("waits" if waits else "went on")
END
}
[ "$(await_scopes 1000)" = "went on" ] || fail "the program does not record: $(cat "$scratch/said")"
fsfreeze -f "$scratch/disk" || fail "the disk cannot be frozen"
[ "$(await_scopes 3000000)" = "went on" ] || fail "a scope waits for the disk"
fsfreeze -u "$scratch/disk"
printf '\001' | dd of="$scratch/counts" bs=1 seek=8 conv=notrunc status=none
wait $program || fail "exit status $?: $(cat "$scratch/said")"
program=
finish "a frozen disk stops no scope"
