/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control-socket lines: whatever comes, a request parses or is refused with a code and a text, its
 * error can be sent, and what was understood survives formatting and parsing again.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/wire/message.h"
#include "tests/fuzz/fuzz.h"

static void check_request(const char *line, size_t size)
{
	struct kvl_message_request request, again;
	struct kvl_message_error error;
	size_t len;
	char *text;

	if (kvl_message_request_parse(line, size, &request, &error) == 0) {
		text = kvl_message_request_format(request.id, request.method, request.params, &len);
		assert(text != NULL && text[len - 1] == '\n' && strlen(text) == len);
		/* Escapes may make it longer than what came. */
		if (kvl_message_request_parse(text, len, &again, &error) == 0) {
			assert(again.id == request.id);
			assert(strcmp(again.method, request.method) == 0);
			assert(json_equal(again.params, request.params));
		} else {
			assert(strcmp(error.code, KVL_CODE_TOO_LONG) == 0);
		}
		kvl_message_request_clear(&again);
	} else {
		assert(error.code[0] != '\0' && error.text[0] != '\0');
		text = kvl_message_error_format(request.id, &error, &len);
		assert(text != NULL);
	}
	free(text);
	kvl_message_request_clear(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kvl_message_reply reply;
	struct kvl_message_error error;

	check_request((const char *)data, size);
	kvl_message_reply_parse((const char *)data, size, &reply, &error);
	kvl_message_reply_clear(&reply);
	return 0;
}
