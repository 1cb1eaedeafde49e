#!/bin/sh
# Makes the certificates of the tests, valid from 2020 on: a private authority, a server on the loopback address, and a
# client.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
touch index.txt
echo 01 > serial
cat > ca.cnf <<'END'
[ca]
default_ca = authority
[authority]
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
[any]
commonName = supplied
[authority_extensions]
basicConstraints = critical,CA:true
[server_extensions]
subjectAltName = DNS:localhost,IP:127.0.0.1
[client_extensions]
extendedKeyUsage = clientAuth
END
request() { # name, common name
  openssl ecparam -name prime256v1 -genkey -noout -out "$1-key.pem"
  openssl req -new -key "$1-key.pem" -subj "/CN=$2" -out "$1.csr"
}
sign() { # name, further options
  openssl ca -batch -notext -config ca.cnf -keyfile ca-key.pem -extensions "$1_extensions" -in "$1.csr" -out "$1.pem" \
    -startdate 20200101000000Z -enddate 20991231000000Z $2
}
request authority 'towhook test authority'
cp authority-key.pem ca-key.pem
sign authority -selfsign
cp authority.pem ca.pem
request server localhost
sign server '-cert ca.pem'
request client 'operator of the tests'
sign client '-cert ca.pem'
cp ca.pem server.pem server-key.pem client.pem client-key.pem "$here"
