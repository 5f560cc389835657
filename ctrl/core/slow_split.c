/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/slow_split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "lib/proto/hint.h"
#include "lib/proto/local.h"
#include "lib/proto/part.h"

#define DATAGRAM_DATA 1392u /* behind the frame, as memcached fills its datagrams */
#define COMMAND_MAX   65536

struct kvl_slow_part {
	uint16_t key_off, key_len;
	bool failed;
	uint8_t why; /* enum kvl_verdict */
	uint8_t *reply;
	size_t len;
};

/* ---- what the client gets ---- */

static void message_send(struct kvl_slow_split *split, const struct kvl_slow_split_ops *ops,
	const uint8_t *data, size_t len)
{
	uint16_t total = (len + DATAGRAM_DATA - 1) / DATAGRAM_DATA;
	uint8_t datagram[KVL_FRAME_LEN + DATAGRAM_DATA];

	for (uint16_t i = 0; i < total; i++) {
		const struct kvl_frame frame = {.id = split->client_id,
			.sequence = rte_cpu_to_be_16(i),
			.total = rte_cpu_to_be_16(total)};
		size_t n = len < DATAGRAM_DATA ? len : DATAGRAM_DATA;

		memcpy(datagram, &frame, sizeof(frame));
		memcpy(datagram + KVL_FRAME_LEN, data, n);
		ops->send(ops->context, split, datagram, KVL_FRAME_LEN + n);
		data += n;
		len -= n;
	}
}

static int64_t part_values(const struct kvl_slow_part *part)
{
	uint8_t head[KVL_RETRIEVAL_HEAD] = {0}, tail[KVL_RETRIEVAL_TAIL] = {0};

	if (part->failed)
		return -1;
	memcpy(head, part->reply, part->len < sizeof(head) ? part->len : sizeof(head));
	if (part->len >= sizeof(tail))
		memcpy(tail, part->reply + part->len - sizeof(tail), sizeof(tail));
	return kvl_part_values(head, tail, part->len);
}

/* A part that failed, one that was refused before others; NULL. A reply that is no value and no miss
 * counts as none. */
static const struct kvl_slow_part *failed_part(struct kvl_slow_split *split, size_t *values)
{
	const struct kvl_slow_part *failed = NULL;

	*values = 0;
	for (uint32_t i = 0; i < split->part_count; i++) {
		struct kvl_slow_part *part = &split->parts[i];
		int64_t n = part_values(part);

		if (n >= 0) {
			*values += (size_t)n;
			continue;
		}
		if (!part->failed)
			part->why = KVL_REQUEST_NO_REPLY;
		part->failed = true;
		if (failed == NULL
			|| (kvl_verdict_refused(part->why) && !kvl_verdict_refused(failed->why)))
			failed = part;
	}
	return failed;
}

static void error_send(
	struct kvl_slow_split *split, const struct kvl_slow_split_ops *ops, enum kvl_verdict why)
{
	uint8_t text[KVL_UNANSWERED_MAX];
	size_t len = kvl_command_answer(
		why, &split->command.request, split->payload + split->command.off, text);

	message_send(split, ops, text, len);
}

/* All values, in the order of the keys, and one END. */
static void values_send(struct kvl_slow_split *split, const struct kvl_slow_split_ops *ops)
{
	static const char end[] = "END\r\n";
	size_t values, at = 0;
	const struct kvl_slow_part *failed = failed_part(split, &values);
	uint8_t *message;

	/* A refusal is told as such, whatever is to be told of keys without an answer. */
	if (failed != NULL && (split->partial_error || kvl_verdict_refused(failed->why))) {
		error_send(split, ops, failed->why);
		return;
	}
	message = malloc(values + sizeof(end));
	if (message == NULL) {
		error_send(split, ops, KVL_REQUEST_TABLE_FULL);
		return;
	}
	for (uint32_t i = 0; i < split->part_count; i++) {
		const struct kvl_slow_part *part = &split->parts[i];
		int64_t n = part_values(part);

		if (n > 0)
			memcpy(message + at, part->reply, (size_t)n);
		at += n > 0 ? (size_t)n : 0;
	}
	memcpy(message + at, end, sizeof(end) - 1);
	message_send(split, ops, message, at + sizeof(end) - 1);
	free(message);
}

static void plain_send(struct kvl_slow_split *split, const struct kvl_slow_split_ops *ops)
{
	const struct kvl_request *req = &split->command.request;
	const struct kvl_slow_part *part = &split->parts[0];
	uint8_t text[KVL_UNANSWERED_MAX];

	if (part->failed)
		message_send(split, ops, text,
			kvl_part_unanswered(part->why, !split->partial_error, req,
				split->payload + split->command.off, text));
	else if (!kvl_part_hidden(req->proto, req->op, req->flags, part->reply, part->len))
		message_send(split, ops, part->reply, part->len);
}

static void command_send(struct kvl_slow_split *split, const struct kvl_slow_split_ops *ops)
{
	bool several = split->part_count > 1;

	/* The words of a node about a single key pass, whatever they are. */
	if (kvl_command_is_retrieval(&split->command.request)
		&& (several || split->parts[0].failed || part_values(&split->parts[0]) >= 0))
		values_send(split, ops);
	else
		plain_send(split, ops);
}

/* ---- asking ---- */

static void parts_free(struct kvl_slow_split *split)
{
	for (uint32_t i = 0; i < split->part_count; i++)
		free(split->parts[i].reply);
	free(split->parts);
	split->parts = NULL;
	split->part_count = split->next = 0;
	split->bytes = 0;
}

