# SPDX-License-Identifier: BSD-3-Clause
# Sourced by every end-to-end scenario and by the demo: hosts in network namespaces, real memcached
# nodes, the router. All of it goes at the end, also after a failure or Ctrl-C.
#
#   client 10.1.0.9 ---- front 10.1.0.1 [router] back 10.2.0.254 ---- bridge ---- n1..n6 10.2.0.1-6
#      |                 VIPs 10.1.0.100 (nat), 10.1.0.101 (dsr)         |
#      +---- lan: replies of dsr nodes come this way, not through the router
#
# A scenario sets DEVICE=xdp (default) or packet, WORKERS, and calls world_start.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=${BUILD:-$ROOT/build}
KVLANED=$BUILD/ctrl/kvlaned
KVLANECTL=${KVLANECTL:-$BUILD/ctrl/kvlanectl}
KVLOAD=$BUILD/tests/kvload
export PYTHONPATH=$ROOT/tests/e2e PYTHONDONTWRITEBYTECODE=1

# For sanitizer builds; whole stacks, so that a suppression can name the library.
export LSAN_OPTIONS=suppressions=$ROOT/tests/lsan.supp:print_suppressions=0
export ASAN_OPTIONS=fast_unwind_on_malloc=0

P=kvl$$                     # prefix of all namespaces of this run
RUN=$(mktemp -d /tmp/kvlane.XXXXXX)
chmod 755 "$RUN"
SOCKET=$RUN/kvlane.sock
CONFIG=$RUN/kvlane.yaml
LOG=$RUN/kvlaned.log
NODES=${NODES:-6}
VIP=10.1.0.100
DSR_VIP=10.1.0.101
DEVICE=${DEVICE:-xdp}
WORKERS=${WORKERS:-1}
TIMEOUT_MS=${TIMEOUT_MS:-500}
declare -A PIDS=()          # name -> pid of what this run started

on() { # HOST COMMAND...: runs it on that host
	local host=$1
	shift
	ip netns exec "$P-$host" "$@"
}

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

check() { # WHAT COMMAND...: one assertion, named
	local what=$1
	shift
	if "$@"; then
		echo "ok: $what"
	else
		fail "$what"
	fi
}

