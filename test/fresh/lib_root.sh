# Sourced by run.sh: bare roots of Debian, made once for each release and kept in $fresh, and
# commands in a copy of one. Needs root.
#
#     make_root RELEASE            $fresh/RELEASE: a bare root with make
#     copy_root FROM TO            a root to change; its former content is gone
#     within ROOT USER COMMAND     runs the command in /home/someone/takt, with variables of $given
#
# With offline=1 there is no network, and with no_pts=1 no pseudo-terminal.
# shellcheck shell=bash
fresh=${TAKT_FRESH:-$PWD/build/fresh}
given=()
mkdir -p "$fresh"

# Where this machine has its packages from, since the same place has other releases; on a system other
# than Debian nothing, and debootstrap has a default.
mirror() {
    echo "${MIRROR:-$(apt-get indextargets --format '$(SITE)' 2>/dev/null | grep -m 1 '/debian/*$')}"
}

make_root() {
    local root=$fresh/$1
    [ ! -e "$root.made" ] || return 0
    rm -rf "$root"
    echo "making a bare root of $1"
    # shellcheck disable=SC2046 # none or one word
    debootstrap --variant=minbase --include=make "$1" "$root" $(mirror) >"$root.log" 2>&1 ||
        { tail -n 5 "$root.log" && return 1; }
    apt-config dump | grep -iE '^Acquire::https?::(Proxy|Verify)' >"$root/etc/apt/apt.conf.d/90host" || true
    # A machine that somebody uses has a user, and no packages that others left in the cache.
    chroot "$root" useradd --create-home someone
    chroot "$root" apt-get clean
    mkdir -p "$fresh/archives-$1/partial"
    touch "$root.made"
}

copy_root() {
    rm -rf "${fresh:?}/$2"
    cp -a --reflink=auto "$fresh/$1" "$fresh/$2"
}

within() { # ROOT USER COMMAND
    local archives=$fresh/archives-${1%%-*}
    [ -z "${offline-}" ] || archives= # nor packages that were fetched earlier
    cp -L /etc/resolv.conf /etc/hosts "$fresh/$1/etc/"
    unshare --mount ${offline:+--net} --fork --pid --kill-child bash -euc '
        root=$1 user=$2 command=$3 archives=$4 pts=$5 offline=$6
        mount --make-rprivate /
        mount -t proc proc "$root/proc"
        [ -z "$offline" ] || ip link set lo up # as a machine has it that is not connected
        mount --bind /dev "$root/dev"
        mount -t tmpfs shm "$root/dev/shm"
        [ "$pts" = none ] || mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
        [ "$pts" = none ] || mount --bind "$root/dev/pts/ptmx" "$root/dev/ptmx"
        [ -z "$archives" ] || mount --bind "$archives" "$root/var/cache/apt/archives"
        home=$([ "$user" = root ] && echo /root || echo /home/$user)
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$home" USER="$user" LANG=C "${@:7}" \
            chroot --userspec="$user:$user" "$root" sh -c "cd /home/someone/takt && $command"
    ' bash "$fresh/$1" "$2" "$3" "$archives" "${no_pts:+none}" "${offline-}" "${given[@]}" </dev/null
}
