#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ports that the router's kernel does not see, as NICs that DPDK owns: each is a DPDK tap whose
# kernel side, the wire, is moved to the client's and the nodes' hosts. ARP, ping, TCP and fragments
# reach the router's kernel by its exception taps only, kvl0 and kvl1.
#
#   client c0 ==wire0== [front, kvl0 10.1.0.1 + VIP  router  back, kvl1 10.2.0.254] ==wire1== br0, nodes
. "$(dirname "$0")/_init.sh"
NODES=4
KVBLAST=$BUILD/tests/kvblast
WORKERS=${WORKERS:-1}

wires_hosts() {
	local i
	host_add client
	host_add router
	host_add net
	on net ip link add br0 type bridge
	on net ip link set br0 up
	for i in $(seq 1 "$NODES"); do
		host_add "n$i"
		link "n$i" eth0 net "p$i"
		on net ip link set "p$i" master br0
		on "n$i" ip addr add "10.2.0.$i/24" dev eth0
	done
	# Made beforehand, as a host's set-up would: it has its addresses before the router starts.
	on router ip tuntap add kvl0 mode tap
	on router ip addr add 10.1.0.1/24 dev kvl0
	on router ip addr add $VIP/32 dev kvl0
}

wire_move() { # WIRE HOST NAME: to the other end
	wait_until 10 on router ip link show "$1" || fail "no $1"
	on router ip link set "$1" netns "$P-$2" name "$3"
}

config_write() {
	cat >"$CONFIG" <<-END
	router: {workers: $WORKERS, control_socket: $SOCKET, poll: adaptive, max_nodes: 64}
	health: {probe_interval_ms: 200, probe_timeout_ms: 150}
	ports:
	  - {name: front, device: "net_tap0,iface=wire0", exception: kvl0}
	  - {name: back, device: "net_tap1,iface=wire1", exception: kvl1, snat: 10.2.0.254}
	services:
	  - {name: cache, address: $VIP, port: 11211, mode: nat, timeout_ms: 500}
	topology: $RUN/nodes.yaml
	END
	topology_write $(seq 1 "$NODES")
}

router_wired() {
	router_start
	wait_until 20 test -S "$SOCKET" || fail "kvlaned does not start"
	wire_move wire0 client c0
	wire_move wire1 net r0
	on client ip link set c0 address 02:00:00:00:01:09
	on client ip addr add 10.1.0.9/24 dev c0
	on client ip link set c0 up
	on net ip link set r0 address 02:00:00:00:01:10
	on net ip link set r0 master br0
	on net ip link set r0 up
	on router ip addr add 10.2.0.254/24 dev kvl1
	router_ready
}

nodes_start_early() { # before there is a router they can only be asked from their own host
	local i
	for i in $(seq 1 "$NODES"); do
		start "n$i" "n$i" memcached -u nobody -t 1 -m 64 -U 11211 -p 11211 -l "10.2.0.$i"
		wait_until 5 node_answers "$i" || fail "memcached n$i does not answer"
	done
}

stat_of() { # PYTHON-EXPRESSION over r, of stats
	ctl stats --json | field "$1"
}

mac_of() { # PORT
	ctl status --json | field '[p["mac"] for p in r["ports"] if p["name"] == "'"$1"'"][0]'
}

tap_law() { # what workers handed over and took is what the taps took and gave
	[ "$(stat_of '(r["exception_out"] == r["exception"]["written"] + r["exception"]["refused"], r["exception_in"] == r["exception"]["read"])')" = "(True, True)" ]
}

wires_hosts
nodes_start_early
config_write
router_wired

check "the router's kernel does not see the wires" \
	test -z "$(on router ip -o link show | grep -o 'wire[01]' || true)"
check "the taps are the ports' interfaces" test "$(ctl status --json | field \
	'[(p["interface"], p["steering"]) for p in r["ports"]]')" = "[('kvl0', 'tap'), ('kvl1', 'tap')]"
check "a tap has the port's MAC" test "$(mac_of front)" = "$(on router cat /sys/class/net/kvl0/address)"
check "ping" client ping -q -c 5 -i 0.2 -W 2 10.1.0.1
check "ARP for the router and the service" test "$(client ip neigh flush dev c0
	client ping -q -c 1 -W 2 10.1.0.1 >/dev/null
	client ping -q -c 1 -W 2 $VIP >/dev/null
	client ip neigh show dev c0 | grep -c "$(mac_of front)")" = 2
check "a ping of two fragments" client ping -q -c 2 -i 0.2 -W 2 -s 2500 10.1.0.1

tcp_echo() { # 200 kB there and back, on the service's own address and port
	python3 - "$P" <<'PY'
import subprocess, sys
server = subprocess.Popen(["ip", "netns", "exec", sys.argv[1] + "-router", "python3", "-c", """
import socket
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("10.1.0.100", 11211)); s.listen(); print("ready", flush=True)
c = s.accept()[0]; n = 0
while n < 200000: data = c.recv(65536); c.sendall(data); n += len(data)
c.close()
"""], stdout=subprocess.PIPE, text=True)
assert server.stdout.readline() == "ready\n"
out = subprocess.run(["ip", "netns", "exec", sys.argv[1] + "-client", "python3", "-c", """
import socket, os, threading
s = socket.create_connection(("10.1.0.100", 11211), 5); s.settimeout(5)
data = os.urandom(200000); threading.Thread(target=s.sendall, args=(data,)).start()
got = b""
while len(got) < len(data): got += s.recv(65536)
assert got == data
"""], timeout=30)
server.wait(10)
sys.exit(out.returncode)
PY
}
check "TCP to the router's host, on the service's own address and port" tcp_echo