wait_until() { # SECONDS COMMAND...: until the command succeeds
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

start() { # NAME HOST COMMAND...: in the background; output goes to $RUN/NAME.log
	local name=$1 host=$2
	shift 2
	ip netns exec "$P-$host" "$@" >>"$RUN/$name.log" 2>&1 </dev/null &
	PIDS[$name]=$!
}

stop() { # NAME [SIGNAL]: ends it and waits; the router must end well when it is asked to
	local pid=${PIDS[$1]:-} status=0
	[ -n "$pid" ] || return 0
	kill -"${2:-TERM}" "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || status=$?
	unset "PIDS[$1]"
	if [ "$1" = router ] && [ "${2:-TERM}" = TERM ] && [ $status -ne 0 ]; then
		fail "kvlaned ended with status $status"
	fi
}

cleanup() {
	local status=$? name
	trap - EXIT INT TERM HUP
	set +e
	if [ $status -ne 0 ]; then
		echo "--- stats at the failure" >&2
		ctl stats >&2 2>&1
		ctl nodes >&2 2>&1
		echo "--- last lines of kvlaned" >&2
		tail -n 30 "$LOG" >&2 2>/dev/null
	fi
	for name in "${!PIDS[@]}"; do
		kill -CONT "${PIDS[$name]}" 2>/dev/null
		kill "${PIDS[$name]}" 2>/dev/null
	done
	for name in "${!PIDS[@]}"; do
		# A process that does not end by itself within 5 s is killed.
		timeout 5 tail --pid="${PIDS[$name]}" -f /dev/null || kill -9 "${PIDS[$name]}" 2>/dev/null
		wait "${PIDS[$name]}" 2>/dev/null
	done
	# A sanitizer's finding in any of the programs fails the scenario.
	if grep -lE 'Sanitizer|runtime error:' "$RUN"/*.log >/dev/null 2>&1; then
		grep -hE -A 25 'Sanitizer|runtime error:' "$RUN"/*.log | head -n 60 >&2
		[ $status -ne 0 ] || status=1
	fi
	for name in $(ip netns list | awk '{print $1}' | grep "^$P-"); do
		ip netns del "$name"
	done
	rm -rf "$RUN"
	exit $status
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

link() { # HOST IF HOST IF: a cable; checksums are finished in software, since XDP sees them
	ip link add "$2" netns "$P-$1" type veth peer name "$4" netns "$P-$3"
	on "$1" ethtool -K "$2" tx off >/dev/null 2>&1
	on "$3" ethtool -K "$4" tx off >/dev/null 2>&1
	on "$1" ip link set "$2" up
	on "$3" ip link set "$4" up
}

host_add() {
	ip netns add "$P-$1"
	on "$1" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
		net.ipv4.ip_forward=0 net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	on "$1" ip link set lo up
}

hosts_start() {
	local i
	host_add client
	host_add router
	host_add net
	on net ip link add br0 type bridge
	on net ip link set br0 up
	link client c0 router front
	link router back net r0
	link client lan net c1
	on net ip link set r0 master br0
	on net ip link set c1 master br0
	on client ip addr add 10.1.0.9/24 dev c0
	on router ip addr add 10.1.0.1/24 dev front
	on router ip addr add $VIP/32 dev front
	on router ip addr add $DSR_VIP/32 dev front
	on router ip addr add 10.2.0.254/24 dev back
	for i in $(seq 1 "$NODES"); do
		host_add "n$i"
		link "n$i" eth0 net "p$i"
		on net ip link set "p$i" master br0
		on "n$i" ip addr add "10.2.0.$i/24" dev eth0
		on "n$i" sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2
		on "n$i" ip addr add $DSR_VIP/32 dev lo
		on "n$i" ip route add 10.1.0.9/32 dev eth0
	done
}

# The same hosts in IPv6: client fd01::9, VIPs fd01::100 (nat) and fd01::101 (dsr), router fd01::1
# and fd02::fe, nodes fd02::I. To be called after hosts_start.
IPV6=
VIP6=fd01::100
DSR_VIP6=fd01::101
hosts_ipv6() {
	local i lan
	IPV6=1
	for i in client router $(seq -f n%g 1 "$NODES"); do
		on "$i" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0
	done
	on client ip addr add fd01::9/64 dev c0 nodad
	for i in fd01::1/64 $VIP6/128 $DSR_VIP6/128; do
		on router ip addr add "$i" dev front nodad
	done
	on router ip addr add fd02::fe/64 dev back nodad
	lan=$(on client cat /sys/class/net/lan/address)
	for i in $(seq 1 "$NODES"); do
		on "n$i" ip addr add "fd02::$i/64" dev eth0 nodad
		on "n$i" ip addr add $DSR_VIP6/128 dev lo nodad
		# Neighbour discovery answers for an interface's own addresses only, and this is c0's.
		on "n$i" ip route add fd01::9/128 dev eth0
		on "n$i" ip neigh replace fd01::9 lladdr "$lan" dev eth0
	done
	# As long as a link-local address is looked for twice, nobody asks for neighbours from it.
	wait_until 10 links_settled || fail "link-local addresses stay tentative"
}

SECRET=0123456789abcdef-secret
reports_write() { # the router takes reports, every 500 ms, by key 7
	echo "$SECRET" >"$RUN/secret"
	cat >>"$CONFIG" <<EOF
reports:
  address: 10.2.0.254
  interval_ms: 500
  keys: [{id: 7, secret: $SECRET}]
EOF
}

agent_start() { # I: beside node I; what "$RUN/stateI" says are its flags
	start "agent$1" "n$1" "$BUILD/ctrl/kvlane-agent" --node "n$1" --router 10.2.0.254 --interval 500 \
		--memcached "10.2.0.$1" --interface eth0 --flags "$RUN/state$1" --key "7:$RUN/secret"
}

links_settled() {
	local name
	for name in $(ip netns list | awk '{print $1}' | grep "^$P-"); do
		[ -z "$(ip -n "$name" -6 addr show tentative)" ] || return 1
	done
}

node_start() { # I
	local listen="10.2.0.$1,$DSR_VIP"
	[ -z "$IPV6" ] || listen+=",[fd02::$1]:11211,[$DSR_VIP6]:11211"
	start "n$1" "n$1" memcached -u nobody -t 1 -m 64 -U 11211 -p 11211 -l "$listen"
	wait_until 5 node_answers "$1" || fail "memcached n$1 does not answer"
}

node_answers() { # I: over UDP, from its own host
	on "n$1" python3 -m kvclient "10.2.0.$1" 11211 version
}

nodes_start() {
	local i
	for i in $(seq 1 "$NODES"); do
		node_start "$i"
	done
}

zone() { # I: three zones of two
	echo "z$(((($1 - 1) % 3) + 1))"
}

device() { # NAME INTERFACE
	case $DEVICE in
	xdp) echo "net_af_xdp_$1,iface=$2" ;;
	packet) echo "net_af_packet_$1,iface=$2,qpairs=$WORKERS,blocksz=65536,framesz=2048,framecnt=4096" ;;
	*) fail "DEVICE=$DEVICE: xdp or packet" ;;
	esac
}

config_write() { # writes $CONFIG and the topology it names
	cat >"$CONFIG" <<-EOF
	router:
	  workers: $WORKERS
	  control_socket: $SOCKET
	  poll: adaptive
	  max_nodes: 64
	health:
	  probe_interval_ms: 200
	  probe_timeout_ms: 150
	ports:
	  - {name: front, device: "$(device front front)"}
	  - {name: back, device: "$(device back back)", snat: 10.2.0.254}
	services:
	  - {name: cache, address: $VIP, port: 11211, mode: nat, timeout_ms: $TIMEOUT_MS}
	  - {name: direct, address: $DSR_VIP, port: 11211, mode: dsr}
	topology: $RUN/nodes.yaml
	EOF
	topology_write $(seq 1 "$NODES")
}

topology_write() { # I...: the nodes in the topology, swapped in at once
	local i
	{
		echo "nodes:"
		for i in "$@"; do
			echo "  - {id: n$i, address: 10.2.0.$i, host: h$i, zone: $(zone "$i")}"
		done
	} >"$RUN/nodes.yaml.new"
	mv "$RUN/nodes.yaml.new" "$RUN/nodes.yaml"
}

ctl() {
	"$KVLANECTL" -s "$SOCKET" "$@"
}

field() { # PYTHON-EXPRESSION over `r`: of the JSON on stdin
	python3 -c "import json,sys; r=json.load(sys.stdin); print($1)"
}

eligible_is() { # N
	[ "$(ctl status --json | field 'r["nodes"]["eligible"]')" = "$1" ]
}

state_is() { # NODE STATE
	[ "$(ctl nodes --json | field '[n["state"] for n in r["nodes"] if n["id"] == "'"$1"'"][0]')" = "$2" ]
}

router_start() {
	: >>"$LOG"
	ip netns exec "$P-router" "$KVLANED" -c "$CONFIG" >>"$LOG" 2>&1 </dev/null &
	PIDS[router]=$!
}

router_ready() { # and all nodes resolved and healthy
	wait_until 20 eligible_is "$NODES" || fail "kvlaned is not ready with $NODES nodes"
}

world_start() {
	hosts_start
	nodes_start
	config_write
	router_start
	router_ready
}

conserved() { # in = out + drops + held
	ctl stats --json | field '"held=%d" % r["held"]' | grep -qx held=0
}

client() { # runs on the client's host
	on client "$@"
}
