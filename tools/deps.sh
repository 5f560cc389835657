#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# deps.sh [run|bench|fuzz|lint]...: installs, with apt-get, what building (and the named tasks)
# need and this machine lacks. Says what it does; does nothing when all is there.
set -eu

packages="gcc pkg-config meson ninja-build clang llvm libdpdk-dev libxxhash-dev libbpf-dev
libcmocka-dev libmemcached-dev libevent-dev libmnl-dev libyaml-dev libjansson-dev libssl-dev
protobuf-c-compiler libprotobuf-c-dev"
for task in "$@"; do
	case $task in
	run) packages="$packages memcached iproute2 ethtool procps python3 iputils-ping" ;;
	bench) packages="$packages dpdk-dev python3" ;;
	fuzz) packages="$packages libclang-rt-14-dev" ;;
	lint) packages="$packages clang-format clang-tidy cppcheck python3" ;;
	*) echo "deps.sh: $task?" >&2; exit 2 ;;
	esac
done

missing=
for p in $packages; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q '^install ok installed' ||
		missing="$missing $p"
done
[ -n "$missing" ] || exit 0

echo "installing:$missing"
if [ "$(id -u)" -ne 0 ]; then
	echo "this needs root: run as root, or install the packages above yourself" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
# shellcheck disable=SC2086
apt-get -qq install -y --no-install-recommends $missing >/tmp/kvlane-deps.log 2>&1 || {
	tail -n 20 /tmp/kvlane-deps.log >&2
	exit 1
}
rm -f /tmp/kvlane-deps.log
