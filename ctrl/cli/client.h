/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/wire/message.h"

#define CLIENT_TIMEOUT_S 10 /* kvlaned answers at once or is stuck */

/*
 * One request on a connection of its own. Returns 0 with *reply to be cleared by the caller (it may
 * hold an error), or a negative errno with what is wrong and what to do in `why`.
 */
int client_ask(const char *path, const char *method, json_t *params,
	struct kvl_message_reply *reply, char *why, size_t why_len);
