#!/usr/bin/env bash
# Serves an empty PostgreSQL, on a socket in the directory given, until the standard input ends: when whoever started
# it has ended, by whatever signal. Then the directory is gone too. PostgreSQL does not run as root.
set -euo pipefail
directory=$1
as=()
if [ "$(id -u)" = 0 ]; then
    chown postgres: "$directory"
    as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
fi
trap 'rm -rf "$directory"' EXIT
cd "$directory"
bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort --version-sort | tail -n 1)
# An order of letters that is not that of bytes: what must be in the order of bytes says so itself.
"${as[@]}" "$bin/initdb" --no-sync --auth=trust --username=tapewise --encoding=UTF8 \
    --locale-provider=icu --icu-locale=en --locale=C.UTF-8 --pgdata="$directory/data" >"$directory/log" 2>&1 \
    || { cat "$directory/log" >&2; exit 1; }
"${as[@]}" "$bin/postgres" -D "$directory/data" -k "$directory" -F \
    -c listen_addresses= -c max_connections=200 -c log_min_messages=panic >>"$directory/log" 2>&1 &
server=$!
until "$bin/pg_isready" --quiet --host="$directory"; do
    kill -0 "$server" 2>/dev/null || { cat "$directory/log" >&2; exit 1; }
    sleep 0.05
done
echo ready
cat >/dev/null
kill -INT "$server"
wait "$server" || true