static void part_ask(
	struct kvl_slow_split *split, const struct kvl_slow_split_ops *ops, uint32_t number)
{
	static uint8_t out[COMMAND_MAX]; /* the slow path's thread is the only one */
	struct kvl_slow_part *part = &split->parts[number];
	const struct kvl_command *c = &split->command;
	struct kvl_request request = c->request;
	size_t len;

	request.key_off = part->key_off;
	request.key_len = part->key_len;
	if (kvl_command_is_retrieval(&request))
		len = kvl_part_retrieval(split->payload, c->off, c->request.key_off - c->off,
			part->key_off, part->key_len, out);
	else
		len = kvl_part_command(
			split->payload, c->off, c->len, request.proto, request.flags, out);
	part->why = ops->ask(ops->context, split, number, &request, out, len);
	part->failed = part->why != KVL_REQUEST_OK;
	split->waiting += !part->failed;
}

static int parts_make(struct kvl_slow_split *split)
{
	const struct kvl_command *c = &split->command;
	struct kvl_command_key key = {c->request.key_off, c->request.key_len};
	bool retrieval = kvl_command_is_retrieval(&c->request);
	size_t at = 0, count = 0;

	while (retrieval && kvl_command_key_next(split->payload, c, &at, &key))
		count++;
	split->parts = calloc(retrieval ? count : 1, sizeof(*split->parts));
	if (split->parts == NULL)
		return -ENOMEM;
	split->part_count = retrieval ? count : 1;
	at = 0;
	for (uint32_t i = 0; i < split->part_count; i++) {
		if (retrieval)
			kvl_command_key_next(split->payload, c, &at, &key);
		split->parts[i].key_off = key.off;
		split->parts[i].key_len = key.len;
	}
	return 0;
}

static void hints_take(struct kvl_slow_split *split)
{
	uint8_t *line = split->payload + split->command.off;
	size_t n, off;

	while ((n = kvl_proxy_token(line, split->command.len, &off)) != 0) {
		kvl_hint_take(&split->command.request, line + off, n);
		memset(line + off, ' ', n);
	}
}

/* Answers what needs no node; else makes the parts. */
static void command_begin(struct kvl_slow_split *split, const struct kvl_slow_split_ops *ops)
{
	struct kvl_command *c = &split->command;
	uint8_t text[KVL_LOCAL_MAX];

	switch (c->verdict) {
	case KVL_REQUEST_PROXY_TOKEN:
		hints_take(split);
		/* fall through */
	case KVL_REQUEST_OK:
	case KVL_REQUEST_MULTI_KEY:
		if (parts_make(split) < 0)
			error_send(split, ops, KVL_REQUEST_TABLE_FULL);
		return;
	case KVL_REQUEST_KEYLESS:
		message_send(split, ops, text,
			kvl_local_answer(
				&c->request, split->payload + c->off, c->len, NULL, 0, text));
		return;
	default:
		error_send(split, ops, c->verdict);
	}
}

/* All that can be done without waiting. */
static void go_on(struct kvl_slow_split *split, const struct kvl_slow_split_ops *ops)
{
	for (;;) {
		while (split->next < split->part_count && split->waiting < KVL_SLOW_WINDOW)
			part_ask(split, ops, split->next++);
		if (split->waiting != 0)
			return;
		if (split->part_count != 0)
			command_send(split, ops);
		parts_free(split);
		if (!kvl_command_next(split->payload, split->len, &split->at, &split->command))
			break;
		command_begin(split, ops);
	}
	kvl_slow_split_drop(split);
}

int kvl_slow_split_begin(struct kvl_slow_split *split, const struct kvl_slow_split_ops *ops,
	const uint8_t *payload, size_t len)
{
	split->payload = malloc(len);
	if (split->payload == NULL)
		return -ENOMEM;
	memcpy(split->payload, payload, len);
	split->len = len;
	split->at = KVL_FRAME_LEN;
	split->active = true;
	go_on(split, ops);
	return 0;
}

static void part_lose(struct kvl_slow_part *part)
{
	part->failed = true;
	part->why = KVL_REQUEST_NO_REPLY;
}

void kvl_slow_split_add(struct kvl_slow_split *split, uint32_t number, uint16_t sequence,
	uint16_t total, const uint8_t *data, size_t len)
{
	struct kvl_slow_part *part = &split->parts[number];
	size_t off = (size_t)sequence * DATAGRAM_DATA, end = off + len;
	uint8_t *grown;

	/* All but the last are full: so each has its place, in whatever order they come. */
	if (part->failed || len > DATAGRAM_DATA || (sequence + 1 < total && len != DATAGRAM_DATA)) {
		part_lose(part);
		return;
	}
	if (end > part->len) {
		grown = split->bytes + end - part->len > KVL_SLOW_SPLIT_BYTES
				? NULL
				: realloc(part->reply, end + 1);
		if (grown == NULL) {
			part_lose(part);
			return;
		}
		split->bytes += end - part->len;
		part->reply = grown;
		part->len = end;
	}
	if (len != 0)
		memcpy(part->reply + off, data, len);
}

void kvl_slow_split_end(struct kvl_slow_split *split, const struct kvl_slow_split_ops *ops,
	uint32_t number, bool answered)
{
	if (!answered || split->parts[number].reply == NULL)
		part_lose(&split->parts[number]);
	split->waiting--;
	go_on(split, ops);
}

void kvl_slow_split_drop(struct kvl_slow_split *split)
{
	parts_free(split);
	free(split->payload);
	*split = (struct kvl_slow_split){0};
}
