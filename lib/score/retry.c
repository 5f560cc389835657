/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stddef.h>

#include "lib/score/retry.h"

#define JITTER_PART 10

struct kvl_retry_params kvl_retry_defaults(void)
{
	return (struct kvl_retry_params){
		.timeout_floor_us = 5000,
		.timeout_cap_us = 1000000,
		.retries_most = 2,
		.deadline_us = 2000000,
		.budget_percent = 10,
		.key_rate = 2,
	};
}

uint32_t kvl_retry_timeout_us(const struct kvl_retry_params *params, double p99_us)
{
	double timeout = KVL_RETRY_P99 * p99_us;

	if (!(timeout > 0) || timeout >= params->timeout_cap_us)
		return params->timeout_cap_us;
	return timeout < params->timeout_floor_us ? params->timeout_floor_us : (uint32_t)timeout;
}

uint32_t kvl_retry_jitter_us(uint32_t timeout_us, uint32_t random)
{
	return (uint32_t)(((uint64_t)(timeout_us / JITTER_PART) * random) >> 32);
}

void kvl_retry_earn(struct kvl_retry_budget *b, const struct kvl_retry_params *params)
{
	b->hundredths += params->budget_percent;
	if (b->hundredths > KVL_RETRY_SAVED * 100)
		b->hundredths = KVL_RETRY_SAVED * 100;
}

void kvl_retry_keys_init(struct kvl_retry_keys *keys, struct kvl_bucket *slots, uint32_t count,
	const struct kvl_retry_params *params, uint64_t now_ms)
{
	*keys = (struct kvl_retry_keys){slots, count - 1};
	for (uint32_t i = 0; i < count; i++)
		kvl_bucket_init(&slots[i], params->key_rate, params->key_rate, now_ms);
}

/* By the hash's low half: its top bits chose the ring's token, and are alike for a node's keys. */
static struct kvl_bucket *key_bucket(const struct kvl_retry_keys *keys, uint64_t hash)
{
	return &keys->slots[(uint32_t)hash & keys->mask];
}

static enum kvl_retry_verdict may_retry(
	const struct kvl_retry_params *params, const struct kvl_retry_request *request)
{
	if (!request->idempotent)
		return KVL_RETRY_NOT_IDEMPOTENT;
	if (request->tries > params->retries_most)
		return KVL_RETRY_TRIES;
	if ((uint64_t)request->elapsed_us + request->needed_us > params->deadline_us)
		return KVL_RETRY_DEADLINE;
	return KVL_RETRY_YES;
}

enum kvl_retry_verdict kvl_retry_decide(const struct kvl_retry_params *params,
	const struct kvl_retry_request *request, struct kvl_retry_budget *budget,
	struct kvl_retry_keys *keys, uint64_t now_ms)
{
	enum kvl_retry_verdict verdict = may_retry(params, request);

	if (verdict != KVL_RETRY_YES)
		return verdict;
	if (budget->hundredths < 100)
		return KVL_RETRY_BUDGET;
	/* The key's last: what it takes is not given back. */
	if (keys != NULL && !kvl_bucket_take(key_bucket(keys, request->key_hash), now_ms))
		return KVL_RETRY_KEY_BUDGET;
	budget->hundredths -= 100;
	return KVL_RETRY_YES;
}

const char *kvl_retry_name(enum kvl_retry_verdict verdict)
{
	static const char *const names[KVL_RETRY_VERDICTS] = {
		[KVL_RETRY_YES] = "yes",
		[KVL_RETRY_NOT_IDEMPOTENT] = "not_idempotent",
		[KVL_RETRY_TRIES] = "tries",
		[KVL_RETRY_DEADLINE] = "deadline",
		[KVL_RETRY_BUDGET] = "budget",
		[KVL_RETRY_KEY_BUDGET] = "key_budget",
	};

	return verdict < KVL_RETRY_VERDICTS ? names[verdict] : "unknown";
}
