#!/usr/bin/env bash
# initramfs.sh KERNEL PROGRAM OUT [SCRIPT [FILE...]]: a Linux that loads the SCSI drivers, runs the program's tests of
# the guest and halts; with a script, that runs instead, and the program is /tests. Files go to /with; those that are
# programs come before busybox's. KERNEL is an unpacked linux-image package; the programs' libraries go with them.
set -euo pipefail

kernel=$1 program=$2 out=$3 script=${4:-}
files=("${@:5}")
drivers=(virtio_mmio virtio_scsi st sg ch loop)

version=$(ls "$kernel/lib/modules" | head -n 1)
modules=$kernel/lib/modules/$version
[ -f "$modules/modules.dep" ] || PATH=$PATH:/sbin:/usr/sbin depmod -b "$kernel" "$version"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{bin,dev,proc,sys,tmp,modules}
cp /bin/busybox "$tree/bin/"

# Each driver after those it depends on, once.
add() {
    local name
    name=$(basename "${1%.xz}")
    grep -qx "$name" "$tree/order" 2>/dev/null && return
    case $1 in
        *.xz) xz -dc "$modules/$1" >"$tree/modules/$name" ;;
        *) cp "$modules/$1" "$tree/modules/$name" ;;
    esac
    echo "$name" >>"$tree/order"
}
for driver in "${drivers[@]}"; do
    line=$(grep -E "/$driver\.ko(\.xz)?:" "$modules/modules.dep") || continue # built in
    for module in $(tr ' ' '\n' <<<"${line#*:}" | tac) "${line%%:*}"; do add "$module"; done
done

cp "$program" "$tree/tests"
if [ -n "$script" ]; then cp "$script" "$tree/guest.sh"; fi
mkdir "$tree/with"
for file in "${files[@]}"; do cp -L "$file" "$tree/with/"; done
for file in "$program" "${files[@]}"; do ldd "$file" 2>/dev/null || true; done | grep -oE '/[^ ]+' | sort -u | while read -r library; do
    mkdir -p "$tree$(dirname "$library")"
    cp -L "$library" "$tree$library"
done

cat >"$tree/init" <<'INIT'
#!/bin/busybox sh
export PATH=/with:/bin RUST_BACKTRACE=0
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in $(cat /order); do insmod /modules/$module || echo "insmod $module failed"; done
tries=0
until [ -e /dev/sch0 -a -e /dev/nst0 ] || [ $tries = 100 ]; do
    tries=$((tries + 1))
    usleep 50000
done
if [ -e /guest.sh ]; then
    sh /guest.sh
else
    TAPEWISE_GUEST=1 /tests linux_drivers::inside_the_guest --exact --ignored --nocapture --test-threads 1
fi
echo "guest: tests ended with $?"
poweroff -f
INIT
chmod +x "$tree/init"
(cd "$tree" && find . | cpio --create --format newc --quiet | gzip -1) >"$out"
