/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/test_split.h"

struct asked asked[ASKED_MAX];
unsigned int asked_count;

void send_bytes(const void *payload, size_t len)
{
	struct packet in = {REQUEST, .payload = payload, .payload_len = len};

	world_run(0, 0, &in, 1);
}

void asked_take(void)
{
	struct rte_mbuf *mbuf;

	for (asked_count = 0; (mbuf = world_sent(0, 1)) != NULL; asked_count++) {
		struct asked *a = &asked[asked_count];
		struct packet want = {
			.from_mac = LANE1_MAC, .payload = a->text, .dont_fragment = true};
		struct kvl_packet p;

		kvl_packet_begin(&p, mbuf, 0);
		a->len = mbuf->data_len - KVL_HEADERS_V4 - KVL_FRAME_LEN;
		memcpy(a->text, kvl_packet_payload(&p) + KVL_FRAME_LEN, a->len);
		a->text[a->len] = '\0';
		mbuf->refcnt++; /* world_node_of() frees it, and the bytes are wanted after that */
		a->at.node = world_node_of(mbuf, &a->at.wire);
		world_asked_fill(&a->at);
		want.to_mac = a->at.mac;
		want.from = a->at.snat_text;
		want.to = a->at.node_text;
		want.id = a->at.wire.id;
		want.payload_len = a->len;
		world_expect(mbuf, &want);
	}
}

void ask_bytes(const void *payload, size_t len)
{
	send_bytes(payload, len);
	asked_take();
}

void ask(const char *text)
{
	ask_bytes(text, strlen(text));
}

struct asked *asked_of(const char *text)
{
	for (unsigned int i = 0; i < asked_count; i++)
		if (strcmp(asked[i].text, text) == 0)
			return &asked[i];
	fail_msg("nobody was asked: %s", text);
	return NULL;
}

void reply_datagram(const struct asked *a, const void *data, size_t len, int sequence, int total)
{
	struct packet r = world_reply(&a->at, data);

	r.payload_len = len;
	r.sequence = sequence;
	r.total = total;
	world_run(0, 1, &r, 1);
}

void reply(const char *asked_text, const char *text)
{
	reply_datagram(asked_of(asked_text), text, strlen(text), 0, 1);
}

void client_gets_datagram(const void *data, size_t len, int sequence, int total)
{
	struct packet want = {
		ANSWER, .sequence = sequence, .total = total, .payload = data, .payload_len = len};

	world_expect(world_sent(0, 0), &want);
}

void client_gets(const char *text)
{
	client_gets_datagram(text, strlen(text), 0, 1);
}

void client_gets_nothing(void)
{
	assert_null(world_sent(0, 0));
}

void all_is_done(void)
{
	const struct kvl_worker *w = world_workers[0];

	client_gets_nothing();
	assert_null(world_sent(0, 1));
	assert_int_equal(w->merges.merges_used, 0);
	assert_int_equal(w->merges.parts_reserved, 0);
	assert_int_equal(w->merges.chunks_used, 0);
	assert_int_equal(w->pending.free_count, w->pending.size);
	for (unsigned int n = 0; n < WORLD_NODES; n++)
		assert_int_equal(kvl_pulse_in_flight(&w->pulses[n]), 0);
	world_check_conservation();
}
