#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What is not a service's is the kernel's, on the same interfaces, at all times of the router's life.
. "$(dirname "$0")/_init.sh"
DEVICE=${DEVICE:-xdp}
world_start

tcp_echo() { # a TCP exchange with the router's host, on the service's own address and port
	python3 - "$P" <<'PY'
import subprocess, sys
server = subprocess.Popen(["ip", "netns", "exec", sys.argv[1] + "-router", "python3", "-c", """
import socket
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("10.1.0.100", 11211)); s.listen(); print("ready", flush=True)
c = s.accept()[0]; c.sendall(c.recv(100).upper()); c.close()
"""], stdout=subprocess.PIPE, text=True)
assert server.stdout.readline() == "ready\n"
out = subprocess.run(["ip", "netns", "exec", sys.argv[1] + "-client", "python3", "-c", """
import socket
s = socket.create_connection(("10.1.0.100", 11211), 5); s.settimeout(5)
s.sendall(b"hello"); assert s.recv(100) == b"HELLO"
"""], timeout=15)
server.wait(10)
sys.exit(out.returncode)
PY
}
request() {
	client python3 -m kvclient $VIP 11211 mg k
}
interfaces_live() { # WHEN
	check "ping $1" client ping -q -c 2 -i 0.2 -W 2 10.1.0.1
	check "large ping (fragments) $1" client ping -q -c 1 -W 2 -s 4000 10.1.0.1
	check "TCP to the service's own address and port $1" tcp_echo
	client ip neigh flush dev c0
	check "ARP $1" client ping -q -c 1 -W 2 10.1.0.1
}

interfaces_live "while it runs"
check "requests" request
check "the steering program is ours" \
	test "$(ctl status --json | field '[p["steering"] for p in r["ports"]]')" = "$(
		[ "$DEVICE" = xdp ] && echo "['xdp', 'xdp']" || echo "['tc', 'tc']")"

# A second router on the same interfaces is refused, and does the first no harm.
sed "s|$SOCKET|$RUN/second.sock|" "$CONFIG" >"$RUN/second.yaml"
on router "$KVLANED" -c "$RUN/second.yaml" >"$RUN/second.log" 2>&1 && fail "a second router started"
check "a second router says why" grep -q "interface front is in use by another kvlaned" "$RUN/second.log"
check "the first goes on" request

# kill -9 leaves the program attached and the socket file behind; the next start copes.
stop router KILL
interfaces_live "after kill -9"
router_start
router_ready
check "requests after kill -9 and restart" request
interfaces_live "after the restart"

check "in = out + drops + held" conserved
stop router TERM
check "nothing is attached after a stop" test -z "$(on router ip -o link show | grep -o 'prog/xdp' || true)$(
	on router tc filter show dev front ingress 2>/dev/null || true)"
check "the socket file is gone" test ! -e "$SOCKET"
interfaces_live "after a stop"
