#!/usr/bin/env bash
# Lays out the root of a container: the program, and the C library of this machine. Nothing else is in it.
#   packaging/image.sh target/dist/tapewise-0.1.0-x86_64-linux target/image
set -euo pipefail
program=$1/bin/tapewise root=$2
rm -rf "$root"
install -D "$program" "$root/bin/tapewise"
ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
    install -D "$library" "$root$library"
done
# Verbs write into the directory they are started in, and `demo` makes its own.
mkdir -m 1777 "$root/tmp" "$root/work"
cp "$(dirname "$0")/Containerfile" "$root/"
