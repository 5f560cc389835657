/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/cli/cli.h"

extern const struct cli_command cli_command_status;
extern const struct cli_command cli_command_nodes;
extern const struct cli_command cli_command_services;
extern const struct cli_command cli_command_scores;
extern const struct cli_command cli_command_stats;
extern const struct cli_command cli_command_tenants;
extern const struct cli_command cli_command_route;
extern const struct cli_command cli_command_get;
extern const struct cli_command cli_command_set;
extern const struct cli_command cli_command_unset;
extern const struct cli_command cli_command_reload;
extern const struct cli_command cli_command_check;
extern const struct cli_command cli_command_ring_diff;
extern const struct cli_command cli_command_ring_compare;
extern const struct cli_command cli_command_docs;
