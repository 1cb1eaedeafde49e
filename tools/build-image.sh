#!/usr/bin/env bash
# Builds the image where no container engine runs and no registry can be reached: buildah builds the Dockerfile on
# stand-ins for its base images: Debian by debootstrap, Node by npm, Redis by apt. Elsewhere: docker build -t towhook .
#   sudo tools/build-image.sh [name]     default name: towhook
# Needs root and: apt-get install buildah debootstrap. STORAGE_DRIVER=vfs where overlay file systems cannot be mounted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
name=${1:-towhook}
export STORAGE_DRIVER=${STORAGE_DRIVER:-overlay} BUILDAH_ISOLATION=chroot
for program in buildah debootstrap npm; do
  command -v "$program" >/dev/null || { echo "$program is not installed" >&2; exit 1; }
done

redis=$(sed -nE 's/^FROM (redis:\S+) AS redis$/\1/p' Dockerfile)
base=$(sed -nE 's/^FROM (node:\S+) AS base$/\1/p' Dockerfile)
node_version=$(sed -nE 's/^node:([0-9.]+)-.*/\1/p' <<<"$base")
debian=$(sed -nE 's/^node:[0-9.]+-(\w+)-slim$/\1/p' <<<"$base")
certificates=/etc/ssl/certs/ca-certificates.crt

make_base() {
  local work container mirror
  work=$(mktemp -d)
  trap 'rm -rf "$work"' RETURN
  # The mirror that this machine uses.
  mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
    grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ')
  debootstrap --variant=minbase --include=ca-certificates "$debian" "$work/root" "${mirror:-http://deb.debian.org/debian}" >/dev/null
  npm install --silent --no-audit --no-fund --prefix "$work/node" "node@$node_version"
  local modules=$work/root/usr/local/lib/node_modules
  mkdir -p "$work/root/usr/local/bin" "$modules"
  cp "$work/node/node_modules/node/bin/node" "$work/root/usr/local/bin/node"
  cp -r "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/root/usr/local/bin/npm"
  cp "$certificates" "$work/root$certificates"
  chroot "$work/root" useradd --create-home --uid 1000 node
  container=$(buildah from scratch)
  buildah copy --quiet "$container" "$work/root" / >/dev/null
  buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    --env "NODE_EXTRA_CA_CERTS=$certificates" "$container"
  buildah commit --quiet --rm "$container" "docker.io/library/$base" >/dev/null
}

make_redis() {
  local container
  container=$(buildah from --pull=never "docker.io/library/$base")
  buildah run "$container" -- sh -c 'apt-get -qq update && apt-get -qq install --no-install-recommends redis-server' \
    >/dev/null
  buildah commit --quiet --rm "$container" "docker.io/library/$redis" >/dev/null
}

exists() { buildah inspect --type image "docker.io/library/$1" >/dev/null 2>&1; }
exists "$base" || make_base
exists "$redis" || make_redis
# The OCI format has no health checks.
buildah bud --format docker --pull=never --network host --tag "$name" .
