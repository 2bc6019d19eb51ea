#!/bin/sh
# Makes the user tapewise and the directory of archives, which Debian's systemd does not do by itself. Without systemd there
# are no units that need them.
set -e
if command -v systemd-sysusers > /dev/null; then
    systemd-sysusers tapewise.conf
    systemd-tmpfiles --create tapewise.conf
fi
