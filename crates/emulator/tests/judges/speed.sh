#!/usr/bin/env bash
# How fast the emulated library is over iSCSI beside tgt: blocks of 256 KiB and 1 MiB that do not compress, written and
# read one after the other, in rounds that alternate between the two. Prints the medians, and the processor time that
# each target spends on 1 GiB written and read, which other load on the machine hardly changes.
# Needs tgt, mtx, libiscsi with its headers, and a compiler.
#   cargo build --release -p tapewise-emulator --example serve && crates/emulator/tests/judges/speed.sh
# ROUNDS=7 MIB=256 SERVE=path of the example
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
serve=${SERVE:-$here/../../../../target/release/examples/serve}
mib=${MIB:-256} rounds=${ROUNDS:-7}
for tool in tgtd tgtadm tgtimg mtx cc; do command -v $tool >/dev/null || { echo "SKIPPED: no $tool here" >&2; exit 0; }; done
# In memory, so that no disk is measured.
work=$(mktemp -d -p /dev/shm)
trap 'kill $ours 2>/dev/null; kill -9 $tgtd 2>/dev/null; rm -rf "$work"' EXIT
cc -O2 -o "$work/speed" "$here/speed.c" -liscsi
cc -O2 -shared -fPIC -o "$work/shim.so" "$here/sgiscsi.c" -liscsi -ldl -lpthread

mkfifo "$work/until"
"$serve" "$work/lib" 127.0.0.1:0 <"$work/until" >"$work/units" 2>/dev/null &
ours=$!
disown
exec 9>"$work/until"
until [ -s "$work/units" ]; do sleep 0.1; done
robot=$(sed -n '1s/ .*//p' "$work/units")
portal=${robot#iscsi://} portal=${portal%%/*}
name=${robot%/*} name=${name##*/}
SGISCSI="/dev/sg0=$robot" LD_PRELOAD=$work/shim.so mtx -f /dev/sg0 load 1 0 >/dev/null

port=13999 control=999 other=iqn.2026-01.local.vtl:speed
tgtimg --op new --device-type tape --barcode SPEED001 --size $((mib * 2)) --type data --file "$work/tape" >/dev/null
tgtd -f -C $control --iscsi portal=127.0.0.1:$port >/dev/null 2>&1 &
tgtd=$!
disown
until tgtadm -C $control --lld iscsi --op show --mode sys >/dev/null 2>&1; do sleep 0.1; done
tgtadm -C $control --lld iscsi --op new --mode target --tid 1 -T $other
tgtadm -C $control --lld iscsi --op new --mode logicalunit --tid 1 --lun 1 -b "$work/tape" --device-type tape
tgtadm -C $control --lld iscsi --op bind --mode target --tid 1 -I ALL

# Ticks that a process has run, in user and in kernel mode.
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# One line for each: who, MiB/s written and read, ticks.
round() { # WHO PID PORTAL TARGET BLOCK
    local before line
    before=$(ticks "$2")
    line=$("$work/speed" "$3" "$4" 1 "$5" "$mib")
    case $line in *bad=0*) ;; *) echo "$1: $line" >&2; exit 1 ;; esac
    awk -v who="$1" -v ticks=$(($(ticks "$2") - before)) '{ print who, $4, $7, ticks }' <<<"$line"
}

median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

for block in 262144 1048576; do
    for _ in $(seq "$rounds"); do
        round tapewise "$ours" "$portal" "$name" $block
        round tgt "$tgtd" 127.0.0.1:$port $other $block
    done >"$work/rounds"
    for who in tapewise tgt; do
        one() { awk -v who=$who -v column="$1" '$1 == who { print $column }' "$work/rounds" | median; }
        echo "$who $block bytes: write $(one 2) MiB/s, read $(one 3) MiB/s," \
            "processor $(awk -v ticks="$(one 4)" -v mib="$mib" -v hz="$(getconf CLK_TCK)" \
                'BEGIN { printf "%.2f", ticks / hz * 1024 / mib }') s for 1 GiB both ways"
    done
done
