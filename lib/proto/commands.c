/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/commands.h"
#include "lib/proto/binary.h"
#include "lib/proto/command.h"

/*
 * Each command is parsed as if it were alone behind a frame: `base` lies KVL_FRAME_LEN bytes in
 * front of it, within the datagram, and offsets are moved to the datagram's start afterwards.
 */
static void offsets_move(struct kvl_command *c, const uint8_t *payload, const uint8_t *base)
{
	if (c->request.key_len != 0)
		c->request.key_off += base - payload;
}

/* Where the text command at `p` ends; first parsed up to `end`, to learn its value's length. */
static const uint8_t *text_end(
	const uint8_t *base, const uint8_t *p, const uint8_t *end, struct kvl_command *c)
{
	const uint8_t *lf = memchr(p, '\n', end - p);

	if (lf == NULL)
		return NULL;
	c->verdict = command_parse(base, p, end, &c->request);
	if (!kvl_command_is_storage(&c->request))
		return lf + 1;
	if (c->verdict == KVL_REQUEST_MULTI_COMMAND)
		return lf + 1 + c->request.value_len + 2;
	return end;
}

static bool text_next(const uint8_t *payload, size_t len, size_t *at, struct kvl_command *c)
{
	const uint8_t *p = payload + *at, *base = p - KVL_FRAME_LEN;
	const uint8_t *end = text_end(base, p, payload + len, c);

	if (end == NULL)
		return false;
	if (end != payload + len)
		c->verdict = command_parse(base, p, end, &c->request);
	offsets_move(c, payload, base);
	c->off = *at;
	c->len = end - p;
	*at += c->len;
	return true;
}

static bool binary_next(const uint8_t *payload, size_t len, size_t *at, struct kvl_command *c)
{
	const uint8_t *p = payload + *at, *base = p - KVL_FRAME_LEN;
	uint64_t room = len - *at, extent = room;

	if (room < BINARY_HEADER_LEN || *p != BINARY_REQUEST)
		return false;
	if (binary_extent(p) < room)
		extent = binary_extent(p);
	c->request = (struct kvl_request){0};
	c->verdict = binary_request(base, p, p + extent, &c->request);
	offsets_move(c, payload, base);
	c->off = *at;
	c->len = extent;
	/* An unknown opcode's body is passed over, any other fault is the last of the datagram. */
	*at = kvl_verdict_good(c->verdict) || c->verdict == KVL_REQUEST_ADMIN
			      || (c->verdict == KVL_REQUEST_NO_COMMAND
				      && c->request.op == KVL_OP_NONE)
		      ? *at + extent
		      : len;
	return true;
}

bool kvl_command_next(const uint8_t *payload, size_t len, size_t *at, struct kvl_command *c)
{
	if (*at >= len)
		return false;
	if (payload[KVL_FRAME_LEN] == BINARY_REQUEST)
		return binary_next(payload, len, at, c);
	return text_next(payload, len, at, c);
}

bool kvl_command_key_next(const uint8_t *payload, const struct kvl_command *c, size_t *at,
	struct kvl_command_key *key)
{
	struct line l = {payload, payload + (*at == 0 ? c->request.key_off : *at),
		payload + c->off + c->len};

	if (!line_more(&l))
		return false;
	key->off = l.p - payload;
	key->len = line_token(&l);
	*at = l.p - payload;
	return true;
}

size_t kvl_commands_bound(const uint8_t *payload, size_t len)
{
	size_t n = 1;

	if (len > KVL_FRAME_LEN && payload[KVL_FRAME_LEN] == BINARY_REQUEST)
		return len / BINARY_HEADER_LEN + 1;
	/* Each key and each keyless command ends in one of these. */
	for (size_t i = KVL_FRAME_LEN; i < len; i++)
		n += payload[i] == ' ' || payload[i] == '\n';
	return n;
}
