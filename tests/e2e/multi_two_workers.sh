#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The same with two workers: parts' replies arrive at the wrong one and go by mailbox.
DEVICE=packet WORKERS=2 exec "$(dirname "$0")/multi.sh"
