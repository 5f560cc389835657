/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/api/socket.h"

/*
 * The control socket's commands; one file each. All take the struct kvl_router as context. Their
 * results are described in docs/control-socket.md.
 */
extern const struct kvl_api_command kvl_commands[];

json_t *kvl_command_status(void *ctx, const json_t *params, struct kvl_message_error *error);
json_t *kvl_command_nodes(void *ctx, const json_t *params, struct kvl_message_error *error);
json_t *kvl_command_services(void *ctx, const json_t *params, struct kvl_message_error *error);
json_t *kvl_command_scores(void *ctx, const json_t *params, struct kvl_message_error *error);
json_t *kvl_command_tenants(void *ctx, const json_t *params, struct kvl_message_error *error);
json_t *kvl_command_stats(void *ctx, const json_t *params, struct kvl_message_error *error);
json_t *kvl_command_route(void *ctx, const json_t *params, struct kvl_message_error *error);
json_t *kvl_command_get(void *ctx, const json_t *params, struct kvl_message_error *error);
json_t *kvl_command_set(void *ctx, const json_t *params, struct kvl_message_error *error);
json_t *kvl_command_unset(void *ctx, const json_t *params, struct kvl_message_error *error);
json_t *kvl_command_reload(void *ctx, const json_t *params, struct kvl_message_error *error);

/* What was set while it runs (ctrl/core/overrides.h); `status` tells it. */
struct kvl_router;
json_t *kvl_overrides_list(const struct kvl_router *r);
