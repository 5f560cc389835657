/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/admit.h"
#include "dataplane/message.h"
#include "lib/proto/part.h"

/* What the client gets for each command of a wave. */

static struct kvl_request part_request(const struct kvl_part *part)
{
	return (struct kvl_request){.proto = part->proto,
		.op = part->op,
		.kind = part->kind,
		.flags = part->request_flags};
}

/* The value block of a retrieval's part, which is what node replies to one key are about. */
static int64_t part_values(const struct kvl_merge_table *t, const struct kvl_part *part)
{
	uint8_t head[KVL_RETRIEVAL_HEAD], tail[KVL_RETRIEVAL_TAIL];
	size_t len;

	if (part->state != KVL_PART_DONE)
		return -1;
	len = kvl_part_size(t, part);
	kvl_part_read(t, part, 0, sizeof(head), head);
	if (len >= sizeof(tail))
		kvl_part_read(t, part, len - sizeof(tail), sizeof(tail), tail);
	return kvl_part_values(head, tail, len);
}

/* Parts whose reply is no value and no miss are failed ones. Returns whether any part failed. */
static bool retrieval_judge(struct kvl_worker *w, uint32_t first)
{
	struct kvl_part *part;
	bool failed = false;
	uint32_t i = first;

	do {
		part = &w->merges.parts[i];
		if (part_values(&w->merges, part) < 0) {
			part->state = KVL_PART_FAILED;
			kvl_count(&w->counters.unanswered, part->repeat);
			failed = true;
		}
		i = part->next;
	} while (!(part->flags & KVL_PART_LAST));
	return failed;
}

/* A part of the command that failed, one that was refused before others; NULL. */
static const struct kvl_part *failed_part(const struct kvl_merge_table *t, uint32_t first)
{
	const struct kvl_part *failed = NULL, *part;
	uint32_t i = first;

	do {
		part = &t->parts[i];
		if (part->state == KVL_PART_FAILED
			&& (failed == NULL || kvl_verdict_refused(part->why)))
			failed = part;
		i = part->next;
	} while (!(part->flags & KVL_PART_LAST));
	return failed;
}

static bool is_refused(const struct kvl_merge_table *t, uint32_t first)
{
	const struct kvl_part *part = &t->parts[first];

	if (part->flags & KVL_PART_VALUES)
		part = failed_part(t, first);
	return part != NULL && part->state == KVL_PART_FAILED && kvl_verdict_refused(part->why);
}

/* That failure tells why. */
static void retrieval_error(struct kvl_message *msg, uint32_t first)
{
	const struct kvl_part *part = failed_part(&msg->w->merges, first);
	uint8_t text[KVL_UNANSWERED_MAX];
	struct kvl_request req;

	req = part_request(part);
	kvl_message_add(
		msg, text, kvl_command_answer(part->why, &req, msg->m->request + part->off, text));
}

static void retrieval_add(struct kvl_message *msg, uint32_t first)
{
	const struct kvl_merge_table *t = &msg->w->merges;
	const struct kvl_part *part;
	uint32_t i = first;

	do {
		part = &t->parts[i];
		for (unsigned int n = 0; part->state == KVL_PART_DONE && n < part->repeat; n++)
			kvl_message_add_part(msg, part, part_values(t, part));
		i = part->next;
	} while (!(part->flags & KVL_PART_LAST));
	kvl_message_add(msg, "END\r\n", 5);
}

/* A single key's reply that says neither value nor miss is the node's word, and passes. */
static bool reply_passes(struct kvl_worker *w, uint32_t first)
{
	const struct kvl_part *part = &w->merges.parts[first];

	return (part->flags & KVL_PART_LAST) && part->state == KVL_PART_DONE && part->repeat == 1;
}

static void plain_add(struct kvl_message *msg, const struct kvl_part *part, bool miss)
{
	struct kvl_request req = part_request(part);
	uint8_t text[KVL_UNANSWERED_MAX];
	size_t len = 0;

	if (part->state == KVL_PART_DONE) {
		len = kvl_part_read(&msg->w->merges, part, 0, 2, text);
		if ((part->flags & KVL_PART_LOCAL)
			|| !kvl_part_hidden(part->proto, part->op, part->request_flags, text, len))
			kvl_message_add_part(msg, part, SIZE_MAX);
		return;
	}
	len = kvl_part_unanswered(part->why, miss, &req, msg->m->request + part->off, text);
	kvl_message_add(msg, text, len);
}

/* One message; `failed`: some part of a retrieval is. */
static void command_add(struct kvl_message *msg, uint32_t first, bool failed, bool partial_error)
{
	const struct kvl_part *part = &msg->w->merges.parts[first];

	if (!(part->flags & KVL_PART_VALUES))
		plain_add(msg, part, !partial_error);
	else if (failed && partial_error)
		retrieval_error(msg, first);
	else
		retrieval_add(msg, first);
}

/* Equal keys are asked once, so a few bytes of request could ask for any amount of reply. */
static void huge_send(struct kvl_message *msg, const struct kvl_part *part)
{
	struct kvl_request req = part_request(part);
	uint8_t text[KVL_UNANSWERED_MAX];
	size_t len =
		kvl_command_answer(KVL_REQUEST_REPLY_HUGE, &req, msg->m->request + part->off, text);

	kvl_count(&msg->w->counters.answered[KVL_REQUEST_REPLY_HUGE], 1);
	kvl_message_begin(msg, msg->w, msg->m);
	kvl_message_add(msg, text, len);
	if (!kvl_message_measured(msg))
		return;
	kvl_message_add(msg, text, len);
	kvl_message_end(msg);
}

/* `service` may be NULL: it has gone. */
static void command_send(struct kvl_worker *w, const struct kvl_root *root,
	const struct kvl_root_service *service, const struct kvl_merge *m, uint32_t first)
{
	bool partial_error = service != NULL && service->partial == KVL_PARTIAL_ERROR;
	struct kvl_part *part = &w->merges.parts[first];
	struct kvl_message msg;
	bool failed = false;

	/* Told as such, whatever is to be told of keys without an answer. */
	partial_error |= is_refused(&w->merges, first);
	if (!(part->flags & KVL_PART_VALUES)) {
		if (part->state == KVL_PART_FAILED)
			kvl_count(&w->counters.unanswered, 1);
	} else if (!reply_passes(w, first)) {
		failed = retrieval_judge(w, first);
	} else if (part_values(&w->merges, part) < 0) {
		part->flags &= ~KVL_PART_VALUES;
	}
	kvl_message_begin(&msg, w, m);
	command_add(&msg, first, failed, partial_error);
	if (unlikely(msg.size > KVL_MESSAGE_MAX)) {
		huge_send(&msg, part);
		return;
	}
	if (unlikely(root->policies & KVL_POLICY_GUARD)
		&& !kvl_admit_message(w, root, service, &m->client, KVL_FRAME_LEN + msg.size))
		return;
	if (!kvl_message_measured(&msg))
		return;
	command_add(&msg, first, failed, partial_error);
	kvl_message_end(&msg);
}

void kvl_compose(struct kvl_worker *w, const struct kvl_root *root, const struct kvl_merge *m)
{
	const struct kvl_root_service *service =
		kvl_root_service_at(root, &m->vip, rte_be_to_cpu_16(m->vip_port));
	uint32_t i = m->head;

	while (i != KVL_PART_NONE) {
		command_send(w, root, service, m, i);
		while (!(w->merges.parts[i].flags & KVL_PART_LAST))
			i = w->merges.parts[i].next;
		i = w->merges.parts[i].next;
	}
}
