#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The same with two workers, on two queues of packet sockets.
DEVICE=packet WORKERS=2 exec "$(dirname "$0")/publish.sh"
