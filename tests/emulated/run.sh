#!/usr/bin/env bash
# Runs the tests of the AVX-512 kernels on an emulated CPU that has AVX-512; README.md says how and why.
#
#   tests/emulated/run.sh [quick|all|JOB...]        such as level3:large
#
# Everything it makes is in build/emulated: the logs of the two emulated machines stay there.
# CORTEN_EMULATED_CPU is a model that `bochs --help cpu` lists (default: corei7_skylake_x).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/build/emulated
model=${CORTEN_EMULATED_CPU:-corei7_skylake_x}
netlib=/usr/lib/x86_64-linux-gnu/blas

# What each of the two machines runs, in this order. A job is PROGRAM[:FILTER[:THREADS]]; machine.sh runs
# it. The lists are balanced: the whole takes as long as the slower machine.
case ${1:-quick} in
quick)
    limit=1800
    machines=(
        "isa core:kernels promises:p7"
        "isa level1:usual level2:usual level3:usual extensions:usual conv:exact"
    )
    ;;
all)
    limit=14400
    machines=(
        "isa core promises level1 level2 conv netlib:shipped"
        "isa level3:usual:4 promises:p7:4 level3 extensions netlib:enlarged"
    )
    ;;
-*)
    echo "usage: tests/emulated/run.sh [quick|all|JOB...]" >&2
    exit 2
    ;;
