#!/usr/bin/env bash
# Builds everything that is published, into target/dist: tarball, deb, rpm, line tables, bill of materials, checksums.
# The same commit gives the same bytes, in whatever folder. Called by `make dist`, which has put the tools on the PATH.
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
built=target/x86_64-unknown-linux-gnu/dist
stage=$out/$name
rm -rf "$out"
mkdir -p "$stage"/{bin,man/man1,completions,doc}

python3 packaging/licences.py --notices "$stage/doc/THIRD-PARTY.txt" --sbom "$out/$name.cdx.json"

say "compiling for glibc 2.17 (some minutes the first time)"
home=${CARGO_HOME:-$HOME/.cargo}
export RUSTFLAGS="--remap-path-prefix=$PWD=tapewise --remap-path-prefix=$home=cargo"
export CFLAGS="-ffile-prefix-map=$PWD=tapewise -ffile-prefix-map=$home=cargo"
# The page for the browser, where it was made (`make web`): `tapewise page` writes it, and it lies in the tarball.
features=()
if [ -f target/web/tapewise.html ]; then
    export TAPEWISE_PAGE=$PWD/target/web/tapewise.html
    features=(--features page)
else
    say "without the page for the browser: run make web first"
fi
cargo zigbuild --quiet --locked --profile dist --target x86_64-unknown-linux-gnu.2.17 --package tapewise-cli "${features[@]}"

# Line tables apart, for whoever reads a backtrace; the build's identity would differ by folder.
objcopy --only-keep-debug --remove-section=.note.gnu.build-id "$built/tapewise" "$out/$name.debug"
objcopy --strip-all --remove-section=.note.gnu.build-id "$built/tapewise" "$stage/bin/tapewise"
highest=$(objdump -T "$stage/bin/tapewise" | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -1)
[ "$(printf '%s\n' GLIBC_2.17 "$highest" | sort -V | tail -1)" = GLIBC_2.17 ] || refuse "the program needs $highest"

"$stage/bin/tapewise" manual "$stage/man" > /dev/null
mv "$stage"/man/{tapewise.bash,tapewise.fish,_tapewise} "$stage/completions/"
find "$stage/man" -maxdepth 1 -name '*.1' -exec mv {} "$stage/man/man1/" \;
gzip -n9 "$stage"/man/man1/*.1
mdbook build docs --dest-dir "$PWD/$stage/doc/html"
cp README.md LICENSE-MIT LICENSE-APACHE SECURITY.md "$stage/doc/"
[ -z "${TAPEWISE_PAGE:-}" ] || cp "$TAPEWISE_PAGE" "$stage/doc/tapewise.html"
gzip -n9c CHANGELOG.md > "$stage/doc/changelog.gz"
sed -e '/^MIT_TEXT$/{r LICENSE-MIT
d}' packaging/copyright | sed -e '/^ \./!b' > "$stage/doc/copyright"
cp packaging/tarball.mk "$stage/Makefile"
mkdir "$stage/packaging"
cp -r packaging/systemd packaging/60-tapewise.rules packaging/sysusers.conf packaging/tmpfiles.conf "$stage/packaging/"
find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
find "$stage" -type d -exec chmod 755 {} +
find "$stage" -type f -exec chmod 644 {} +
chmod 755 "$stage/bin/tapewise"

say "packing"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$out" -cf - "$name" \
    | gzip -n9 > "$out/$name.tar.gz"
export VERSION=$version STAGE=$stage HOMEPAGE=$REPOSITORY MAINTAINER=${MAINTAINER:-unset}
MTIME=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ); export MTIME
envsubst() { python3 -c 'import os,sys; sys.stdout.write(os.path.expandvars(sys.stdin.read()))'; }
envsubst < packaging/nfpm.yaml > "$out/nfpm.yaml"
nfpm package --config "$out/nfpm.yaml" --packager deb --target "$out/" > /dev/null
nfpm package --config "$out/nfpm.yaml" --packager rpm --target "$out/" > /dev/null
rm "$out/nfpm.yaml"
(cd "$out" && sha256sum -- *.tar.gz *.deb *.rpm *.cdx.json *.debug > SHA256SUMS)
if [ -n "$MINISIGN_KEY" ]; then
    minisign -S -s "$MINISIGN_KEY" -m "$out/SHA256SUMS" -x "$out/SHA256SUMS.minisig"
elif [ -n "$release" ]; then
    refuse "set MINISIGN_KEY in packaging/release.env: a release is signed"
fi
say "done: $out"
(cd "$out" && ls -l | awk 'NR > 1 && $1 !~ /^d/ { printf "%12d  %s\n", $5, $9 }')
