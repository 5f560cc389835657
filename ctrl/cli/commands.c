/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/commands.h"

/* In the order of help and the man page. */
const struct cli_command *const cli_commands[] = {
	&cli_command_status,
	&cli_command_nodes,
	&cli_command_services,
	&cli_command_scores,
	&cli_command_tenants,
	&cli_command_stats,
	&cli_command_route,
	&cli_command_get,
	&cli_command_set,
	&cli_command_unset,
	&cli_command_reload,
	&cli_command_check,
	&cli_command_ring_diff,
	&cli_command_ring_compare,
	&cli_command_docs,
	NULL,
};
