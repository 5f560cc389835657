#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Who is served, how often, and how much is sent there: lists of clients, in the kernel and in the
# router, rates, and the guard against amplification.
. "$(dirname "$0")/_init.sh"
hosts_start
hosts_ipv6
client ip addr add 10.1.0.10/24 dev c0
client ip addr add fd01::10/64 dev c0 nodad
nodes_start
config_write
sed -i 's|^topology:|  - {name: cache6, address: "fd01::100", port: 11211, mode: nat, clients: ["fd01::9"]}\n&|' "$CONFIG"
cp "$CONFIG" "$RUN/plain.yaml"

service_set() { # TERMS: of the nat service
	sed "/name: cache,/s|mode: nat,|mode: nat, $1,|" "$RUN/plain.yaml" >"$CONFIG"
}
service_is() { # TERMS: switched to, and steering follows
	service_set "$1"
	ctl reload >/dev/null
	wait_until 5 all_run
}
all_run() { # every worker runs the newest generation
	[ "$(ctl status --json | field 'all(w["generation"] == r["generation"] for w in r["workers"])')" = True ]
}
counter() { # NAME of GROUP.NAME
	ctl stats --json | field "r[\"${1%.*}\"][\"${1#*.}\"]"
}
served() { # SOURCE [BYTES]
	client python3 - "$1" "${2:-10}" <<'PY'
import sys
from kvclient import Client
vip = "fd01::100" if ":" in sys.argv[1] else "10.1.0.100"
c = Client(vip, source=(sys.argv[1], 0), timeout=2)
c.expect("set from%s 0 0 %s\r\n%s\r\n" % (sys.argv[1], sys.argv[2], "x" * int(sys.argv[2])), "STORED\r\n")
PY
}
silence() { # SOURCE [BYTES]: neither served nor answered
	client python3 - "$1" "${2:-10}" <<'PY'
import sys
from kvclient import Client
vip = "fd01::100" if ":" in sys.argv[1] else "10.1.0.100"
c = Client(vip, source=(sys.argv[1], 0), timeout=0.5)
assert c.ask("set k 0 0 %s\r\n%s\r\n" % (sys.argv[2], "x" * int(sys.argv[2]))) is None
assert c.ask("nonsense\r\n") is None
PY
}

service_set "clients: [10.1.0.9, \"2001:db8::/32\"]"
router_start
router_ready
check "a listed client is served" served 10.1.0.9
check "also with more than a packet holds" served 10.1.0.9 40000
check "another hears nothing" silence 10.1.0.10
check "the kernel's program has dropped it" test "$(counter steering.client_denied)" -ge 2
check "a listed client is served over IPv6" served fd01::9
check "and another hears nothing" silence fd01::10
check "by the same program" test "$(counter steering.client_denied)" -ge 4
if [ "$DEVICE" = xdp ]; then
	check "and nothing of it reached the router" test "$(counter drops.client_denied)" = 0
else
	check "the router's copy was dropped as well" test "$(counter drops.client_denied)" -ge 2
fi
check "nor anything large" silence 10.1.0.10 40000
check "which the slow path has dropped" test "$(counter slow_path.drop_client_denied)" = 1

service_is "clients: [10.1.0.0/24]"
check "a reload lets it in" wait_until 5 served 10.1.0.10
check "the one before stays in" served 10.1.0.9 40000
service_is "clients: [10.1.0.10/31]"
check "and the other one out" silence 10.1.0.9
check "the newcomer stays in" served 10.1.0.10
service_set "clients: [10.1.0.0/40]"
check "a bad list is refused" sh -c "! '$KVLANECTL' -s '$SOCKET' reload >/dev/null 2>&1"
check "and the former one holds" silence 10.1.0.9
service_is "keyless: local"
check "without a list all are served" wait_until 5 served 10.1.0.9

flood() { # SOURCE COUNT: replies to so many gets at once
	client python3 - "$1" "$2" <<'PY'
import sys
from kvclient import Client
c = Client("10.1.0.100", source=(sys.argv[1], 0))
print(sum(r is not None for r in c.ask_all(["get nothing\r\n"] * int(sys.argv[2]))))
PY
}
service_is "client_rate: {requests: 2, burst: 10}"
got=$(flood 10.1.0.9 40)
check "10 at once, not 40 ($got)" test "$got" -ge 10 -a "$got" -le 12
check "the rest is counted" test "$(counter drops.client_rate)" -ge 28
got=$(flood 10.1.0.10 10)
check "another client has its own ten ($got)" test "$got" = 10

reflect() { # VALUES of 1000 bytes that come for as many gets
	client python3 - "$1" <<'PY'
import sys
from kvclient import Client
c = Client("10.1.0.100", source=("10.1.0.9", 0))
c.expect("set value 0 0 1000\r\n%s\r\n" % ("x" * 1000), "STORED\r\n")
print(sum(len(c.ask("get value\r\n", 0.1) or "") > 1000 for _ in range(int(sys.argv[1]))))
PY
}
service_is "amplification: {factor: 2, burst_bytes: 5000}"
got=$(reflect 15)
# 5000 at first, as much again each second of 0.1 a silent get, and twice what is asked
check "some replies, not all ($got of 15)" test "$got" -ge 4 -a "$got" -le 13
check "the rest is counted" test "$(counter drops.amplification)" -ge 2
service_is "amplification: {factor: 100, burst_bytes: 5000}"
got=$(reflect 15)
check "within the factor all of them ($got)" test "$got" = 15
check "in + created = out + absorbed + drops + held" conserved
