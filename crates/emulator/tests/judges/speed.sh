#!/usr/bin/env bash
# How fast the emulated library is over iSCSI beside tgt, in one run: blocks of 256 KiB and 1 MiB that do not compress,
# written and read one after the other. Needs tgt, mtx, libiscsi with its headers, and a compiler.
#   cargo build --release -p tapewise-emulator --example serve && crates/emulator/tests/judges/speed.sh
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
serve=${SERVE:-$here/../../../../target/release/examples/serve}
mib=${MIB:-256}
for tool in tgtd tgtadm tgtimg mtx cc; do command -v $tool >/dev/null || { echo "SKIPPED: no $tool here" >&2; exit 0; }; done
# In memory, so that no disk is measured.
work=$(mktemp -d -p /dev/shm)
trap 'kill $ours 2>/dev/null; kill -9 $tgtd 2>/dev/null; rm -rf "$work"' EXIT
cc -O2 -o "$work/speed" "$here/speed.c" -liscsi
cc -O2 -shared -fPIC -o "$work/shim.so" "$here/sgiscsi.c" -liscsi -ldl -lpthread

mkfifo "$work/until"
"$serve" "$work/lib" 127.0.0.1:0 <"$work/until" >"$work/units" 2>/dev/null &
ours=$!
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
until tgtadm -C $control --lld iscsi --op show --mode sys >/dev/null 2>&1; do sleep 0.1; done
tgtadm -C $control --lld iscsi --op new --mode target --tid 1 -T $other
tgtadm -C $control --lld iscsi --op new --mode logicalunit --tid 1 --lun 1 -b "$work/tape" --device-type tape
tgtadm -C $control --lld iscsi --op bind --mode target --tid 1 -I ALL

for block in 262144 1048576; do
    echo "tapewise $("$work/speed" "$portal" "$name" 1 $block "$mib")"
    echo "tgt      $("$work/speed" 127.0.0.1:$port $other 1 $block "$mib")"
done
