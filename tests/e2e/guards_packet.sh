#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# guards.sh with af_packet ports: the same program in tc, and the router's copy.
DEVICE=packet exec "$(dirname "$0")/guards.sh"
