#!/bin/sh
# Before the package goes (an upgrade is not meant), its timers and services end; a read under way comes to its end first,
# and nothing starts again at the next boot. Debian says "remove", RPM says that no version stays.
set -e
if [ "$1" = remove ] || [ "$1" = 0 ]; then
    if [ -d /run/systemd/system ]; then
        systemctl stop 'tapewise-scrub@*' 'tapewise-serve@*' 'tapewise-mover@*'
        for enabled in /etc/systemd/system/*.target.wants/tapewise-*@*; do
            [ ! -L "$enabled" ] || systemctl disable --quiet "${enabled##*/}"
        done
    fi
fi
