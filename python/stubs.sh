#!/bin/sh
# Writes the stub of the part in Rust, as PyO3 describes it: stubs.sh FILE. Needs maturin and ruff on the PATH.
# PyO3 does not know what dictionaries hold: texts as keys, and values of any kind; and capsules are in `types` from
# Python 3.13 on.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
(cd "$here" && maturin generate-stubs --quiet --out "$made" > "$made/said" 2>&1) || { cat "$made/said"; exit 1; }
sed -E -e 's/\bdict\b/dict[str, Any]/; s/^from typing import /from typing import Any, /' \
    -e 's/^from types (import CapsuleType)/from typing_extensions \1/' "$made/tapewise/_tapewise.pyi" > "$made/stub.pyi"
ruff check --quiet --fix --select I --config "$here/pyproject.toml" "$made/stub.pyi"
ruff format --quiet --config "$here/pyproject.toml" "$made/stub.pyi"
cp "$made/stub.pyi" "$1"
