#!/usr/bin/env bash
# Builds the page into target/web/: `make web`. Takes a Rust that knows wasm32-unknown-unknown where there is one, else
# one from Debian sid in a directory of its own (as root; TAPEWISE_SID names one that is there), else skips loudly.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=wasm32-unknown-unknown
out=target/web
root=${TAPEWISE_SID:-$PWD/target/sid}
module=target/wasm/$target/web/tapewise_web.wasm
say() { echo "web: $*"; }

# What runs in whatever has the Rust.
compile="cargo build --quiet --locked --profile web --target $target --package tapewise-web --target-dir target/wasm"
# Every browser of the last years has these; the Rust compiler uses them already.
shrink="wasm-opt -Oz --converge --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext \
    --enable-mutable-globals --enable-reference-types --enable-multivalue $module -o target/wasm/small.wasm"

get_sid() {
    [ -x "$root/usr/bin/wasm-opt" ] && return 0
    command -v debootstrap > /dev/null || apt-get install -y -qq debootstrap > /dev/null || return 1
    say "getting a Rust that compiles to WebAssembly from Debian sid, into $root (1.3 GB, some minutes)"
    [ -x "$root/bin/sh" ] || debootstrap --variant=minbase sid "$root" > "$root.log" 2>&1 || return 1
    cp /etc/resolv.conf "$root/etc/"
    # A mirror that stands still is good enough to compile with; signatures are checked as ever.
    echo 'Acquire::Check-Valid-Until "false";' > "$root/etc/apt/apt.conf.d/still"
    chroot "$root" sh -c 'apt-get update -q && apt-get install -y -q --no-install-recommends \
        rustc cargo libstd-rust-dev-wasm32 lld gcc libc6-dev binaryen' >> "$root.log" 2>&1
}

# Source and registry as that system sees them, for as long as this takes.
in_sid() {
    cargo fetch --quiet --locked
    # One name for one folder, or cargo would compile everything again.
    local home=${CARGO_HOME:-$HOME/.cargo} inside; inside=/tapewise-$(echo "$PWD" | md5sum | cut -c1-8)
    local source=$root$inside
    mkdir -p "$source/tree" "$source/cargo/registry"
    mount --bind "$PWD" "$source/tree"
    mount --bind "$home/registry" "$source/cargo/registry"
    mount --bind /proc "$root/proc"
    local ended=0
    chroot "$root" env CARGO_HOME="$inside/cargo" CARGO_NET_OFFLINE=true \
        CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld \
        RUSTFLAGS="--remap-path-prefix=$inside/tree=tapewise --remap-path-prefix=$inside/cargo/registry=registry" \
        sh -c "cd $inside/tree && $compile && $shrink" || ended=$?
    umount "$root/proc" "$source/cargo/registry" "$source/tree"
    rmdir "$source/tree" "$source/cargo/registry" && rm -rf --one-file-system "$source"
    return $ended
}

rm -f target/wasm/small.wasm
mkdir -p target/wasm
if [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
    $compile
    if command -v wasm-opt > /dev/null; then $shrink; fi
elif [ "$(id -u)" = 0 ] && get_sid; then
    in_sid
else
    say "SKIPPED: no Rust for $target here, and none can be had from Debian (see $root.log)" >&2
    exit 0
fi
[ -f target/wasm/small.wasm ] || cp "$module" target/wasm/small.wasm
rm -rf $out
mkdir -p $out
cp crates/web/page/* crates/plot/parts/* $out/
cp target/wasm/small.wasm $out/tapewise.wasm
python3 crates/web/one_file.py $out > target/tapewise.html
mv target/tapewise.html $out/
say "$out/index.html (to be served), $out/tapewise.html (one file, works from disk)"
say "module: $(stat -c %s $out/tapewise.wasm) bytes, $(gzip -9c $out/tapewise.wasm | wc -c) with gzip"
if command -v node > /dev/null; then
    brotli='console.log(require("zlib").brotliCompressSync(require("fs").readFileSync(0)).length)'
    say "with brotli, as servers send it: $(node -e "$brotli" < $out/tapewise.wasm)"
fi
