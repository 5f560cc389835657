#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# nat: every command a client may send, through the router to real nodes and back.
. "$(dirname "$0")/_init.sh"
world_start

check "text, meta, large values, noreply, errors" client python3 - <<'PY'
from kvclient import Client

c = Client("10.1.0.100")
c.expect("set a 5 0 3\r\nabc\r\n", "STORED\r\n")
c.expect("get a\r\n", "VALUE a 5 3\r\nabc\r\nEND\r\n")
c.expect("get missing\r\n", "END\r\n")
c.expect("add a 0 0 1\r\nx\r\n", "NOT_STORED\r\n")
c.expect("replace a 0 0 1\r\nx\r\n", "STORED\r\n")
c.expect("append a 0 0 1\r\ny\r\n", "STORED\r\n")
c.expect("prepend a 0 0 1\r\nw\r\n", "STORED\r\n")
c.expect("get a\r\n", "VALUE a 0 3\r\nwxy\r\nEND\r\n")
c.expect("set n 0 0 2\r\n41\r\n", "STORED\r\n")
c.expect("incr n 1\r\n", "42\r\n")
c.expect("decr n 2\r\n", "40\r\n")
c.expect("touch n 100\r\n", "TOUCHED\r\n")
c.expect("delete n\r\n", "DELETED\r\n")
c.expect("delete n\r\n", "NOT_FOUND\r\n")

reply = c.ask("gets a\r\n").split()
c.expect("cas a 0 0 1 %s\r\nz\r\n" % reply[4].decode(), "STORED\r\n")
c.expect("cas a 0 0 1 %s\r\nz\r\n" % reply[4].decode(), "EXISTS\r\n")

c.expect("ms m 2 T0\r\nhi\r\n", "HD\r\n")
c.expect("mg m v\r\n", "VA 2\r\nhi\r\n")
c.expect("mg m s v Oabc k\r\n", "VA 2 s2 Oabc km\r\nhi\r\n")
c.expect("mg nothere v\r\n", "EN\r\n")
c.expect("ma cnt N0 J5 v\r\n", "VA 1\r\n5\r\n")
c.expect("md m\r\n", "HD\r\n")
c.expect("md m\r\n", "NF\r\n")

# Values of several datagrams: 1392 bytes of reply are one, 1393 two; 5000-byte values are four.
for size in (1300, 1340, 1350, 1370, 1380, 1392, 1400):
    value = "v" * size
    c.expect("set big 0 0 %d\r\n%s\r\n" % (size, value), "STORED\r\n")
    c.expect("get big\r\n", "VALUE big 0 %d\r\n%s\r\nEND\r\n" % (size, value))
value = "".join(chr(97 + i % 26) for i in range(5000))
for chunk in range(5):  # one datagram may carry no more than the MTU, so build it up
    part = value[chunk * 1000:chunk * 1000 + 1000]
    verb = "set" if chunk == 0 else "append"
    c.expect("%s five 0 0 1000\r\n%s\r\n" % (verb, part), "STORED\r\n")
c.expect("get five\r\n", "VALUE five 0 5000\r\n%s\r\nEND\r\n" % value)

# noreply: silence, and the work is done all the same.
ident = c.send("set q 0 0 5 noreply\r\nquiet\r\n")
assert c.receive(ident, 0.3) is None
c.expect("get q\r\n", "VALUE q 0 5\r\nquiet\r\nEND\r\n")
ident = c.send("ms q 3 q\r\nshh\r\n")
assert c.receive(ident, 0.3) is None
c.expect("get q\r\n", "VALUE q 0 3\r\nshh\r\nEND\r\n")

# What has no key the router answers itself; what is wrong, in memcached's own words.
assert c.ask("version\r\n").startswith(b"VERSION 1.6.18-kvlane-")
c.expect("mn\r\n", "MN\r\n")
c.expect("verbosity 1\r\n", "OK\r\n")
c.expect("quit\r\n", "")
stats = dict(line.split()[1:3] for line in c.ask("stats\r\n").decode().splitlines()[:-1])
assert int(stats["get_hits"]) > 5 and int(stats["router_in"]) > 20, stats
c.expect("flush_all\r\n", "SERVER_ERROR command refused by the router\r\n")
c.expect("nonsense\r\n", "ERROR\r\n")
c.expect("get %s\r\n" % ("k" * 251), "CLIENT_ERROR bad command line format\r\n")
PY

check "a load of gets and sets: all answered, none wrong" \
	test "$(client "$KVLOAD" -p -t 2 -r 3000 $VIP 11211 | field \
		'(r["sent"] > 5000, r["sent"] - r["answered"], r["wrong"], r["errors"], r["misses"])')" = "(True, 0, 0, 0, 0)"
check "all six nodes served" \
	test "$(ctl nodes --json | field 'min(n["requests"] for n in r["nodes"]) > 100')" = True
check "in = out + drops + held" conserved
