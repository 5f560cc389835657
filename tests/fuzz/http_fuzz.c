/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HTTP heads: whatever comes is parsed or refused with a status that has words; every piece lies
 * within the head, and a decoded parameter within its bound.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/wire/http.h"
#include "tests/fuzz/fuzz.h"

static void check_inside(struct kvl_http_text t, const char *bytes, size_t len)
{
	assert(t.at >= bytes && t.at + t.len <= bytes + len);
}

static void check_head(const struct kvl_http_head *head, const char *bytes, size_t len)
{
	uint8_t out[KVL_HTTP_HEAD_MAX];
	static const char *const names[] = {"key", "service", NULL};
	int n;

	check_inside(head->path, bytes, len);
	check_inside(head->query, bytes, len);
	assert(head->path.len > 0 && head->path.at[0] == '/');
	assert(head->header_count <= KVL_HTTP_HEADERS_MAX);
	assert(head->body_len <= KVL_HTTP_BODY_MAX);
	for (size_t i = 0; i < head->header_count; i++) {
		check_inside(head->headers[i].name, bytes, len);
		check_inside(head->headers[i].value, bytes, len);
		kvl_http_hex(head->headers[i].value, out, 32);
	}
	n = kvl_http_query(head->query, "key", out, 250);
	assert(n <= 250);
	n = kvl_http_query(head->query, "key", out, sizeof(out));
	assert(n < 0 || (size_t)n <= head->query.len);
	kvl_http_query_known(head->query, names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly this size, so that a read beyond it shows. */
	char *bytes = malloc(size + 1);
	struct kvl_http_head head;
	size_t len;
	int status;

	memcpy(bytes, data, size);
	len = kvl_http_head_find(bytes, size);
	assert(len <= size);
	if (len > 0) {
		bytes = realloc(bytes, len);
		status = kvl_http_head_parse(bytes, len, &head);
		if (status == 0)
			check_head(&head, bytes, len);
		else
			assert(strcmp(kvl_http_reason(status), "Unknown") != 0);
	}
	free(bytes);
	return 0;
}
