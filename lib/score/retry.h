/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/score/bucket.h"

/*
 * Failover's arithmetic (SPEC 7): how long to wait for a node, whether a request may be tried
 * elsewhere, how much a node may have outstanding. Integers only, no allocation, no clock: usable
 * on a worker. Which node comes next is a draw without those tried.
 */
struct kvl_retry_params {
	uint32_t timeout_floor_us; /* of one try; default 5000 */
	uint32_t timeout_cap_us;   /* the service's timeout; default 1000000 */
	uint32_t retries_most;     /* per request; default 2 */
	uint32_t deadline_us;      /* of the whole request; default 2000000 */
	uint32_t budget_percent;   /* retries per requests, of a service; default 10 */
	uint32_t key_rate;         /* retries a second of one key; default 2 */
};

struct kvl_retry_params kvl_retry_defaults(void);

#define KVL_RETRY_P99 2 /* times its p99 a node is waited for */

/* Of one try at a node: twice its p99 (p99 50 ms => 100 ms) between floor and cap; the cap as long
 * as its p99 is not known (NAN or 0). */
uint32_t kvl_retry_timeout_us(const struct kvl_retry_params *params, double p99_us);

/* Jitter of a try's start: 0 up to a tenth of the timeout, so that a node's silence does not turn
 * into a burst at the next one. `random`: 32 uniform bits. */
uint32_t kvl_retry_jitter_us(uint32_t timeout_us, uint32_t random);

/*
 * The budget of a service, of one worker: each request earns budget_percent hundredths of a retry,
 * at most KVL_RETRY_SAVED of them are saved. Counted by requests, not time, so that it is 10% of
 * whatever the traffic is; an outage cannot multiply the load by more than 1.1.
 */
#define KVL_RETRY_SAVED 100

struct kvl_retry_budget {
	uint32_t hundredths;
};

void kvl_retry_earn(struct kvl_retry_budget *b, const struct kvl_retry_params *params);

/*
 * Budgets by key, in a table of fixed size: a slot's bucket is shared by the keys whose hashes fall
 * on it, so that a collision may refuse a retry and never grants one too many. A power of two of
 * slots, 24 bytes each, the caller's memory.
 */
struct kvl_retry_keys {
	struct kvl_bucket *slots;
	uint32_t mask;
};

void kvl_retry_keys_init(struct kvl_retry_keys *keys, struct kvl_bucket *slots, uint32_t count,
	const struct kvl_retry_params *params, uint64_t now_ms);

/* Why a request is not tried again. */
enum kvl_retry_verdict {
	KVL_RETRY_YES,
	KVL_RETRY_NOT_IDEMPOTENT, /* incr, append, cas...: the client gets the error */
	KVL_RETRY_TRIES,          /* retries_most were made */
	KVL_RETRY_DEADLINE,       /* another try could not end in time */
	KVL_RETRY_BUDGET,         /* the service's */
	KVL_RETRY_KEY_BUDGET,
	KVL_RETRY_VERDICTS,
};

struct kvl_retry_request {
	bool idempotent;
	uint32_t tries;      /* so far, the first one counted */
	uint32_t elapsed_us; /* since the request came */
	uint32_t
		needed_us; /* by the next try at least: its node's p99, else it would only be charged */
	uint64_t key_hash;
};

/* Decides, and takes from the budgets when the verdict is YES. `keys` may be NULL. */
enum kvl_retry_verdict kvl_retry_decide(const struct kvl_retry_params *params,
	const struct kvl_retry_request *request, struct kvl_retry_budget *budget,
	struct kvl_retry_keys *keys, uint64_t now_ms);

const char *kvl_retry_name(enum kvl_retry_verdict verdict); /* "yes", "budget"... */
