#!/usr/bin/env bash
# Installs target/dist in roots of other distributions, uses it as its user would, removes it, and prints a table.
#   as root: packaging/try.sh ROOT...        (ROOT: what `debootstrap --variant=minbase bookworm ROOT` makes;
#                                             --include=make,gcc,libc6-dev,man-db,bash-completion,python3-venv,rpm tries all)
# Nothing in a root needs the network. A cell is "ok", "-" (the root has no such program) or "FAILED"; then the
# output follows the table.
set -uo pipefail
cd "$(dirname "$0")/.."
dist=$PWD/target/dist
deb=$(ls "$dist"/tapewise_*_amd64.deb) rpm=$(ls "$dist"/tapewise-*.x86_64.rpm) tarball=$(ls "$dist"/tapewise-*-linux.tar.gz)
library=$(ls "$dist"/libtapewise-*.tar.gz) wheel=$(ls "$dist"/tapewise-*.whl)
log=$(mktemp)
failed=0
columns=(install doctor demo order recall archive serve iscsi man completion library wheel upgrade tarball remove rpm)

step_install() { dpkg -i /try/tapewise.deb && tapewise --version && dpkg -V tapewise; }
# What is missing must come with a command of this distribution.
step_doctor() {
    tapewise doctor | tee doctor.txt && tapewise doctor --report report.txt && grep "$(. /etc/os-release; echo "$PRETTY_NAME")" report.txt \
        && grep -qE 'libiscsi is there|apt-get install libiscsi7|dnf install libiscsi' doctor.txt
}
step_demo() { tapewise demo | tee demo.txt && grep -q '200 delivered, none twice, none missing' demo.txt; }
step_order() {
    tapewise order --ltfs-index volume.xml --profile lto8 --files-from names.txt -o ordered.txt \
        && [ "$(sort ordered.txt)" = "$(sort names.txt)" ]
}
step_recall() {
    tapewise emulate tapes --ltfs volume.xml \
        && tapewise recall --ltfs emulated:tapes --to restored --files-from names.txt \
        && (cd restored && xargs -d '\n' ls < ../names.txt)
}
step_archive() {
    mkdir -p source && head -c 300000 /dev/urandom > source/clip && cp -r source copy \
        && tapewise emulate lib --robot ibm3584 --drives 2 \
        && tapewise catalog init archive --profile lto8 --drive 'emulated:lib#drive0' --drive 'emulated:lib#drive1' \
            --changer 'emulated:lib#changer' \
        && tapewise store --archive archive source && rm source/clip && rm -rf archive/cache/* \
        && tapewise recall --archive archive --to back --all-files && cmp copy/clip back/source/clip
}
step_serve() {
    tapewise serve --archive archive --listen 127.0.0.1:0 > serve.txt 2>&1 & server=$!
    for _ in $(seq 50); do grep -q 127.0.0.1: serve.txt && break; sleep 0.2; done
    cat serve.txt
    exec 3<> "/dev/tcp/127.0.0.1/$(grep -o '127.0.0.1:[0-9]*' serve.txt | head -1 | cut -d: -f2)" \
        && printf 'GET /health HTTP/1.0\r\nHost: x\r\n\r\n' >&3 && head -1 <&3 | grep 200
    answer=$?
    kill -INT $server && wait $server
    return $answer
}
# With libiscsi: a robot and a drive of ours as an iSCSI target. Without: what to install, in words.
step_iscsi() {
    if ! tapewise doctor | grep -q 'libiscsi is there'; then
        tapewise library inventory iscsi://127.0.0.1/iqn.a:b/0 2>&1 | tee words.txt; grep -q 'tapewise doctor' words.txt
        return
    fi
    tapewise emulate target --robot ibm3584 --drives 1 --cartridges 1 --iscsi 127.0.0.1:0 > addresses & target=$!
    for _ in $(seq 50); do grep -q drive addresses && break; sleep 0.2; done
    robot=$(awk '/robot/ { print $1 }' addresses) drive=$(awk '/drive/ { print $1 }' addresses)
    tapewise library inventory "$robot" | tee inventory.txt
    tapewise library mount "$robot" "$(grep -oE 'TW[0-9]{4}$' inventory.txt | head -1)" && tapewise drive position "$drive"
    answer=$?
    kill -INT $target && wait $target
    return $answer
}
step_man() { [ -x /usr/bin/man ] || return 77; man -w tapewise && MANWIDTH=80 man tapewise-recall | grep -q 'EXIT STATUS' \
    && man 5 tapewise-formats > /dev/null && man 8 tapewise-site > /dev/null; }
step_completion() {
    bash -c '. /usr/share/bash-completion/completions/tapewise && complete -p tapewise'
}
step_library() {
    command -v cc > /dev/null || return 77
    tar xf /try/library.tar.gz && cd libtapewise-* \
        && cc -o order doc/order.c -Iinclude -Llib -ltapewise -Wl,-rpath,"$PWD/lib" && ./order
}
step_wheel() {
    python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2> /dev/null || return 77
    python3 -m venv python && python/bin/pip install --no-index --quiet /try/*.whl && python/bin/python - << 'END'
import tapewise
batch = tapewise.Batch([9_000_000, 40_000, 9_100_000, 2_000_000], 2_000, block_size=524_288)
plan = tapewise.order(batch, tapewise.Cartridge("lto8"))
assert sorted(plan.order) == [0, 1, 2, 3], plan
END
}
step_upgrade() {
    dpkg -i /try/older.deb && dpkg -i /try/tapewise.deb && tapewise catalog check --archive archive \
        && [ "$(find archive -name catalogue.db)" ]
}
# make is all that the tarball's demo finds.
step_tarball() {
    tar xf /try/tarball.tar.gz && ./tapewise-*/bin/tapewise profile list | grep -q lto9 || return
    command -v make > /dev/null || return 77
    mkdir only && ln -s "$(command -v make)" only/ && cd tapewise-* \
        && PATH=$HOME/only make demo | grep '200 delivered, none twice, none missing'
}
step_remove() {
    dpkg -r tapewise && ! command -v tapewise && [ -z "$(find /usr /lib /etc -name '*tapewise*' ! -path '*/dpkg/*')" ] \
        && [ -e archive/catalogue.db ]
}
# Debian's rpm knows none of Debian's packages, so it cannot look for the C library.
step_rpm() {
    command -v rpm > /dev/null || return 77
    rpm -qp --requires /try/tapewise.rpm | grep glibc
    rpm -i --nodeps "/try/$([ -e /try/older.rpm ] && echo older || echo tapewise).rpm" && tapewise --version \
        && rpm -U --nodeps --replacepkgs /try/tapewise.rpm && rpm -V --nodeps tapewise && tapewise catalog check --archive archive \
        && rpm -e tapewise && [ -z "$(find /usr /lib /etc -name '*tapewise*' ! -path '*/dpkg/*' ! -type d)" ]
}
export -f $(declare -F | awk '{print $3}' | grep ^step_)

