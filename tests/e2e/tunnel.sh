#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# dsr across a router: nodes in a network of their own, reached by IPIP and GUE of either family.
# Their kernels have no tunnels, so each decapsulates by itself and checks every header (decap.py);
# replies go to the client by the gateway, not through kvlane.
. "$(dirname "$0")/_init.sh"
hosts_start
hosts_ipv6

# net: br0 - gw - br1 with the nodes
host_add gw
on gw sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0 \
	net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
on net ip link add br1 type bridge
on net ip link set br1 up
link gw b0 net g0
link gw b1 net g1
on net ip link set g0 master br0
on net ip link set g1 master br1
on gw ip addr add 10.2.0.250/24 dev b0
on gw ip addr add 10.3.0.250/24 dev b1
on gw ip addr add fd02::250/64 dev b0 nodad
on gw ip addr add fd03::250/64 dev b1 nodad
on gw ip route add 10.1.0.9/32 dev b0
on gw ip route add fd01::9/128 dev b0
on gw ip neigh replace fd01::9 lladdr "$(on client cat /sys/class/net/lan/address)" dev b0
on router ip route add 10.3.0.0/24 via 10.2.0.250
on router ip route add fd03::/64 via fd02::250
for i in $(seq 1 "$NODES"); do
	on net ip link set "p$i" master br1
	on "n$i" ip addr flush dev eth0 scope global
	on "n$i" ip addr add "10.3.0.$i/24" dev eth0
	on "n$i" ip addr add "fd03::$i/64" dev eth0 nodad
	on "n$i" ip route replace default via 10.3.0.250
	on "n$i" ip route del fd01::9/128 dev eth0 # the client is not on this segment
	on "n$i" ip route replace default via fd03::250
	on "n$i" ip tuntap add inner mode tun
	on "n$i" ip link set inner up
	start "n$i" "n$i" memcached -u nobody -t 1 -m 64 -U 11211 -p 11211 \
		-l "10.3.0.$i,$DSR_VIP,[fd03::$i]:11211,[$DSR_VIP6]:11211"
	start "decap$i" "n$i" python3 tests/e2e/decap.py eth0
	wait_until 5 on "n$i" python3 -m kvclient "10.3.0.$i" 11211 version || fail "n$i does not answer"
	wait_until 5 grep -q ready "$RUN/decap$i.log" || fail "decap$i: $(cat "$RUN/decap$i.log")"
done
wait_until 10 links_settled || fail "link-local addresses stay tentative"
config_write

configure() { # ENCAPSULATION: three nodes by IPv4, three by IPv6
	python3 - "$CONFIG" "$RUN/nodes.yaml" "$1" <<-'PY'
	import re, sys
	config, nodes, how = sys.argv[1:]
	text = open(config).read()
	text = text.replace("snat: 10.2.0.254}", 'snat: 10.2.0.254, snat6: "fd02::fe"}')
	text = re.sub(r"  - {name: (cache|direct).*\n", "", text)
	text = re.sub("services:\n", """services:
	  - {name: direct, address: 10.1.0.101, port: 11211, mode: dsr, encapsulation: %s}
	  - {name: direct6, address: "fd01::101", port: 11211, mode: dsr, encapsulation: %s}
	""" .replace("\t", "") % (how, how), text)
	open(config, "w").write(text)
	text = open(nodes).read()
	for i in (1, 2, 3):
	    text = text.replace("address: 10.2.0.%d," % i, 'address: "fd03::%d",' % i)
	open(nodes, "w").write(text.replace("address: 10.2.", "address: 10.3."))
	PY
}

exchange() { # commands to both services
	client python3 - <<-'PY'
	from kvclient import Client
	for vip in ("10.1.0.101", "fd01::101"):
	    c = Client(vip)
	    for i in range(24):
	        value = "v" * (1 + 50 * i)
	        c.expect("set t%d 5 0 %d\r\n%s\r\n" % (i, len(value), value), "STORED\r\n")
	        c.expect("get t%d\r\n" % i, "VALUE t%d 5 %d\r\n%s\r\nEND\r\n" % (i, len(value), value))
	        c.expect("delete t%d\r\n" % i, "DELETED\r\n")
	PY
}

seen() { # KIND: how many nodes saw it
	cat "$RUN"/decap*.log | grep -cx "$1"
}

configure ipip
router_start
router_ready
replies=$(ctl stats --json | field 'r["replies"]')
check "requests reach their nodes by IPIP, replies the client" exchange
for kind in "ipip 4 in 4" "ipip 4 in 6" "ipip 6 in 4" "ipip 6 in 6"; do
	check "$kind at all of its nodes" test "$(seen "$kind")" = 3
done
configure gue
ctl reload >/dev/null
check "by GUE, after a reload" exchange
for kind in "gue 4 in 4" "gue 4 in 6" "gue 6 in 4" "gue 6 in 6"; do
	check "$kind at all of its nodes" test "$(seen "$kind")" = 3
done
check "no reply passed the router" test "$(ctl stats --json | field 'r["replies"]')" = "$replies"
check "every header was right" test "$(cat "$RUN"/decap*.log | grep -c Error)" = 0
stop n4 KILL
check "a dead node behind the gateway leaves the candidates" wait_until 10 eligible_is 5
check "and the others serve its keys" exchange
check "in = out + drops + held" conserved
