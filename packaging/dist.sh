#!/usr/bin/env bash
# Builds everything that is published, into target/dist: tarball, deb, rpm, wheel, C library, line tables, bill of
# materials, checksums.
# The same commit gives the same bytes, in whatever folder, but for the line tables. Called by `make dist`, which has put the tools on the PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/release.env
release=${RELEASE:-}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
commit=$(git rev-parse --short=12 HEAD)
say() { echo "dist: $*"; }
refuse() { echo "dist: $*" >&2; exit 1; }

if [ -n "$release" ]; then
    [ -n "$MAINTAINER" ] && [ -n "$REPOSITORY" ] || refuse "set MAINTAINER and REPOSITORY in packaging/release.env first"
    [ -z "$(git status --porcelain)" ] || refuse "commit first: a release is built from a commit, and there are changes"
else
    [ -n "$MAINTAINER" ] && [ -n "$REPOSITORY" ] || say "a trial, not for publishing: packaging/release.env has no names"
fi

export SOURCE_DATE_EPOCH; SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export TZ=UTC LC_ALL=C TAPEWISE_VERSION="$version (commit $commit)"
name=tapewise-$version-x86_64-linux
out=target/dist
compiled=target/for-dist # cargo puts what runs while compiling below the name of the profile, which is dist as well
built=$compiled/x86_64-unknown-linux-gnu/dist
stage=$out/$name
rm -rf "$out"
mkdir -p "$stage"/{bin,man/man1,man/man5,man/man8,completions,doc}

python3 packaging/licences.py --notices "$stage/doc/THIRD-PARTY.txt" --sbom "$out/$name.cdx.json"

say "compiling for glibc 2.17 (some minutes the first time)"
home=${CARGO_HOME:-$HOME/.cargo}
export RUSTFLAGS="--remap-path-prefix=$PWD=tapewise --remap-path-prefix=$home=cargo"
export CFLAGS="-ffile-prefix-map=$PWD=tapewise -ffile-prefix-map=$home=cargo"
# The page for the browser, where it was made (`make web`): `tapewise page` writes it, and it lies in the tarball.
features=()
if [ -f target/web/tapewise.html ]; then
    export TAPEWISE_PAGE=$PWD/target/web/tapewise.html
    features=(--features tapewise-cli/page)
else
    say "without the page for the browser: run make web first"
fi
cargo zigbuild --quiet --locked --profile dist --target x86_64-unknown-linux-gnu.2.17 --target-dir $compiled \
    --package tapewise-cli --package tapewise-capi "${features[@]}"

# Line tables apart, for whoever reads a backtrace; the build's identity would differ by folder.
objcopy --only-keep-debug --remove-section=.note.gnu.build-id "$built/tapewise" "$out/$name.debug"
objcopy --strip-all --remove-section=.note.gnu.build-id "$built/tapewise" "$stage/bin/tapewise"
runs_on_old_glibc() {
    local highest; highest=$(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -1)
    [ "$(printf '%s\n' GLIBC_2.17 "$highest" | sort -V | tail -1)" = GLIBC_2.17 ] || refuse "$1 needs $highest"
}
runs_on_old_glibc "$stage/bin/tapewise"

"$stage/bin/tapewise" manual "$stage/man" > /dev/null
mv "$stage"/man/{tapewise.bash,tapewise.fish,_tapewise} "$stage/completions/"
for section in 1 5 8; do
    mv "$stage"/man/*.$section "$stage/man/man$section/"
done
gzip -n9 "$stage"/man/man?/*
mdbook build docs --dest-dir "$PWD/$stage/doc/html"
cp README.md LICENSE-MIT LICENSE-APACHE SECURITY.md "$stage/doc/"
[ -z "${TAPEWISE_PAGE:-}" ] || cp "$TAPEWISE_PAGE" "$stage/doc/tapewise.html"
gzip -n9c CHANGELOG.md > "$stage/doc/changelog.gz"
sed -e '/^MIT_TEXT$/{r LICENSE-MIT
d}' packaging/copyright | sed -e '/^ \./!b' > "$stage/doc/copyright"
cp packaging/tarball.mk "$stage/Makefile"
mkdir "$stage/packaging"
cp -r packaging/systemd packaging/60-tapewise.rules packaging/sysusers.conf packaging/tmpfiles.conf "$stage/packaging/"
find "$stage" -type d -exec chmod 755 {} +
find "$stage" -type f -exec chmod 644 {} +
chmod 755 "$stage/bin/tapewise"

# The C library. zig has no libgcc_s; its own unwinder goes into the shared library.
library=libtapewise-$version-x86_64-linux
CC="python-zig cc -target x86_64-linux-gnu.2.17" UNWIND=-lunwind \
    crates/capi/link.sh "$built/libtapewise_capi.a" "$PWD/$out/$library" "$version"
objcopy --strip-debug "$out/$library/lib/libtapewise.a"
objcopy --strip-unneeded --remove-section=.note.gnu.build-id "$out/$library/lib/libtapewise.so.$version"
runs_on_old_glibc "$out/$library/lib/libtapewise.so.$version"
mkdir "$out/$library/doc"
cp LICENSE-MIT LICENSE-APACHE docs/how-to/link-from-c.md crates/capi/examples/{order.c,order.cpp,CMakeLists.txt} "$stage/doc/THIRD-PARTY.txt" "$out/$library/doc/"

say "compiling the package for Python"
CARGO_TARGET_DIR=$PWD/$compiled/python maturin build --quiet --locked --profile dist --strip --zig --compatibility manylinux_2_17 \
    --target x86_64-unknown-linux-gnu --manifest-path python/Cargo.toml --out "$out"

say "packing"
pack() {
    find "$out/$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w --mtime="@$SOURCE_DATE_EPOCH" -C "$out" -cf - "$1" \
        | gzip -n9 > "$out/$1.tar.gz"
}
pack "$name"
pack "$library"
export VERSION=$version STAGE=$stage HOMEPAGE=$REPOSITORY MAINTAINER=${MAINTAINER:-unset}
MTIME=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ); export MTIME
envsubst() { python3 -c 'import os,sys; sys.stdout.write(os.path.expandvars(sys.stdin.read()))'; }
envsubst < packaging/nfpm.yaml > "$out/nfpm.yaml"
nfpm package --config "$out/nfpm.yaml" --packager deb --target "$out/" > /dev/null
nfpm package --config "$out/nfpm.yaml" --packager rpm --target "$out/" > /dev/null
rm "$out/nfpm.yaml"
(cd "$out" && sha256sum -- *.tar.gz *.deb *.rpm *.whl *.cdx.json *.debug > SHA256SUMS)
if [ -n "$MINISIGN_KEY" ]; then
    minisign -S -s "$MINISIGN_KEY" -m "$out/SHA256SUMS" -x "$out/SHA256SUMS.minisig"
elif [ -n "$release" ]; then
    refuse "set MINISIGN_KEY in packaging/release.env: a release is signed"
fi
say "done: $out"
(cd "$out" && ls -l | awk 'NR > 1 && $1 !~ /^d/ { printf "%12d  %s\n", $5, $9 }')
