#!/usr/bin/env bash
# other-systems.sh: does the program still compile for Windows and macOS?
# other-systems.sh run: the same commands with the programs for Linux and for Windows (under wine), their output compared.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}

needs() { # needs PROGRAM PACKAGE
    command -v "$1" > /dev/null || { echo "SKIPPED $what: $1 is missing (Debian: $2)"; exit 0; }
}

std() { # std TARGET: its standard library is here, or can be had
    [ -d "$(rustc --print sysroot)/lib/rustlib/$1" ] && return
    command -v rustup > /dev/null && timeout 120 rustup --quiet target add "$1" > /dev/null 2>&1
}

if [ "${1:-}" != run ]; then
    for target in x86_64-pc-windows-gnu aarch64-apple-darwin; do
        if std $target; then
            $cargo clippy --quiet --package tapewise-cli --target $target -- -D warnings
        else
            echo "SKIPPED compiling for $target: rustup cannot give its standard library"
        fi
    done
    exit
fi

what="the program for Windows"
needs x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
wine=$(command -v wine64 || command -v wine || echo /usr/lib/wine/wine64)
needs "$wine" wine64
std x86_64-pc-windows-gnu || { echo "SKIPPED $what: rustup cannot give its standard library"; exit 0; }
$cargo build --quiet --package tapewise-cli
$cargo build --quiet --package tapewise-cli --target x86_64-pc-windows-gnu
built=$(readlink -f "${CARGO_TARGET_DIR:-target}")
sources=$PWD
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
export WINEPREFIX=$built/wine WINEDEBUG=-all
"$wine" cmd /c exit 2> /dev/null
# Wine 8 lacks the one function that Rust takes its random numbers from.
if [ ! -e "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" ]; then
    printf '%s\n' '#include <windows.h>' 'BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);' \
        '__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE b, SIZE_T n) { return SystemFunction036(b, (ULONG)n); }' \
        | x86_64-w64-mingw32-gcc -shared -x c - -ladvapi32 -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll"
fi
mkdir "$there"/{linux,windows,said}
awk 'BEGIN { srand(7); print "id,start_block,end_block"
    for (i = 1; i <= 300; i++) printf "clip %d,%d,%d\n", i, b = rand() * 5000000, b + rand() * 3000 }' > "$there/reads.csv"
sed -n 's:.*<name>\(.*\)</name>.*:\1:p' fixtures/ltfs/lto8-36files.xml | tail -n 30 > "$there/names.txt"
for system in linux windows; do
    cp "$there"/*.csv "$there"/*.txt fixtures/ltfs/*.xml scenarios/*.toml "$there/$system"
done

commands=0
differ=0
both() { # both ARGUMENT...: with each program, in a directory of its own
    commands=$((commands + 1))
    for system in linux windows; do
        program=("$built/debug/tapewise")
        [ $system = linux ] || program=("$wine" "$built/x86_64-pc-windows-gnu/debug/tapewise.exe")
        (cd "$there/$system" && "${program[@]}" --progress none "$@" < /dev/null) \
            > "$there/said/$system" 2> "$there/said/$system.errors" && code=0 || code=$?
        echo "exit code $code" >> "$there/said/$system"
    done
    same=same
    cmp -s "$there"/said/linux "$there"/said/windows || same=DIFFERS
    [ $same = same ] || differ=$((differ + 1))
    printf '%-8s %8d bytes, %s  tapewise %s\n' $same "$(stat -c %s "$there/said/linux")" "$(tail -n 1 "$there/said/linux")" "$*"
    [ $same = same ] || { diff "$there"/said/linux "$there"/said/windows || true; } | sed -n 1,6p | cut -c 1-160
}
both order --profile lto8 --block-size 512K reads.csv
both order --profile lto9 --block-size 2M --json reads.csv
both order --profile lto8 --block-size 512K --explain --html order.html reads.csv
both order --profile lto8 --ltfs-index lto8-36files.xml --files-from names.txt --to powershell
both order --profile lto8 --ltfs-index TST002-gen4-3001files-3302extents.xml --all-files
both order --profile lto8 --ltfs-index . --all-files
both convert --ltfs-index TST002-gen4-3001files-3302extents.xml --all-files
both profile list
both profile show lto9 --json
both emulate drive
both drive status emulated:drive
both measure emulated:lto8 --for-fit=2h --output measured.jsonl
both fit measured.jsonl --base lto8 --output fitted.toml
both order --profile fitted.toml --block-size 512K reads.csv
both audit measured.jsonl
both simulate lto9-site.toml
both simulate nersc-2001.toml
both capacity lto9-site.toml --case window --target "p95 < 4h"
both reproduce cern
both sense 03/11/00
both order --profile nothing reads.csv
timeless() { sed -E 's/[0-9.]+( |%20)ms//g' "$1"; } # a page says how long the search took
for file in "$there"/linux/*; do
    [ -d "$file" ] || cmp -s <(timeless "$file") <(timeless "${file/linux/windows}") \
        || { echo "DIFFERS  the file $(basename "$file")"; differ=$((differ + 1)); }
done
echo "$differ of $commands commands and of the files that they wrote differ"
[ $differ = 0 ]