printf '%-22s' distribution; printf ' %-10s' "${columns[@]}"; echo
for root in "$@"; do
    name=$(. "$root/etc/os-release"; echo "$NAME $VERSION_ID")
    printf '%-22s' "$name"
    rm -rf "$root/try"; mkdir -p "$root/try/home"
    cp "$deb" "$root/try/tapewise.deb"; cp "$rpm" "$root/try/tapewise.rpm"; cp "$wheel" "$root/try/"
    cp "$tarball" "$root/try/tarball.tar.gz"; cp "$library" "$root/try/library.tar.gz"
    [ -z "${OLDER_RPM:-}" ] || cp "$OLDER_RPM" "$root/try/older.rpm"
    # The same files under a lower number, or the deb that OLDER names.
    if [ -n "${OLDER:-}" ]; then
        cp "$OLDER" "$root/try/older.deb"
    else
        dpkg-deb -R "$deb" "$root/try/older" && sed -i 's/^Version: .*/Version: 0.0.9/' "$root/try/older/DEBIAN/control" \
            && dpkg-deb --build --root-owner-group "$root/try/older" "$root/try/older.deb" > /dev/null
    fi
    cp fixtures/ltfs/TST001-20files.xml "$root/try/home/volume.xml"
    cut -d' ' -f3- fixtures/ltfs/TST001.sha256 | sed 's|^[.]/||' | head -10 > "$root/try/home/names.txt"
    for mount in proc dev; do mount --bind "/$mount" "$root/$mount"; done
    for column in "${columns[@]}"; do
        echo "=== $name: $column" >> "$log"
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/try/home LC_ALL=C.UTF-8 \
            chroot "$root" bash -c "$(declare -f "step_$column"); cd /try/home && step_$column" >> "$log" 2>&1
        case $? in
            0) cell=ok ;;
            77) cell=- ;;
            *) cell=FAILED failed=1 ;;
        esac
        printf ' %-10s' "$cell"
    done
    echo
    for mount in dev proc; do umount "$root/$mount"; done
    rm -rf "$root/try"
done
[ $failed = 0 ] || cat "$log"
[ -z "${LOG:-}" ] || cp "$log" "$LOG"
rm -f "$log"
exit $failed
