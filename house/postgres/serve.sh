#!/usr/bin/env bash
# Serves an empty PostgreSQL, on a socket in the directory given, until the standard input ends: when whoever started
# it has ended, by whatever signal. Then the directory is gone too. PostgreSQL does not run as root.
#   serve.sh DIRECTORY [PORT]     With a port also on localhost, where it speaks TLS only, and only with who shows a
#                                 certificate: ca.pem, client.pem and client.key in the directory; other.pem is a
#                                 stranger's authority.
set -euo pipefail
directory=$1
port=${2:-}
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
options=(-c listen_addresses=)
if [ -n "$port" ]; then
    make() { "${as[@]}" openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "$@" >>"$directory/log" 2>&1; }
    by_ca=(-x509 -days 2 -CA ca.pem -CAkey ca.key -addext basicConstraints=CA:FALSE)
    make -x509 -days 2 -subj /CN=authority -keyout ca.key -out ca.pem
    make -x509 -days 2 -subj /CN=stranger -keyout other.key -out other.pem
    make "${by_ca[@]}" -subj /CN=server -addext subjectAltName=DNS:localhost -keyout server.key -out server.pem
    make "${by_ca[@]}" -subj /CN=tapewise -keyout client.key -out client.pem
    printf '%s\n' 'local all all trust' 'hostssl all all 127.0.0.1/32 trust clientcert=verify-full' \
        | "${as[@]}" tee "$directory/data/pg_hba.conf" >/dev/null
    options=(-c listen_addresses=127.0.0.1 -c port="$port" -c ssl=on -c ssl_ca_file="$directory/ca.pem"
        -c ssl_cert_file="$directory/server.pem" -c ssl_key_file="$directory/server.key")
fi
"${as[@]}" "$bin/postgres" -D "$directory/data" -k "$directory" -F \
    "${options[@]}" -c max_connections=200 -c log_min_messages=panic >>"$directory/log" 2>&1 &
server=$!
until "$bin/pg_isready" --quiet --host="$directory" ${port:+--port="$port"}; do
    kill -0 "$server" 2>/dev/null || { cat "$directory/log" >&2; exit 1; }
    sleep 0.05
done
echo ready
cat >/dev/null
kill -INT "$server"
wait "$server" || true
