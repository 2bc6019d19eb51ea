#!/usr/bin/env bash
# Installs what the tests against real SCSI targets need, from Debian's packages: tgtd and libiscsi; strace for kills;
# gfal2, a client of the tape API; PostgreSQL, for catalogues that hosts share; QEMU, busybox, mt-st and a kernel with
# st, sg and ch for the guest. The kernel is unpacked, not installed, into the directory given. Where this cannot be
# done it says what will be skipped, and why.
set -euo pipefail

kernel=${1:?a directory for the kernel}
packages=(strace tgt libiscsi7 qemu-system-x86 qemu-block-extra busybox-static cpio kmod xz-utils mt-st e2fsprogs
    gfal2-plugin-file gfal2-plugin-http python3-gfal2-util gfal2-util-scripts postgresql)

skip() {
    echo "SKIPPED: tests against real SCSI targets and PostgreSQL: $1" >&2
    exit 0
}

complete() {
    dpkg-query --show --showformat '${db:Status-Abbrev}\n' "${packages[@]}" 2>/dev/null \
        | grep -c '^ii' | grep -qx ${#packages[@]} && ls "$kernel"/boot/vmlinuz-* >/dev/null 2>&1
}

command -v apt-get >/dev/null || skip "no apt-get here"
complete && exit 0
[ "$(id -u)" = 0 ] || skip "only root installs ${packages[*]}"
echo "installing ${packages[*]} and a kernel for the tests against real SCSI targets"
# A network that swallows everything must not hold up the tests.
apt=(timeout 600 apt-get -o Acquire::http::Timeout=20 -o Acquire::Retries=1 -o DPkg::Lock::Timeout=300)
log=$(mktemp)
trap 'rm -rf "$log" "${work:-}"' EXIT
{
    "${apt[@]}" update
    DEBIAN_FRONTEND=noninteractive "${apt[@]}" install --yes --no-install-recommends "${packages[@]}"
} >"$log" 2>&1 || { tail -n 5 "$log" >&2; skip "apt-get failed"; }

# The package linux-image-cloud-amd64 names the newest kernel.
depends=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null || true)
image=$(sed -n 's/.*Depends: \(linux-image-[^ ]*\).*/\1/p' <<<"$depends" | head -n 1)
[ -n "$image" ] || skip "this distribution has no linux-image-cloud-amd64 (the guest's kernel)"
work=$(mktemp -d)
(cd "$work" && "${apt[@]}" download "$image") >"$log" 2>&1 || { tail -n 5 "$log" >&2; skip "$image cannot be had"; }
rm -rf "$kernel"
mkdir -p "$kernel"
dpkg -x "$work"/*.deb "$kernel"
