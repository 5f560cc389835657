/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "ctrl/api/commands.h"
#include "ctrl/api/explain.h"
#include "lib/proto/base64.h"
#include "lib/proto/request.h"

static int key_decode(
	const char *text, size_t len, const char *encoding, uint8_t *key, size_t *key_len)
{
	int n;

	if (encoding == NULL || strcmp(encoding, "text") == 0) {
		if (len == 0 || len > KVL_KEY_MAX)
			return -EINVAL;
		memcpy(key, text, len);
		*key_len = len;
		return 0;
	}
	/* As memcached clients must write it; room for a longest key, padded. */
	if (strcmp(encoding, "base64") != 0 || len > (KVL_KEY_MAX + 2) / 3 * 4
		|| !base64_key_valid((const uint8_t *)text, len))
		return -EINVAL;
	n = (int)base64_key_decode((const uint8_t *)text, len, key);
	*key_len = (size_t)n;
	return n == 0 || n > KVL_KEY_MAX ? -EINVAL : 0;
}

json_t *kvl_command_route(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	const char *text = NULL, *command = NULL, *service = NULL, *encoding = NULL;
	uint8_t key[KVL_KEY_MAX + 3];
	size_t len = 0, key_len;

	if (json_unpack((json_t *)params, "{s?s%, s?s, s?s, s?s}", "key", &text, &len, "command",
		    &command, "service", &service, "key_encoding", &encoding)
			< 0
		|| (text == NULL) == (command == NULL))
		return kvl_message_fail(error, KVL_CODE_PARAMS,
			"route takes \"key\" (text) or \"command\", and may take \"service\" and "
			"\"key_encoding\" (\"text\" or \"base64\")");
	if (command != NULL)
		return kvl_explain_command(ctx, service, command, strlen(command), error);
	if (key_decode(text, len, encoding, key, &key_len) < 0)
		return kvl_message_fail(error, KVL_CODE_PARAMS,
			"the key must have 1..%d bytes, in the encoding said: \"text\" or "
			"\"base64\" with padding",
			KVL_KEY_MAX);
	return kvl_explain_key(ctx, service, key, key_len, error);
}
