#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Requests of more than one packet: the kernel reassembles them, the slow path sends them on by the
# same rules as the workers, and the values come back through the fast path.
. "$(dirname "$0")/_init.sh"
world_start

check "sets of up to 60000 bytes, nat and dsr" client python3 - <<'PY'
from kvclient import Client

for vip in ("10.1.0.100", "10.1.0.101"):
    c = Client(vip)
    for size in (1300, 1392, 1450, 1473, 2000, 5000, 10000, 40000, 60000):
        c.round_trip(size)
PY
check "they took the slow path" \
	test "$(ctl stats --json | field '(r["slow_path"]["forwarded"], r["slow_path"]["replies"], r["slow_path"]["answered"])')" = "(28, 28, 0)"

check "truncated and over-long ones are refused there too" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
c.expect("set k 0 0 50000\r\n" + "x" * 40000, "CLIENT_ERROR bad data chunk\r\n")
c.expect("set k 0 0 30000\r\n" + "x" * 40000 + "\r\n", "CLIENT_ERROR bad data chunk\r\n")
c.expect("get %s\r\n" % ("k" * 3000), "CLIENT_ERROR bad command line format\r\n")
assert c.receive(c.send("set k 0 0 50000 noreply\r\n" + "x" * 40000), 0.3) is None
assert c.receive(c.send("set k 0 0 2\r\nxx\r\n" + " " * 3000, total=2), 0.3) is None
PY
check "and counted" \
	test "$(ctl stats --json | field '(r["slow_path"]["answered"], r["slow_path"]["drop_silent"])')" = "(3, 2)"

# What carries IP options goes the same way, whatever its size.
before=$(ctl stats --json | field 'r["slow_path"]["forwarded"]')
check "requests with IP options are served" client python3 - <<'PY'
import socket
from kvclient import Client
c = Client("10.1.0.100")
c.sock.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, b"\x01\x01\x01\x00")
c.expect("set opt 0 0 2\r\nhi\r\n", "STORED\r\n")
c.expect("get opt\r\n", "VALUE opt 0 2\r\nhi\r\nEND\r\n")
c.expect("bad\r\n", "ERROR\r\n")
PY
check "by the slow path" \
	test "$(ctl stats --json | field 'r["slow_path"]["forwarded"]')" = $((before + 2))

# The same key, small and large, meets on one node.
check "small and large agree on the node" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
for i in range(60):
    big = "b" * 3000
    c.expect("set same%d 0 0 3000\r\n%s\r\n" % (i, big), "STORED\r\n")
    c.expect("append same%d 0 0 1\r\n!\r\n" % i, "STORED\r\n")
    c.expect("get same%d\r\n" % i, "VALUE same%d 0 3001\r\n%s!\r\nEND\r\n" % (i, big))
PY

# A node that hangs: its large sets time out and are let go; late replies meet nobody.
kill -STOP "${PIDS[n1]}" "${PIDS[n2]}" "${PIDS[n3]}" "${PIDS[n4]}" "${PIDS[n5]}" "${PIDS[n6]}"
check "their clients are told, but for who wants silence" client python3 - <<'PY'
from kvclient import SETQ, SET, Client, stored, unpack
c = Client("10.1.0.100", timeout=4)
sent = [c.send("set hang%d 0 0 3000\r\n%s\r\n" % (i, "h" * 3000)) for i in range(29)]
binary = c.send(stored(SET, "hangb", "h" * 3000, opaque=0x01020304))
silent = [c.send("set hangq 0 0 3000 noreply\r\n%s\r\n" % ("h" * 3000)),
          c.send(stored(SETQ, "hangq", "h" * 3000))]
told = {}
while len(told) < 30:
    data = c.sock.recv(65536)
    told[int.from_bytes(data[:2], "big")] = data
for ident in sent:
    assert told[ident][2:] == b"\0\0\0\1\0\0SERVER_ERROR node did not answer\r\n", told[ident]
opcode, status, opaque = unpack(told[binary][8:])[:3]
assert (opcode, status, opaque) == (SET, 0x86, 0x01020304)
assert not set(silent) & set(told)
PY
slow_is() { [ "$(ctl stats --json | field "r['slow_path']['$1'] >= $2")" = True ]; }
check "they are counted as timeouts" wait_until 5 slow_is timeouts 30
check "and as told" test "$(ctl stats --json | field 'r["slow_path"]["told"]')" = 30
kill -CONT "${PIDS[n1]}" "${PIDS[n2]}" "${PIDS[n3]}" "${PIDS[n4]}" "${PIDS[n5]}" "${PIDS[n6]}"
check "their replies as late" wait_until 5 slow_is drop_reply_late 30
check "all are accounted for" test "$(ctl stats --json | field \
	'(lambda s: s["received"] == s["forwarded"] + s["answered"] + s["drop_silent"] + s["drop_no_service"] + s["drop_send"])(r["slow_path"])')" = True
check "in = out + drops + held" conserved
