#!/usr/bin/env bash
# Packs the sources with all crates that they need, for machines without a network: target/tapewise-VERSION-source.tar.gz.
# Unpacked, `cargo build --release --offline` and Spack find the crates in vendor/.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
name=tapewise-$version-source
rm -rf "target/$name"
mkdir -p "target/$name/.cargo"
git archive HEAD | tar x -C "target/$name"
(cd "target/$name" && cargo vendor --quiet --locked vendor)
cat > "target/$name/.cargo/config.toml" << 'END'
[source.crates-io]
replace-with = "vendored-sources"

[source.vendored-sources]
directory = "vendor"
END
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -C target -cf - "$name" \
    | gzip -n9 > "target/$name.tar.gz"
rm -rf "target/$name"
echo "target/$name.tar.gz"
