#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The same on af_packet ports, with the tc program.
DEVICE=packet exec "$(dirname "$0")/kernel_traffic.sh"
