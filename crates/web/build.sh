#!/usr/bin/env bash
# Builds the page into target/web/: `make web`. Takes a Rust that knows wasm32-unknown-unknown where there is one, else
# one from Debian sid in a directory of its own (as root), else skips loudly.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=wasm32-unknown-unknown
out=target/web
root=${TAPEWISE_SID:-$PWD/target/sid}
module=target/wasm/$target/release/tapewise_web.wasm
say() { echo "web: $*"; }

build() { # runs in whatever has the Rust
    cargo build --quiet --locked --release --target $target --package tapewise-web --target-dir target/wasm
}

in_sid() {
    [ "$(id -u)" = 0 ] || return 1
    command -v debootstrap > /dev/null || apt-get install -y -qq debootstrap > /dev/null || return 1
    if [ ! -x "$root/usr/bin/wasm-opt" ]; then
        say "getting a Rust that compiles to WebAssembly from Debian sid, into $root (1.3 GB, some minutes)"
        [ -x "$root/bin/sh" ] || debootstrap --variant=minbase sid "$root" > "$root.log" 2>&1 || return 1
        cp /etc/resolv.conf "$root/etc/"
        chroot "$root" sh -c 'apt-get update -q && apt-get install -y -q --no-install-recommends \
            rustc cargo libstd-rust-dev-wasm32 lld gcc libc6-dev binaryen' >> "$root.log" 2>&1 || return 1
    fi
    cargo fetch --quiet --locked
    local home=${CARGO_HOME:-$HOME/.cargo}
    mkdir -p "$root/source" "$root/cargo/registry"
    mount --bind "$PWD" "$root/source"
    mount --bind "$home/registry" "$root/cargo/registry"
    mount --bind /proc "$root/proc"
    local ended=0
    chroot "$root" sh -c "cd /source && CARGO_HOME=/cargo CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld cargo build --offline --quiet --locked --release --target $target \
        --package tapewise-web --target-dir target/wasm && wasm-opt -Os --enable-bulk-memory \
        --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals $module -o target/wasm/small.wasm" || ended=$?
    umount "$root/proc" "$root/cargo/registry" "$root/source"
    return $ended
}

rm -f target/wasm/small.wasm
mkdir -p target/wasm
if [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
    build
    if command -v wasm-opt > /dev/null; then wasm-opt -Os "$module" -o target/wasm/small.wasm; fi
elif ! in_sid; then
    say "SKIPPED: no Rust for $target here, and none can be had from Debian (see $root.log)" >&2
    exit 0
fi
[ -f target/wasm/small.wasm ] || cp "$module" target/wasm/small.wasm
rm -rf $out
mkdir -p $out
cp crates/web/page/* $out/
cp target/wasm/small.wasm $out/tapewise.wasm
python3 crates/web/one_file.py $out > target/tapewise.html
mv target/tapewise.html $out/
say "$out/index.html (to be served), $out/tapewise.html (one file, works from disk)"
say "module: $(stat -c %s $out/tapewise.wasm) bytes, $(gzip -9c $out/tapewise.wasm | wc -c) compressed"
