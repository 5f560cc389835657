#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What kvlaned refuses at start and what it does without: each with a message that says what to do,
# the right exit status, and nothing left behind.
. "$(dirname "$0")/_init.sh"
NODES=2
hosts_start
config_write
cp "$CONFIG" "$RUN/good.yaml"

start_fails() { # WHAT STATUS PATTERN [PREFIX...]: kvlaned with $CONFIG
	local what=$1 status=$2 pattern=$3 got=0
	shift 3
	timeout 30 ip netns exec "$P-router" "$@" "$KVLANED" -c "$CONFIG" >"$RUN/out" 2>&1 || got=$?
	if [ $got -ne "$status" ] || ! grep -qE "$pattern" "$RUN/out"; then
		cat "$RUN/out"
		fail "$what: status $got, wanted $status and \"$pattern\""
	fi
	echo "ok: $what"
	cp "$RUN/good.yaml" "$CONFIG"
}
edit() {
	sed -i "$@" "$CONFIG"
}

edit 's/port: 11211, mode: nat/port: 70000, mode: nat/'
start_fails "a wrong port" 2 'kvlane.yaml:[0-9]+:[0-9]+: services\[0\].port: 70000: must be 1..65535'
edit 's/poll: adaptive/polling: adaptive/'
start_fails "an unknown key" 2 'kvlane.yaml:[0-9]+:[0-9]+: router.polling.*poll'
edit 's/mode: dsr/mode: dsr, replication: 9/'
start_fails "a value out of its range" 2 'services\[1\].replication: 9: must be 1..5'
rm "$CONFIG"
start_fails "no configuration" 2 'kvlane.yaml: '
edit 's/iface=front/iface=nosuch/'
start_fails "no such interface" 1 'port front: there is no interface "nosuch"'
edit 's/net_af_xdp_front,iface=front/net_nosuch0/'
start_fails "no such device" 1 'port front: DPDK has no device for "net_nosuch0"'
edit 's/workers: 1/workers: 2/'
start_fails "more workers than queues" 1 'port front: .*(queue pairs|cannot).*'
edit 's/hugepages: .*//; s/poll: adaptive/poll: adaptive\n  hugepages: "on"\n  mbufs: 262144\n  pending_slots: 1048576/'
start_fails "hugepages wanted, too few" 1 'MB of hugepages are needed, [0-9]+ MB are free: `echo [0-9]+ >/proc/sys/vm/nr_hugepages`'
start_fails "no privileges" 1 'must be started as root' setpriv --reuid 65534 --regid 65534 --clear-groups

old_range=$(on router cat /proc/sys/net/ipv4/ip_local_port_range)
on router sysctl -qw net.ipv4.ip_local_port_range="20000 60999"
start_fails "SNAT ports that the kernel uses" 1 'snat_ports 16384-32767 overlap the kernel.s own ephemeral ports 20000-60999: `sysctl'
on router sysctl -qw net.ipv4.ip_local_port_range="${old_range//$'\t'/ }"

# A foreign XDP program stays.
cat >"$RUN/foreign.bpf.c" <<'EOF'
__attribute__((section("xdp"), used)) int foreign(void *ctx) { return 2; }
char _license[] __attribute__((section("license"), used)) = "GPL";
EOF
clang -target bpf -O2 -c "$RUN/foreign.bpf.c" -o "$RUN/foreign.o"
on router ip link set front xdp obj "$RUN/foreign.o" sec xdp
start_fails "a foreign XDP program" 1 'an XDP program that is not kvlane.s \("foreign"\) is attached to front: remove it'
check "the foreign program is still there" on router sh -c 'ip -o link show front | grep -q prog/xdp'
on router ip link set front xdp off
check "nothing of the failures is attached" test -z "$(on router ip -o link show | grep -o prog/xdp || true)"

# The control socket: one in use is refused, a dead one's file replaced.
python3 - "$SOCKET" "$RUN/taken" <<'PY' &
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
open(sys.argv[2], "w")
time.sleep(20)
PY
PIDS[taker]=$!
wait_until 5 test -e "$RUN/taken"
start_fails "a control socket in use" 1 'in use'
stop taker KILL
check "its file is left behind" test -S "$SOCKET"

# Node n2 has no next hop: in the configuration, but out of the candidates, with the reason.
node_start 1
router_start
check "a start over a dead socket file, with one node resolved" wait_until 20 eligible_is 1
reason() {
	ctl nodes --json | field '[n["reason"] for n in r["nodes"] if n["id"] == "'"$1"'"][0]'
}
on n2 ip link set eth0 down
unresolved() { reason n2 | grep -qE "neighbour|answer"; }
check "a node without a next hop says so" wait_until 20 unresolved
on router ip route add blackhole 10.2.0.2/32
no_route() { reason n2 | grep -q "route"; }
check "a node without a route says so" wait_until 40 no_route
on router ip route del blackhole 10.2.0.2/32
on n2 ip link set eth0 up
node_start 2
check "both are in when it is back" wait_until 40 eligible_is 2
stop router

# Without hugepages it runs, and says what that costs.
edit 's/poll: adaptive/poll: adaptive\n  hugepages: "off"/'
router_start
check "it runs without hugepages" wait_until 20 eligible_is 2
check "and serves" test "$(client "$KVLOAD" -p -t 1 -r 1000 $VIP 11211 | field '(r["sent"] - r["answered"], r["wrong"], r["errors"])')" = "(0, 0, 0)"
check "in = out + drops + held" conserved
stop router
cp "$RUN/good.yaml" "$CONFIG"
edit 's/poll: adaptive/poll: adaptive\n  mbufs: 262144\n  pending_slots: 1048576/'
router_start
check "too few hugepages, auto: it runs" wait_until 40 eligible_is 2
check "and tells the cost" grep -q "running without hugepages" "$LOG"