*)
    limit=14400
    machines=("isa")
    [ $# -eq 1 ] || machines+=("isa")
    i=0
    for job; do
        machines[i % ${#machines[@]}]+=" $job"
        i=$((i + 1))
    done
    ;;
esac

fail() {
    echo "emulated: $*" >&2
    exit 1
}

[ "$(uname -m)" = x86_64 ] || fail "the tests are built for this machine and run on an emulated x86-64: this is $(uname -m)"

# ---- tools ----------------------------------------------------------------------------------------

packages=(bochs bochs-term bochsbios grub-common grub-pc-bin xorriso mtools busybox-static cpio binutils bsdutils
    libblas-test libblas3)
missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    [ "$(id -u)" -eq 0 ] || fail "missing packages; install them with
    sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
    echo "installing: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    { apt-get -o DPkg::Lock::Timeout=600 update &&
        apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 ||
        { tail -20 "$log" >&2; fail "apt-get could not install: ${missing[*]}"; }
    rm -f "$log"
fi

# ---- the kernel: downloaded and unpacked, not installed -------------------------------------------

mkdir -p "$work"
if ! [ -e "$work/vmlinuz" ]; then
    package=$(apt-cache depends linux-image-cloud-amd64 | awk '$1 == "Depends:" && $2 ~ /^linux-image-/ { print $2; exit }')
    [ -n "$package" ] || fail "apt knows no linux-image-cloud-amd64; try: apt-get update"
    trial=$(mktemp -d)
    (cd "$trial" && apt-get download "$package" >log 2>&1 && dpkg-deb -x ./*.deb .) ||
        { cat "$trial/log" >&2; fail "could not download the kernel package $package"; }
    cp "$trial"/boot/vmlinuz-* "$work/vmlinuz"
    rm -rf "$trial"
fi

# ---- the programs ---------------------------------------------------------------------------------

# executables ARGUMENTS: builds tests, prints "NAME PATH" for each test program and each binary.
executables() {
    cargo test --quiet --locked --no-run --message-format=json "$@" |
        sed -n 's/.*"target":{[^}]*"name":"\([^"]*\)".*"executable":"\([^"]*\)".*/\1 \2/p'
}

cd "$root"
echo "building"
cargo build --quiet --release --locked -p corten
built=$(executables -p corten-core --lib)
built+=$'\n'$(executables --manifest-path tests/Cargo.toml --test level1 --test level2 --test level3 \
    --test extensions --test promises --test conv)
cargo build --quiet --locked --manifest-path tests/Cargo.toml --bin probe
target=$(cargo metadata --format-version 1 --no-deps --manifest-path tests/Cargo.toml |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
built+=$'\nprobe '$target/debug/probe
library=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/libcorten.so

# ---- the root file system -------------------------------------------------------------------------

fs=$work/root
rm -rf "$fs"
mkdir -p "$fs"/{bin,proc,dev,tmp,lib64,tests/lib,tests/blas,tests/netlib,tests/expected}
cp /bin/busybox "$fs/bin/"
install "$here/machine.sh" "$fs/init"
cp "$here/netlib.sh" "$fs/tests/"
strip -o "$fs/tests/libcorten.so" "$library"
ln -s ../libcorten.so "$fs/tests/blas/libblas.so.3"
libraries() { ldd "$1" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | grep -v /libblas; }
{
    libraries "$library"
    while read -r name path; do
        [ "$name" = corten_core ] && name=core
        strip -o "$fs/tests/$name" "$path"
        libraries "$path"
    done <<<"$built"
    # Of Netlib's testers only libblas.so.3 is ours to replace; what that needs in turn is not wanted.
    for tester in "$netlib"/x*blat*; do
        cp "$tester" "$fs/tests/netlib/"
        LD_LIBRARY_PATH=$netlib libraries "$tester"
    done
} | sort -u | while read -r path; do cp -L "$path" "$fs/tests/lib/"; done
cp -L /lib64/ld-linux-x86-64.so.2 "$fs/lib64/"
cp "$netlib"/*.in "$netlib"/?in[23] "$fs/tests/netlib/"
for job in ${machines[*]}; do
    case $job in isa | netlib:shipped | netlib:enlarged) continue ;; esac
    [ -x "$fs/tests/${job%%:*}" ] || fail "the build gave no program ${job%%:*}"
done

# What Netlib's testers say over Netlib's own BLAS, on this machine: the emulated one must say the same.
for sizes in shipped enlarged; do
    case " ${machines[*]} " in *" netlib:$sizes"*) ;; *) continue ;; esac
    LD_LIBRARY_PATH=$netlib sh "$here/netlib.sh" "$netlib" "$sizes" >"$fs/tests/expected/$sizes"
    grep -q PASS "$fs/tests/expected/$sizes" || fail "Netlib's testers found nothing to pass over Netlib's BLAS"
done
(cd "$fs" && find . | cpio --quiet -o -H newc) >"$work/initrd"

# ---- the machines ---------------------------------------------------------------------------------

# The emulator's own mistake: it gives a wrong size for XSAVEC's compacted format, and Linux then turns AVX
# off. Without XSAVEC and XSAVES Linux uses the standard format, which is right. Words of the form
# NAME=VALUE that Linux does not know become environment variables of its first process. A panic of Linux
# reboots by a triple fault, which ends the emulator.
options="panic=-1 reboot=t console=ttyS0,115200 loglevel=4 clearcpuid=xsaves,xsavec nopku mitigations=off lsm= audit=0
    tsc=reliable random.trust_cpu=on cryptomgr.notests"

start_machine() { # NUMBER JOBS
    local dir=$work/machine$1
    rm -rf "$dir"
    mkdir -p "$dir/iso/boot/grub"
    ln "$work/vmlinuz" "$work/initrd" "$dir/iso/boot/"
    cat >"$dir/iso/boot/grub/grub.cfg" <<END
set timeout=0
linux /boot/vmlinuz $(echo $options) jobs=${2// /,}
initrd /boot/initrd
boot
END
    grub-mkrescue -o "$dir/disk.iso" "$dir/iso" >"$dir/grub.log" 2>&1 ||
        { cat "$dir/grub.log" >&2; fail "grub-mkrescue failed"; }
    rm -rf "$dir/iso"
    # ips couples emulated time to instructions: low, or waiting for devices costs long loops.
    cat >"$dir/bochsrc" <<'END'
memory: guest=1024, host=1024
romimage: file=$BXSHARE/BIOS-bochs-latest
vgaromimage: file=$BXSHARE/VGABIOS-lgpl-latest
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=cdrom, path=disk.iso, status=inserted
boot: cdrom
clock: sync=none
display_library: term
com1: enabled=1, mode=file, dev=serial.log
log: bochs.log
panic: action=fatal
error: action=ignore
info: action=ignore
END
    echo "cpu: model=$model, count=1, ips=25000000, reset_on_triple_fault=0" >>"$dir/bochsrc"
    # Debian's bochs is built with its debugger, which waits for `continue`; the `term` display wants a
    # terminal, which `script` is. Power-off ends it, with an exit code of 1.
    echo continue >"$dir/debugger"
    (
        cd "$dir"
        status=0
        BXSHARE=/usr/share/bochs TERM=vt100 timeout -k 5 "$limit" \
            script -qec "bochs-bin -q -f bochsrc -rc debugger" /dev/null </dev/null >screen.log 2>&1 || status=$?
        case $status in
        0 | 1) how=ended ;;
        124 | 137) how="was stopped, by the limit of $limit s if that has passed (status $status)," ;;
        *) how="failed with status $status" ;;
        esac
        echo "$how after $SECONDS s" >end
    ) &
}

echo "booting ${#machines[@]} machines with the CPU $model"
SECONDS=0
for i in "${!machines[@]}"; do start_machine "$i" "${machines[i]}"; done
wait

# ---- the outcome ----------------------------------------------------------------------------------

# Counted per job: one that did not end, or ended in any way but the right one, is a failure.
passed=0
failed=0
for i in "${!machines[@]}"; do
    log=$work/machine$i/serial.log
    touch "$log" # absent if it did not come to booting
    tr -d '\r' <"$log" >"$log.text"
    before=$failed
    for job in ${machines[i]}; do
        if grep -qxF "job $job: ok" "$log.text"; then
            passed=$((passed + 1))
            echo "ok    $job"
        else
            failed=$((failed + 1))
            echo "FAIL  $job"
        fi
    done
    echo "machine $i $(cat "$work/machine$i/end")"
    if [ $failed -gt $before ]; then
        echo "---- the end of $log"
        tail -60 "$log.text"
        echo "----"
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
