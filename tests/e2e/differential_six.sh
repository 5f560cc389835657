#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The same in front of six nodes.
exec "$(dirname "$0")/differential.sh" 6
