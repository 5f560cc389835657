/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The head of an HTTP/1.x request (RFC 9112), as much of it as a server needs that takes one
 * request a connection: method, path, query, headers by name, and how long the body is. What comes
 * is hostile: nothing is allocated, nothing is written, nothing is read beyond `len`.
 *
 * Stricter than the RFC where leniency has been abused: no folded lines, no blank before a colon,
 * no bare CR, one Content-Length in plain digits, no transfer coding at all.
 */
#define KVL_HTTP_HEAD_MAX    4096 /* bytes of request line and headers; longer: 431 */
#define KVL_HTTP_HEADERS_MAX 32
#define KVL_HTTP_BODY_MAX    8192 /* KVL_REPORT_JSON_MAX; longer: 413 */

enum kvl_http_method {
	KVL_HTTP_GET,
	KVL_HTTP_HEAD,
	KVL_HTTP_POST,
	KVL_HTTP_OTHER, /* a well-formed one that nothing here answers to */
};

/* A piece of the head; not ended by a NUL. */
struct kvl_http_text {
	const char *at;
	size_t len;
};

struct kvl_http_header {
	struct kvl_http_text name, value; /* value without blanks around it */
};

struct kvl_http_head {
	enum kvl_http_method method;
	uint8_t minor;              /* HTTP/1.minor */
	struct kvl_http_text path;  /* as sent, up to the '?'; starts with '/' */
	struct kvl_http_text query; /* behind it; empty = none */
	size_t body_len;            /* Content-Length; 0 without one */
	bool has_length;
	bool expect_continue; /* the client waits for "100 Continue" before it sends the body */
	size_t header_count;
	struct kvl_http_header headers[KVL_HTTP_HEADERS_MAX];
};

/* How many of `len` bytes are the head, its empty line included; 0 = that has not come yet. */
size_t kvl_http_head_find(const char *bytes, size_t len);

/*
 * Parses a whole head as kvl_http_head_find() delimits it. Returns 0 or the status to refuse it
 * with: 400 (malformed), 413 (body), 417 (an expectation other than 100-continue), 431 (too many
 * headers), 501 (a transfer coding), 505 (version). *head points into `bytes`.
 */
int kvl_http_head_parse(const char *bytes, size_t len, struct kvl_http_head *head);

/* The header's value by its name in any case; .at NULL = there is none. Of several the first. */
struct kvl_http_text kvl_http_header(const struct kvl_http_head *head, const char *name);

bool kvl_http_text_is(struct kvl_http_text text, const char *word);

/*
 * A parameter of a query, percent-decoded into out: any bytes, NUL too. A '+' is a '+' (RFC 3986;
 * keys hold them). Returns its length, or -ENOENT (not given), -EEXIST (given twice), -EILSEQ (a
 * '%' without two hex digits), -EMSGSIZE (longer than `size`).
 */
int kvl_http_query(struct kvl_http_text query, const char *name, uint8_t *out, size_t size);

/* Whether each parameter of the query is one of `names` (ends with NULL). */
bool kvl_http_query_known(struct kvl_http_text query, const char *const *names);

/* Exactly `size` bytes from twice as many hex digits of either case. 0 or -EINVAL. */
int kvl_http_hex(struct kvl_http_text text, uint8_t *out, size_t size);

/* Decimal digits only, 0..max. 0 or -EINVAL. */
int kvl_http_uint(struct kvl_http_text text, uint64_t max, uint64_t *value);

const char *kvl_http_reason(int status); /* "Not Found" */