check "requests are routed and replies come back" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
for i in range(200):
    c.expect("set k%d 0 0 5\r\n%05d\r\n" % (i, i), "STORED\r\n")
    c.expect("get k%d\r\n" % i, "VALUE k%d 0 5\r\n%05d\r\nEND\r\n" % (i, i))
c.expect("get k1 k2 k3 k4\r\n", "".join("VALUE k%d 0 5\r\n%05d\r\n" % (i, i) for i in range(1, 5)) + "END\r\n")
PY
check "they took the fast path" test "$(stat_of '(r["requests"] >= 400, r["slow_path"]["received"])')" = "(True, 0)"
check "a set of 20000 bytes takes the kernel's reassembly and the slow path" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
value = "".join(chr(97 + (i * 7 + i // 26) % 26) for i in range(20000))
c.expect("set large 7 0 20000\r\n%s\r\n" % value, "STORED\r\n")
c.expect("get large\r\n", "VALUE large 7 20000\r\n%s\r\nEND\r\n" % value)
PY
check "it did" test "$(stat_of '(r["slow_path"]["forwarded"], r["slow_path"]["replies"])')" = "(1, 1)"

frames() {
	PYTHONPATH= python3 "$(dirname "$0")/frames.py" "$@"
}
check "frames come to the tap untouched" frames "$P-client" c0 "$P-router" kvl0 "$(mac_of front)"
check "and leave from it untouched" frames "$P-router" kvl0 "$P-client" c0 02:00:00:00:01:09

# A request to all on the segment would be served by every router there.
group_requests() {
	client python3 - <<'PY'
import socket
from kvclient import request_frame
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("c0", 0))
for _ in range(10):
    s.send(request_frame("ff:ff:ff:ff:ff:ff", b"get k1\r\n"))
PY
}
before=$(stat_of 'r["slow_path"]["received"]')
dropped=$(stat_of 'r["drops"]["not_ours"]')
group_requests
group_dropped() { [ "$(stat_of 'r["drops"]["not_ours"]')" = $((dropped + 10)) ]; }
check "requests to a group are dropped" wait_until 5 group_dropped
check "and do not come by the slow path" test "$(stat_of 'r["slow_path"]["received"]')" = "$before"

# More for the kernel than it gets: bounded by name, and requests go on.
flood_full() { [ "$(stat_of 'r["drops"]["exception_full"]')" -gt 0 ]; }
start flood client "$KVBLAST" -t 8 c0 "$(mac_of front)" requests 10.1.0.9 10.1.0.1
check "a flood of the kernel's traffic meets its bound" wait_until 8 flood_full
client "$KVLOAD" -t 3 -r 500 -s 20 -k 200 $VIP 11211 >"$RUN/load"
cat "$RUN/load"
check "requests are answered meanwhile" test "$(field \
	'(r["sent"] > 1000, r["answered"] > 0.9 * r["sent"], r["wrong"], r["errors"])' <"$RUN/load")" = "(True, True, 0, 0)"
wait "${PIDS[flood]}" || fail "the flood failed"
unset "PIDS[flood]"
check "no node was taken out by it" eligible_is "$NODES"
settled() { tap_law && conserved; }
check "what workers handed over is what taps took, and in = out + drops + held" wait_until 5 settled
check "ping afterwards" client ping -q -c 3 -i 0.2 -W 2 10.1.0.1
echo "flood: $(stat_of '"to the kernel %d, refused %d, dropped as exception_full %d" % (r["exception"]["written"], r["exception"]["refused"], r["drops"]["exception_full"])')"

# The tap down: the kernel refuses, which is counted, and the services do not notice.
refused=$(stat_of 'r["exception"]["refused"]')
on router ip link set kvl0 down
client ping -q -c 2 -i 0.2 -W 1 10.1.0.1 >/dev/null && fail "ping with the tap down"
refused_more() { [ "$(stat_of 'r["exception"]["refused"]')" -gt "$refused" ]; }
check "what a tap that is down refuses is counted" refused_more
on router ip link set kvl0 up
check "and up again" client ping -q -c 2 -i 0.2 -W 2 10.1.0.1

# Two routers cannot have one tap.
sed "s|$SOCKET|$RUN/second.sock|; s|net_tap0,iface=wire0|net_tap8,iface=wire8|; s|net_tap1,iface=wire1|net_tap9,iface=wire9|" \
	"$CONFIG" >"$RUN/second.yaml"
on router "$KVLANED" -c "$RUN/second.yaml" >"$RUN/second.log" 2>&1 && fail "a second router started"
check "a second router says why" grep -q "tap kvl0: another program has it" "$RUN/second.log"
check "requests go on" client python3 -m kvclient $VIP 11211 get k1

stop router TERM
check "the tap that the router made has gone" test -z "$(on router ip -o link show | grep -o kvl1 || true)"
check "the one that was there before has stayed, addresses and all" \
	grep -q $VIP <(on router ip addr show kvl0)
check "nothing else is left" test "$(on router ip -o link show | wc -l)" = 2
check "the socket file is gone" test ! -e "$SOCKET"

# A restart finds its taps again.
router_wired
check "requests after a restart" client python3 -m kvclient $VIP 11211 get k1
check "ping after a restart" client ping -q -c 2 -i 0.2 -W 2 10.1.0.1
check "in = out + drops + held" wait_until 5 conserved
