/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/wire/http.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* RFC 9110, 5.6.2: what methods and header names consist of. */
static bool is_token_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
	       || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_token(struct kvl_http_text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!is_token_char(t.at[i]))
			return false;
	return t.len > 0;
}

/* Of a request target, and of header values with blanks besides. */
static bool is_visible(struct kvl_http_text t, bool blanks)
{
	for (size_t i = 0; i < t.len; i++) {
		unsigned char c = (unsigned char)t.at[i];

		if (c == 0x7f || (c <= ' ' && !(blanks && (c == ' ' || c == '\t'))))
			return false;
	}
	return true;
}

size_t kvl_http_head_find(const char *bytes, size_t len)
{
	size_t line = 0; /* where the present line starts */

	for (size_t i = 0; i < len; i++) {
		if (bytes[i] != '\n')
			continue;
		if (i == line || (i == line + 1 && bytes[line] == '\r'))
			return i + 1;
		line = i + 1;
	}
	return 0;
}

/* The next line without its end, which is CRLF or LF. */
static struct kvl_http_text line_take(const char **at, const char *end)
{
	const char *lf = memchr(*at, '\n', (size_t)(end - *at));
	struct kvl_http_text line = {*at, (size_t)((lf != NULL ? lf : end) - *at)};

	*at = lf != NULL ? lf + 1 : end;
	if (line.len > 0 && line.at[line.len - 1] == '\r')
		line.len--;
	return line;
}

/* What stands before the separator; *rest becomes what is behind it. False: there is none. */
static bool text_cut(struct kvl_http_text *rest, char separator, struct kvl_http_text *before)
{
	const char *at = rest->len > 0 ? memchr(rest->at, separator, rest->len) : NULL;

	if (at == NULL)
		return false;
	*before = (struct kvl_http_text){rest->at, (size_t)(at - rest->at)};
	*rest = (struct kvl_http_text){at + 1, rest->len - before->len - 1};
	return true;
}

static struct kvl_http_text text_trim(struct kvl_http_text t)
{
	while (t.len > 0 && (*t.at == ' ' || *t.at == '\t')) {
		t.at++;
		t.len--;
	}
	while (t.len > 0 && (t.at[t.len - 1] == ' ' || t.at[t.len - 1] == '\t'))
		t.len--;
	return t;
}

static enum kvl_http_method method_of(struct kvl_http_text t)
{
	return kvl_http_text_is(t, "GET")    ? KVL_HTTP_GET
	       : kvl_http_text_is(t, "HEAD") ? KVL_HTTP_HEAD
	       : kvl_http_text_is(t, "POST") ? KVL_HTTP_POST
					     : KVL_HTTP_OTHER;
}

static int version_parse(struct kvl_http_text t, uint8_t *minor)
{
	if (t.len != 8 || memcmp(t.at, "HTTP/", 5) != 0 || t.at[6] != '.')
		return 400;
	if (t.at[5] != '1' || (t.at[7] != '0' && t.at[7] != '1'))
		return 505;
	*minor = (uint8_t)(t.at[7] - '0');
	return 0;
}

static int request_line_parse(struct kvl_http_text line, struct kvl_http_head *head)
{
	struct kvl_http_text method, target;

	if (!text_cut(&line, ' ', &method) || !text_cut(&line, ' ', &target) || !is_token(method)
		|| target.len == 0 || *target.at != '/' || !is_visible(target, false))
		return 400;
	head->method = method_of(method);
	head->query = target;
	if (!text_cut(&head->query, '?', &head->path)) {
		head->path = target;
		head->query = (struct kvl_http_text){target.at + target.len, 0};
	}
	return version_parse(line, &head->minor);
}

static int length_parse(struct kvl_http_head *head, struct kvl_http_text value)
{
	uint64_t len;

	/* Of two lengths either could be meant: the way to smuggle a request past a proxy. */
	if (head->has_length || kvl_http_uint(value, UINT64_MAX, &len) < 0)
		return 400;
	if (len > KVL_HTTP_BODY_MAX)
		return 413;
	head->has_length = true;
	head->body_len = (size_t)len;
	return 0;
}

static bool name_is(struct kvl_http_text name, const char *word)
{
	return name.len == strlen(word) && strncasecmp(name.at, word, name.len) == 0;
}

