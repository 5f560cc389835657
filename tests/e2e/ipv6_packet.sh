#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The same on af_packet ports.
DEVICE=packet exec "$(dirname "$0")/ipv6.sh"
