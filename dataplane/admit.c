/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/admit.h"
#include "dataplane/clients.h"

static struct kvl_client *client_find(struct kvl_worker *w, const struct kvl_addr *address,
	uint16_t service, const struct kvl_client_terms *terms)
{
	struct kvl_client *c;
	bool evicted;

	c = kvl_client_find(&w->clients, address, service, terms, w->tick, &evicted);
	if (unlikely(evicted))
		kvl_count(&w->counters.clients_evicted, 1);
	return c;
}

static struct kvl_client_terms terms_of(const struct kvl_root_policy *policy)
{
	return (struct kvl_client_terms){policy->client_rate, policy->amplification};
}

static enum kvl_drop request_check(
	struct kvl_worker *w, const struct kvl_root *root, const struct kvl_packet *p)
{
	const struct kvl_root_policy *policy = kvl_root_policy(root, p->service);
	const struct kvl_client_terms terms = terms_of(policy);
	const struct kvl_addr source = kvl_packet_source(p, p->v6);

	if (policy->clients_listed
		&& !(kvl_clients_services(root->clients, &source) >> policy->client_bit & 1))
		return KVL_DROP_CLIENT_DENIED;
	if (terms.rate.requests == 0 && terms.amplification.factor == 0)
		return KVL_DROP_COUNT;
	return kvl_client_request(
		       client_find(w, &source, p->service->number, &terms), &terms, p->payload_len)
		       ? KVL_DROP_COUNT
		       : KVL_DROP_CLIENT_RATE;
}

void kvl_admit_requests(struct kvl_worker *w, const struct kvl_root *root, struct kvl_list *list)
{
	unsigned int admitted = 0;

	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];
		enum kvl_drop why = KVL_DROP_COUNT;

		if (p->service->policy & KVL_POLICY_GUARD)
			why = request_check(w, root, p);
		if (why == KVL_DROP_COUNT)
			list->packets[admitted++] = p;
		else
			kvl_packet_drop(w, p, why);
	}
	list->count = admitted;
}

/* May the client get so many bytes from the service? */
static bool bytes_check(struct kvl_worker *w, const struct kvl_root *root,
	const struct kvl_root_service *service, const struct kvl_addr *client, uint64_t len)
{
	struct kvl_client_terms terms;

	/* A service that has just gone asks for nothing any more. */
	if (service == NULL || !(service->policy & KVL_POLICY_GUARD))
		return true;
	terms = terms_of(kvl_root_policy(root, service));
	return terms.amplification.factor == 0
	       || kvl_client_reply(client_find(w, client, service->number, &terms), len);
}

void kvl_admit_replies(struct kvl_worker *w, const struct kvl_root *root, struct kvl_list *list)
{
	unsigned int admitted = 0;

	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];
		/* A slot just given back keeps these until it is taken again. */
		const struct kvl_slot *s = &w->pending.slots[p->slot];

		if (bytes_check(w, root, kvl_root_service_numbered(root, s->service), &s->client,
			    p->payload_len))
			list->packets[admitted++] = p;
		else
			kvl_packet_drop(w, p, KVL_DROP_AMPLIFICATION);
	}
	list->count = admitted;
}

void kvl_admit_answers(struct kvl_worker *w, const struct kvl_root *root, struct kvl_list *list)
{
	unsigned int admitted = 0;

	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];
		const struct kvl_addr client = kvl_packet_destination(p, p->v6);

		if (bytes_check(w, root, kvl_root_service_numbered(root, p->service->number),
			    &client, p->mbuf->data_len - kvl_packet_headers(p)))
			list->packets[admitted++] = p;
		else
			kvl_packet_drop(w, p, KVL_DROP_AMPLIFICATION);
	}
	list->count = admitted;
}

bool kvl_admit_message(struct kvl_worker *w, const struct kvl_root *root,
	const struct kvl_root_service *service, const struct kvl_addr *client, uint64_t len)
{
	if (likely(bytes_check(w, root, service, client, len)))
		return true;
	kvl_count(&w->counters.withheld, 1);
	return false;
}
