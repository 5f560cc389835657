/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/model/endpoint.h"
#include "lib/score/histogram.h"

/*
 * kvload: a memcached client over UDP that offers a steady load and checks every reply. It knows
 * what each key's value must be, so a reply that belongs to another request, or to nobody, shows.
 */
#define KVLOAD_IDS     65536 /* request ids, all in use at most once at a time */
#define KVLOAD_VALUE   65536
#define KVLOAD_PAYLOAD 1392 /* of a memcached reply datagram, behind the frame */

struct kvload_options {
	struct kvl_endpoint target;
	const char *bind_address; /* NULL: any */
	uint32_t keys;
	uint32_t first_key;
	uint32_t rate; /* requests a second; 0: closed loop with `window` in flight */
	uint32_t window;
	double seconds;
	uint64_t count; /* 0: as many as the time allows */
	uint32_t set_percent;
	uint32_t value_size;
	uint32_t timeout_ms;
	bool prefill; /* set every key once first, waiting for each, with retries */
	bool fill;    /* set a key that was missed, as a cache's user does */
	bool noreply; /* sets ask for no reply */
	bool meta;    /* mg and ms instead of get and set */
	uint64_t seed;
};

struct kvload_counts {
	uint64_t sent, answered;
	uint64_t hits, misses, stored;
	uint64_t errors; /* ERROR, CLIENT_ERROR, SERVER_ERROR */
	uint64_t wrong;  /* another key's value, a broken one, or a reply of the wrong kind */
	uint64_t stray;  /* datagrams of no request in flight: late or duplicated */
	uint64_t timeouts;
	uint64_t send_failed;
	struct kvl_histogram latency;
};

/* One request in flight, by its id. */
struct kvload_request {
	bool active, set;
	uint32_t key;
	uint64_t sent_us;
	uint16_t total, got; /* datagrams of the reply */
	size_t length;       /* bytes so far */
	uint8_t *reply;      /* of several datagrams only: KVLOAD_VALUE + slack */
	uint64_t seen[16];   /* sequences */
};

/* kvload_text.c: requests and replies as text. */

/* Writes frame and command; returns the length. */
size_t kvload_request_write(
	const struct kvload_options *o, uint16_t id, uint32_t key, bool set, uint8_t *out);

enum kvload_verdict {
	KVLOAD_HIT,
	KVLOAD_MISS,
	KVLOAD_STORED,
	KVLOAD_ERROR,
	KVLOAD_WRONG,
};

/* Judges a whole reply (without frames). */
enum kvload_verdict kvload_reply_judge(const struct kvload_options *o, uint32_t key, bool set,
	const uint8_t *reply, size_t length);
