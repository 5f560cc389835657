/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/router.h"
#include "lib/wire/message.h"

/*
 * Why does a request go where it goes? Walks the same root, row and weights that the workers read.
 * A key is neither logged nor echoed. `service` NULL: the first one. NULL with *error filled.
 */
#define KVL_EXPLAIN_COMMAND_MAX 32 /* bytes of a command's name */

json_t *kvl_explain_key(const struct kvl_router *r, const char *service, const uint8_t *key,
	size_t len, struct kvl_message_error *error);

/* Of a command that has no key (SPEC 1.5): answered here (used_local_fallback), or the nodes that
 * it goes to in turn. */
json_t *kvl_explain_command(const struct kvl_router *r, const char *service, const char *command,
	size_t len, struct kvl_message_error *error);
