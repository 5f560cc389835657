#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The same with two workers: each lends of its own queue, one of them sends the kernel's frames.
WORKERS=2 exec "$(dirname "$0")/exception.sh"
