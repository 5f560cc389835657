#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Datagrams of several keys or commands that come in several packets: taken apart by the slow path as
# smaller ones are by the workers, up to as many keys as a datagram holds.
. "$(dirname "$0")/_init.sh"
world_start

check "keys, commands and values of any number" client python3 - <<'PY'
import random
import socket
from kvclient import *

rnd = random.Random(7)
model = {}
c = Client("10.1.0.100", timeout=5)
for i in range(3000):
    if i % 4:
        model["key%d" % i] = "v" * rnd.choice((0, 1, 20, 300))
for k, v in model.items():
    c.expect("set %s 3 0 %d\r\n%s\r\n" % (k, len(v), v), "STORED\r\n")
c.expect("set huge 0 0 50000\r\n%s\r\n" % ("h" * 50000), "STORED\r\n")
model["huge"] = "h" * 50000

def values(keys):
    return "".join("VALUE %s %d %d\r\n%s\r\n" % (k, 0 if k == "huge" else 3, len(model[k]), model[k])
                   for k in keys if k in model) + "END\r\n"

c = Client("10.1.0.100", timeout=5)
c.sock.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE: hundreds of datagrams at once
for count in (150, 400, 1000, 3000):
    keys = ["key%d" % rnd.randrange(3000) for _ in range(count)]
    c.expect("get %s\r\n" % " ".join(keys), values(keys))
keys = ["key%d" % i for i in range(300)] + ["huge", "key1", "key1"]
c.expect("get %s\r\n" % " ".join(keys), values(keys))
c.expect("get %s\r\n" % " ".join(["key1"] * 2000), values(["key1"] * 2000))

# Several commands, one of them large: each has its message, in order; each sees the ones before.
big = "b" * 3000
got = c.messages("set big 0 0 3000\r\n%s\r\nappend big 0 0 1\r\n!\r\nget big key1\r\n"
                 "set quiet 0 0 1 noreply\r\nq\r\nget quiet\r\nbogus\r\nmn\r\nmg big s\r\n" % big, 7)
assert got == [b"STORED\r\n", b"STORED\r\n",
               b"VALUE big 0 3001\r\n" + big.encode() + b"!\r\n" + values(["key1"]).encode(),
               b"VALUE quiet 0 1\r\nq\r\nEND\r\n", b"ERROR\r\n", b"MN\r\n", b"HD s3001\r\n"], got
batch = b"".join(packet(GETKQ, "key%d" % i, opaque=i) for i in range(300)) + packet(NOOP, opaque=999)
got = [unpack(m) for m in c.messages(batch, 226)]
assert [g[2] for g in got] == [i for i in range(300) if i % 4] + [999]
assert all(g[5].decode() == model["key%d" % g[2]] for g in got[:-1])
c = Client("10.1.0.101", timeout=5)
c.expect("get %s\r\n" % " ".join("key%d" % i for i in range(400)), "SERVER_ERROR keys of several nodes\r\n")
PY
check "they were taken apart by the slow path" \
	test "$(ctl stats --json | field '(r["slow_path"]["splits"], r["slow_path"]["parts"] > 7000)')" = "(7, True)"

check "faults in them are answered, and run nothing behind" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100", timeout=3)
long = "set x 0 0 2000\r\n%s\r\n" % ("x" * 2000)
assert c.messages(long + "set y 0 0 50\r\nshort\r\nget x\r\n", timeout=0.5) == \
    [b"STORED\r\n", b"CLIENT_ERROR bad data chunk\r\n"]
c.expect("get y\r\n", "END\r\n")
assert c.messages(long + "get %s\r\nget x\r\n" % ("k" * 251), timeout=0.5)[1].startswith(b"CLIENT_ERROR")
PY

# A node that hangs costs its keys, not the others', and the bound on datagrams holds.
kill -STOP "${PIDS[n2]}"
check "a hanging node's keys are misses" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100", timeout=5)
keys = ["key%d" % i for i in range(1, 400, 4)] * 4
got = c.messages("get %s\r\n" % " ".join(keys), 1)[0]
found = [line.split()[1].decode() for line in got.split(b"\r\n") if line.startswith(b"VALUE")]
assert got.endswith(b"END\r\n") and 0 < len(found) < len(keys), len(found)
assert found == [k for k in keys if k in set(found)]
for i in range(40):
    c.send("get %s\r\n" % " ".join(keys))
PY
busy() { [ "$(ctl stats --json | field 'r["slow_path"]["answered"] > 0')" = True ]; }
check "more of them than the bound are refused" wait_until 5 busy
kill -CONT "${PIDS[n2]}"
settled() {
	[ "$(ctl stats --json | field '(lambda s: s["received"] == s["forwarded"] + s["answered"] + s["splits"] + s["drop_silent"] + s["drop_no_service"] + s["drop_send"])(r["slow_path"])')" = True ]
}
check "all are accounted for" settled
wait_until 20 eligible_is 6 || fail "n2 does not come back"
check "and it serves as before" client python3 -m kvclient $VIP 11211 "get key1"
check "in = out + drops + held" conserved
