#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Next hops as the kernel knows them, followed through what an operator and a network do to them:
# a router's namespace R, a peer P on its link, which is also the gateway to far addresses.
set -eu

watch=${BUILD:-$(dirname "$0")/../../build}/tests/neighbours_watch
if [ "$(id -u)" != 0 ] || ! ip netns list >/dev/null 2>&1; then
	echo "needs root and network namespaces"
	exit 77
fi

id=kvl$$
R=$id-r P=$id-p
dir=$(mktemp -d)
log=$dir/log
pid= pids=

cleanup() {
	rc=$?
	[ -z "$pid$pids" ] || kill $pid $pids 2>/dev/null || true
	if [ $rc != 0 ] && [ $rc != 77 ]; then
		echo "--- log"; cat "$log"
		ip -n "$R" -d neigh; ip -n "$R" route; ip -n "$R" -6 route
	fi
	ip netns del "$R" 2>/dev/null || true
	ip netns del "$P" 2>/dev/null || true
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

ip netns add "$R"
ip netns add "$P"
ip -n "$R" link add up0 type veth peer name dn0 netns "$P"
# Short times for the kernel's own probing: it is not what is tested, and slow otherwise.
for f in ipv4 ipv6; do
	ip netns exec "$R" sh -c "echo 500 >/proc/sys/net/$f/neigh/up0/base_reachable_time_ms
		echo 1 >/proc/sys/net/$f/neigh/up0/delay_first_probe_time
		echo 300 >/proc/sys/net/$f/neigh/up0/retrans_time_ms
		echo 500 >/proc/sys/net/$f/neigh/up0/interval_probe_time_ms" 2>/dev/null || true
done
ip netns exec "$R" sh -c 'echo 0 >/proc/sys/net/ipv6/conf/up0/accept_dad'
ip netns exec "$P" sh -c 'echo 0 >/proc/sys/net/ipv6/conf/dn0/accept_dad'
ip -n "$P" link set dn0 address 02:00:00:00:00:01
ip -n "$R" addr add 10.9.0.1/24 dev up0
ip -n "$P" addr add 10.9.0.2/24 dev dn0
ip -n "$P" addr add 10.9.0.3/24 dev dn0
ip -n "$R" addr add fd09::1/64 dev up0 nodad
ip -n "$P" addr add fd09::2/64 dev dn0 nodad
ip -n "$R" link set lo up
ip -n "$R" link set up0 up
ip -n "$P" link set dn0 up

# The last block of the log has the line; polled for at most 20 s.
expect() {
	for _ in $(seq 400); do
		if awk -v RS= 'END { print }' "$log" | grep -qxF -- "$1"; then
			echo "ok: $1"
			return
		fi
		kill -0 "$pid"
		sleep 0.05
	done
	echo "not seen: $1"
	exit 1
}

# A command's success, polled for at most 20 s.
until_true() {
	for _ in $(seq 400); do
		if "$@" >/dev/null 2>&1; then
			return
		fi
		sleep 0.05
	done
	echo "never true: $*"
	exit 1
}

managed() {
	ip -n "$R" -d neigh show "$1" | grep -q managed
}

blocks() {
	grep -c '^$' "$log"
}

none=00:00:00:00:00:00
mac1=02:00:00:00:00:01
mac2=02:00:00:00:00:02
# A neighbour that was there before, and must be as it was afterwards.
ip -n "$R" neigh add 10.9.0.3 lladdr $mac1 dev up0 nud stale
ip -n "$R" neigh add 10.9.0.4 lladdr 02:00:00:00:00:04 dev up0 nud permanent

# The found entry is taken over while the program runs, and given back.
# ip becomes the program (exec), so the pid is the program's.
ip netns exec "$R" "$watch" 10.9.0.3 >"$log" &
pid=$!
until_true managed 10.9.0.3
kill "$pid"
wait "$pid"
ip -n "$R" neigh show 10.9.0.3 | grep -q $mac1 || { echo "a found entry was removed"; exit 1; }
if managed 10.9.0.3; then
	echo "a found entry is still managed"
	exit 1
fi

ip netns exec "$R" "$watch" 10.9.0.2 10.9.0.4 10.9.0.77 10.50.0.1 10.9.0.1 fd09::2 10.9.0.3 \
	>"$log" &
pid=$!

expect "10.9.0.2: ok, up0, $mac1, on-link, from 10.9.0.1"
expect "10.9.0.4: ok, up0, 02:00:00:00:00:04, on-link, from 10.9.0.1"
expect "10.9.0.77: no answer to ARP or neighbour discovery, up0, $none, on-link, from 10.9.0.1"
expect "10.50.0.1: no route, -, $none, gateway, from ::"
expect "10.9.0.1: the address is this host's own, lo, $none, on-link, from 10.9.0.1"
expect "fd09::2: ok, up0, $mac1, on-link, from fd09::1"
expect "10.9.0.3: ok, up0, $mac1, on-link, from 10.9.0.1"
until_true managed 10.9.0.2
until_true managed 10.9.0.3

# A route by way of a gateway appears, moves, and goes.
ip -n "$R" route add 10.50.0.0/16 via 10.9.0.2
expect "10.50.0.1: ok, up0, $mac1, gateway, from 10.9.0.1"
ip -n "$R" route replace 10.50.0.0/16 via 10.9.0.4
expect "10.50.0.1: ok, up0, 02:00:00:00:00:04, gateway, from 10.9.0.1"
ip -n "$R" route replace 10.50.0.0/16 via inet6 fd09::2
expect "10.50.0.1: ok, up0, $mac1, gateway, from 10.9.0.1"
ip -n "$R" route del 10.50.0.0/16
expect "10.50.0.1: no route, -, $none, gateway, from ::"
ip -n "$R" route add blackhole 10.50.0.0/16
ip -n "$R" route add 10.50.0.0/24 via 10.9.0.2
expect "10.50.0.1: ok, up0, $mac1, gateway, from 10.9.0.1"
ip -n "$R" route del 10.50.0.0/24
expect "10.50.0.1: no route, -, $none, gateway, from ::"

# The peer gets another MAC address and says nothing of it: the kernel's probes find out.
ip -n "$P" link set dn0 address $mac2
expect "10.9.0.2: ok, up0, $mac2, on-link, from 10.9.0.1"
expect "fd09::2: ok, up0, $mac2, on-link, from fd09::1"
expect "10.9.0.3: ok, up0, $mac2, on-link, from 10.9.0.1"

# Nothing happens: nothing is said, whatever the kernel's states do meanwhile.
before=$(blocks)
sleep 2
[ "$(blocks)" = "$before" ] || { echo "changes without a change"; exit 1; }

# An entry that an operator deletes comes back; one set by hand is taken as it is.
ip -n "$R" neigh del 10.9.0.2 dev up0
until_true managed 10.9.0.2
expect "10.9.0.2: ok, up0, $mac2, on-link, from 10.9.0.1"
ip -n "$R" neigh replace 10.9.0.2 lladdr 02:00:00:00:00:99 dev up0 nud permanent
expect "10.9.0.2: ok, up0, 02:00:00:00:00:99, on-link, from 10.9.0.1"
ip -n "$R" -d neigh show 10.9.0.2 | grep -q PERMANENT || { echo "permanence lost"; exit 1; }
ip -n "$R" neigh del 10.9.0.2 dev up0
expect "10.9.0.2: ok, up0, $mac2, on-link, from 10.9.0.1"
ip -n "$R" neigh show 10.9.0.4 | grep -q PERMANENT || { echo "permanence lost"; exit 1; }

# Carrier, then the interface itself.
ip -n "$P" link set dn0 down
expect "10.9.0.2: interface is down, up0, $none, on-link, from 10.9.0.1"
ip -n "$P" link set dn0 up
expect "10.9.0.2: ok, up0, $mac2, on-link, from 10.9.0.1"
ip -n "$R" link set up0 down
expect "10.9.0.2: no route, -, $none, gateway, from ::"
ip -n "$R" link set up0 up
expect "10.9.0.2: ok, up0, $mac2, on-link, from 10.9.0.1"
ip -n "$R" addr del 10.9.0.1/24 dev up0
expect "10.9.0.2: no route, -, $none, gateway, from ::"
ip -n "$R" addr add 10.9.0.7/24 dev up0
expect "10.9.0.2: ok, up0, $mac2, on-link, from 10.9.0.7"

# The kernel's own times: a MAC that changes without a word is found half a minute later, but some
# three seconds after somebody has noticed the silence. A gateway of others stays in use meanwhile.
ip -n "$R" link add up1 type veth peer name dn1 netns "$P"
ip -n "$P" link set dn1 address $mac1
ip -n "$R" addr add 10.8.0.1/24 dev up1
ip -n "$P" addr add 10.8.0.2/24 dev dn1
ip -n "$R" link set up1 up
ip -n "$P" link set dn1 up
ip -n "$R" route add 10.60.0.0/16 via 10.8.0.2
ip netns exec "$R" "$watch" 10.8.0.2 10.60.0.1 >"$dir/silence" &
silence=$!
pids="$silence"
found() { # ADDRESS MAC: is it the last that was said of it
	grep "^$1:" "$dir/silence" | tail -n 1 | grep -q ": ok, up1, $2,"
}
until_true found 10.8.0.2 $mac1
until_true found 10.60.0.1 $mac1
kill -USR1 "$silence" # nothing is wrong: nothing changes, and the entry stays managed
sleep 1.2
[ "$(grep -c '^10.8.0.2: ok' "$dir/silence")" = 1 ] || { echo "a sound entry was given up"; exit 1; }
ip -n "$R" -d neigh show 10.8.0.2 | grep -q managed || { echo "no longer managed"; exit 1; }
sleep $((($(sed -n 's/^#define KVL_HOLD_RENEW_MS //p' "$(dirname "$0")/../../ctrl/core/neigh_hold.h") / 1000)))
ip -n "$P" link set dn1 address $mac2
sleep 1
found 10.8.0.2 $mac1 || { echo "found before anybody looked: the test shows nothing"; exit 1; }
began=$(date +%s%N)
kill -USR1 "$silence"
until_true found 10.8.0.2 $mac2
until_true found 10.60.0.1 $mac2
took=$((($(date +%s%N) - began) / 1000000))
echo "a new MAC was found $took ms after the silence was noticed"
[ $took -lt 4500 ] || exit 1
ip -n "$R" -d neigh show 10.8.0.2 | grep -q managed || { echo "no longer managed"; exit 1; }
kill "$silence"
wait "$silence"
[ -z "$(ip -n "$R" neigh show 10.8.0.2)" ] || { echo "our entry was left behind"; exit 1; }
ip -n "$R" link del up1
pids=

# More events at once than a socket holds: all is asked about again.
kill -STOP "$pid"
for i in $(seq 30000); do
	echo "neigh replace 10.9.$((i / 250 % 2 + 1)).$((i % 250 + 1)) lladdr 02:00:00:00:01:$((i % 90 + 10)) dev up0 nud permanent"
done >"$dir/flood"
ip -n "$R" -batch "$dir/flood"
ip -n "$R" neigh replace 10.9.0.2 lladdr 02:00:00:00:00:55 dev up0 nud permanent
drops=$(ip netns exec "$R" awk '{ n += $9 } END { print n }' /proc/net/netlink)
[ "$drops" -gt 0 ] || { echo "no event was lost: the flood is too small"; exit 1; }
kill -CONT "$pid"
expect "10.9.0.2: ok, up0, 02:00:00:00:00:55, on-link, from 10.9.0.7"

# At the end nothing of ours stays, and what was there before does.
ip -n "$R" neigh del 10.9.0.2 dev up0
until_true managed 10.9.0.2
expect "10.9.0.2: ok, up0, $mac2, on-link, from 10.9.0.7"
kill "$pid"
wait "$pid"
pid=
if ip -n "$R" -d neigh | grep managed; then
	echo "managed entries were left behind"
	exit 1
fi
[ -z "$(ip -n "$R" neigh show 10.9.0.2)" ] || { echo "our entry was left behind"; exit 1; }
echo "passed"
