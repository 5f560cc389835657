/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/track/client_table.h"

void kvl_client_table_init(
	struct kvl_client_table *t, struct kvl_client *clients, uint32_t count, uint64_t seed)
{
	*t = (struct kvl_client_table){clients, count / KVL_CLIENT_WAYS - 1, seed};
}

/* Who counts as one client. */
static struct kvl_addr client_address(const struct kvl_addr *address)
{
	struct kvl_addr a = *address;

	if (!kvl_addr_is_v4(&a))
		memset(a.bytes + 8, 0, 8);
	return a;
}

/* Two multiplications mix all bits into the top ones. */
static uint32_t set_of(const struct kvl_client_table *t, const struct kvl_addr *a, uint16_t service)
{
	uint64_t high, low;

	memcpy(&high, a->bytes, 8);
	memcpy(&low, a->bytes + 8, 8);
	low = (low ^ t->seed ^ service) * 0x9e3779b97f4a7c15ull;
	low = (low ^ low >> 32 ^ high) * 0xd6e8feb86659fd93ull;
	return (uint32_t)(low >> 32) & t->set_mask;
}

static void client_refill(
	struct kvl_client *c, const struct kvl_client_terms *terms, uint32_t now_ms)
{
	uint64_t passed = (uint32_t)(now_ms - c->seen);
	/* a request's thousandth a millisecond for each a second */
	uint64_t requests = c->requests + passed * terms->rate.requests;
	uint64_t burst = terms->rate.burst * 1000ull;
	/* rounded up: a small share a millisecond must not come to nothing */
	uint64_t bytes = c->bytes + (passed * terms->amplification.burst_bytes + 999) / 1000;

	c->requests = (uint32_t)(requests > burst ? burst : requests);
	c->bytes = bytes > terms->amplification.burst_bytes ? terms->amplification.burst_bytes
							    : (uint32_t)bytes;
	c->seen = now_ms;
}

static struct kvl_client *client_begin(struct kvl_client *c, const struct kvl_addr *address,
	uint16_t service, const struct kvl_client_terms *terms, uint32_t now_ms)
{
	*c = (struct kvl_client){
		.address = *address,
		.service = service + 1,
		.seen = now_ms,
		.requests = terms->rate.burst * 1000u,
		.bytes = terms->amplification.burst_bytes,
	};
	return c;
}

struct kvl_client *kvl_client_find(struct kvl_client_table *t, const struct kvl_addr *address,
	uint16_t service, const struct kvl_client_terms *terms, uint32_t now_ms, bool *evicted)
{
	const struct kvl_addr a = client_address(address);
	struct kvl_client *set = &t->clients[KVL_CLIENT_WAYS * set_of(t, &a, service)];
	struct kvl_client *oldest = set;

	*evicted = false;
	for (unsigned int i = 0; i < KVL_CLIENT_WAYS; i++) {
		struct kvl_client *c = &set[i];

		if (c->service == service + 1 && kvl_addr_eq(&c->address, &a)) {
			client_refill(c, terms, now_ms);
			return c;
		}
		if (oldest->service != 0
			&& (c->service == 0 || now_ms - c->seen > now_ms - oldest->seen))
			oldest = c;
	}
	*evicted = oldest->service != 0 && now_ms - oldest->seen < KVL_CLIENT_IDLE_MS;
	return client_begin(oldest, &a, service, terms, now_ms);
}
