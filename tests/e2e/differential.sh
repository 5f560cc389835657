#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A client cannot tell kvlane from a memcached, but for a list of differences with reasons.
#
# differential.sh [NODES]: behind more than one node cas tokens are not compared.
. "$(dirname "$0")/_init.sh"
NODES=${1:-1}
world_start
start reference client memcached -u nobody -t 1 -m 64 -U 11211 -p 11211 -l 127.0.0.1
wait_until 5 client python3 -m kvclient 127.0.0.1 11211 version || fail "the reference does not answer"

tokens=
[ "$NODES" = 1 ] || tokens=own-tokens
check "the corpus of differential.py, nodes: $NODES" \
	client python3 "$ROOT/tests/e2e/differential.py" 127.0.0.1 $VIP $tokens
check "in + created = out + absorbed + drops + held" conserved
