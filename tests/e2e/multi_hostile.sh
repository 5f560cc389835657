#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Batches of all kinds, some with a byte changed, faster than the nodes take them and while these
# stop and go on: nothing of it stays behind in the router, and it serves as before.
TIMEOUT_MS=50
. "$(dirname "$0")/_init.sh"
world_start

cat >"$RUN/batches.py" <<'PY'
import random, socket, struct, sys, time
from kvclient import *

rnd = random.Random(int(sys.argv[1]))
sock = Client("10.1.0.100").sock
sock.setblocking(False)
words = ("get %s\r\n", "gets %s\r\n", "set %s 0 0 3\r\nabc\r\n", "set %s 0 0 3 noreply\r\nabc\r\n", "mg %s v q\r\n",
         "delete %s\r\n", "bogus %s\r\n", "ms %s 2 q\r\nhi\r\n")
end, sent = time.monotonic() + 4, 0
while time.monotonic() < end:
    keys = ["k%d" % rnd.randrange(500) for _ in range(rnd.randrange(1, 40))]
    kind = rnd.random()
    if kind < 0.4:
        data = ("get " + " ".join(keys) + "\r\n").encode()
    elif kind < 0.7:
        data = "".join(rnd.choice(words) % k for k in keys[:25]).encode() + b"mn\r\n"
    else:
        data = b"".join(packet(rnd.choice((GETQ, GETKQ, GET, GETK)), k) for k in keys) + packet(NOOP)
    data = bytearray(data[:1400])
    if rnd.random() < 0.2:
        data[rnd.randrange(len(data))] = rnd.randrange(256)
    try:
        sock.send(struct.pack(">4H", sent & 0xffff, 0, 1, 0) + data)
        sent += 1
        while True:
            sock.recv(65536)
    except OSError:
        pass
PY
for i in 1 2; do
	start "batches$i" client python3 "$RUN/batches.py" "$i"
done
for i in 1 2 3; do # each node stops for a moment, two at a time
	kill -STOP "${PIDS[n$i]}" "${PIDS[n$((i + 3))]}"
	sleep 0.4
	kill -CONT "${PIDS[n$i]}" "${PIDS[n$((i + 3))]}"
done
for i in 1 2; do
	wait "${PIDS[batches$i]}" || fail "a client ended: $(cat "$RUN/batches$i.log")"
	unset "PIDS[batches$i]"
done

gone() {
	[ "$(ctl stats --json | field '(r["split"]["merges"], r["pending"])')" = "(0, 0)" ]
}
check "no merge and no slot is left" wait_until 5 gone
check "some were split" test "$(ctl stats --json | field 'r["split"]["datagrams"] > 1000')" = True
check "nothing counts as in flight" \
	test "$(ctl nodes --json | field 'sum(n["in_flight"] for n in r["nodes"])')" = 0
check "in + created = out + absorbed + drops + held" conserved
check "all nodes come back" wait_until 20 eligible_is 6
check "and requests of several keys are served" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
c.expect("set x 0 0 1\r\n1\r\n", "STORED\r\n")
c.expect("set y 0 0 1\r\n2\r\n", "STORED\r\n")
c.expect("get x y z0\r\n", "VALUE x 0 1\r\n1\r\nVALUE y 0 1\r\n2\r\nEND\r\n")
PY