static int header_parse(struct kvl_http_text line, struct kvl_http_head *head)
{
	struct kvl_http_header h;

	if (!text_cut(&line, ':', &h.name) || !is_token(h.name) || !is_visible(line, true))
		return 400;
	if (head->header_count == KVL_HTTP_HEADERS_MAX)
		return 431;
	h.value = text_trim(line);
	head->headers[head->header_count++] = h;
	if (name_is(h.name, "content-length"))
		return length_parse(head, h.value);
	if (name_is(h.name, "transfer-encoding"))
		return 501;
	if (!name_is(h.name, "expect"))
		return 0;
	head->expect_continue = name_is(h.value, "100-continue");
	return head->expect_continue ? 0 : 417;
}

int kvl_http_head_parse(const char *bytes, size_t len, struct kvl_http_head *head)
{
	const char *at = bytes, *end = bytes + len;
	int status;

	memset(head, 0, sizeof(*head));
	status = request_line_parse(line_take(&at, end), head);
	while (status == 0 && at < end) {
		struct kvl_http_text line = line_take(&at, end);

		if (line.len == 0)
			break;
		status = header_parse(line, head);
	}
	return status;
}

struct kvl_http_text kvl_http_header(const struct kvl_http_head *head, const char *name)
{
	for (size_t i = 0; i < head->header_count; i++)
		if (name_is(head->headers[i].name, name))
			return head->headers[i].value;
	return (struct kvl_http_text){NULL, 0};
}

bool kvl_http_text_is(struct kvl_http_text text, const char *word)
{
	return text.len == strlen(word) && memcmp(text.at, word, text.len) == 0;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

static int percent_decode(struct kvl_http_text t, uint8_t *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < t.len; i++) {
		int value = (unsigned char)t.at[i];

		if (t.at[i] == '%') {
			int high = i + 2 < t.len ? hex_digit(t.at[i + 1]) : -1;
			int low = i + 2 < t.len ? hex_digit(t.at[i + 2]) : -1;

			if (high < 0 || low < 0)
				return -EILSEQ;
			value = high << 4 | low;
			i += 2;
		}
		if (n == size)
			return -EMSGSIZE;
		out[n++] = (uint8_t)value;
	}
	return (int)n;
}

/* The next "name=value" of a query; a name alone has an empty value. False: that was all. */
static bool pair_take(
	struct kvl_http_text *query, struct kvl_http_text *name, struct kvl_http_text *value)
{
	if (query->len == 0)
		return false;
	if (!text_cut(query, '&', value)) {
		*value = *query;
		query->len = 0;
	}
	if (!text_cut(value, '=', name)) {
		*name = *value;
		value->len = 0;
	}
	return true;
}

int kvl_http_query(struct kvl_http_text query, const char *name, uint8_t *out, size_t size)
{
	struct kvl_http_text n, value, found = {NULL, 0};

	while (pair_take(&query, &n, &value)) {
		if (!kvl_http_text_is(n, name))
			continue;
		if (found.at != NULL)
			return -EEXIST;
		found = value;
	}
	return found.at == NULL ? -ENOENT : percent_decode(found, out, size);
}

bool kvl_http_query_known(struct kvl_http_text query, const char *const *names)
{
	struct kvl_http_text n, value;

	while (pair_take(&query, &n, &value)) {
		size_t i = 0;

		while (names[i] != NULL && !kvl_http_text_is(n, names[i]))
			i++;
		if (names[i] == NULL)
			return false;
	}
	return true;
}

int kvl_http_hex(struct kvl_http_text text, uint8_t *out, size_t size)
{
	if (text.len != 2 * size)
		return -EINVAL;
	for (size_t i = 0; i < size; i++) {
		int high = hex_digit(text.at[2 * i]), low = hex_digit(text.at[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

int kvl_http_uint(struct kvl_http_text text, uint64_t max, uint64_t *value)
{
	uint64_t v = 0;

	if (text.len == 0)
		return -EINVAL;
	for (size_t i = 0; i < text.len; i++) {
		if (text.at[i] < '0' || text.at[i] > '9' || __builtin_mul_overflow(v, 10, &v)
			|| __builtin_add_overflow(v, (uint64_t)(text.at[i] - '0'), &v))
			return -EINVAL;
	}
	if (v > max)
		return -EINVAL;
	*value = v;
	return 0;
}

const char *kvl_http_reason(int status)
{
	static const struct {
		int status;
		const char *reason;
	} reasons[] = {
		{200, "OK"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{408, "Request Timeout"},
		{409, "Conflict"},
		{411, "Length Required"},
		{413, "Content Too Large"},
		{417, "Expectation Failed"},
		{422, "Unprocessable Content"},
		{431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"},
		{501, "Not Implemented"},
		{503, "Service Unavailable"},
		{505, "HTTP Version Not Supported"},
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Unknown";
}
