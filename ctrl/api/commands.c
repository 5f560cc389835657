/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/commands.h"

const struct kvl_api_command kvl_commands[] = {
	{"status", KVL_API_READ, kvl_command_status},
	{"nodes", KVL_API_READ, kvl_command_nodes},
	{"services", KVL_API_READ, kvl_command_services},
	{"scores", KVL_API_READ, kvl_command_scores},
	{"tenants", KVL_API_READ, kvl_command_tenants},
	{"stats", KVL_API_READ, kvl_command_stats},
	{"route", KVL_API_READ, kvl_command_route},
	{"get", KVL_API_READ, kvl_command_get},
	{"set", KVL_API_ADMIN, kvl_command_set},
	{"unset", KVL_API_ADMIN, kvl_command_unset},
	{"reload", KVL_API_ADMIN, kvl_command_reload},
	{0},
};
