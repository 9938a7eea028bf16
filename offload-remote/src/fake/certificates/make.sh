#!/bin/sh
# Makes the certificates of the tests: an authority, a server, a server whose time is over, and a client.
# It takes OpenSSL 3 and faketime.
set -eu
cd "$(dirname "$0")"
key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key" 2>/dev/null; }
# NAME DAYS
signed() {
    name=$1 days=$2
    key "$name"
    openssl req -new -key "$name.key" -subj "/CN=$name" -out "$name.csr"
    printf 'subjectAltName = DNS:localhost, IP:127.0.0.1\nbasicConstraints = CA:FALSE\n' > "$name.ext"
    faketime 2024-01-01 openssl x509 -req -in "$name.csr" -CA authority.pem -CAkey authority.key -extfile "$name.ext" \
        -days "$days" -set_serial "0x$(openssl rand -hex 8)" -out "$name.pem" 2>/dev/null
    rm "$name.csr" "$name.ext"
}
key authority
faketime 2020-01-01 openssl req -x509 -new -key authority.key -subj "/CN=tests" -days 36500 -out authority.pem
signed server 36500
signed client 36500
signed expired 30
rm authority.key expired.csr 2>/dev/null || true
