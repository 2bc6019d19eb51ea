#!/usr/bin/env bash
# Installs Python programs of others that the tests run: an S3 server (moto), a client of the tape API (xgfalclient) and
# that of Rucio. They go into the directory given. Where this cannot be done it says so, and the tests that need them are
# skipped.
set -euo pipefail
directory=${1:?a directory for them}
wanted=$(dirname "$0")/requirements.txt
cmp --silent "$wanted" "$directory/installed" && exit 0
echo "installing an S3 server, a client of the tape API and that of Rucio for the tests"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{
    python3 -m venv "$directory"
    # A network that swallows everything must not hold up the tests.
    timeout 300 "$directory/bin/pip" install --quiet --disable-pip-version-check --timeout 20 -r "$wanted"
} >"$log" 2>&1 || {
    tail -n 5 "$log" >&2
    rm -rf "$directory"
    echo "SKIPPED: tests with an S3 server, with xgfalclient and with Rucio: they cannot be installed" >&2
    exit 0
}
cp "$wanted" "$directory/installed"
