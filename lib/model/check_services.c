/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <string.h>

/* Services against the router's settings, its ports and each other. */

static bool snat_given(const struct draft *d)
{
	for (size_t i = 0; i < d->port_count; i++)
		if (d->ports[i].has_snat[KVL_IPV4] || d->ports[i].has_snat[KVL_IPV6])
			return true;
	return false;
}

/* On an address that is also a source address, a service's port must not look like a reply's. */
static void snat_overlap_check(struct draft *d, struct walk *w, const struct service_draft *s)
{
	const struct kvl_router_config *r = &d->config->router;
	char text[8];

	for (size_t i = 0; i < d->port_count; i++) {
		if (!kvl_port_has_snat(&d->ports[i], &s->config.address)
			|| s->config.port < r->snat_first || s->config.port > r->snat_last)
			continue;
		snprintf(text, sizeof(text), "%u", s->config.port);
		walk_fault(w, s->at[SERVICE_PORT], s->path, text,
			"within router.snat_ports on the snat address of port %s",
			d->ports[i].name);
	}
}

/* No node could have the ports of both. */
static void dsr_pool_check(const struct draft *d, struct walk *w, size_t which)
{
	const struct service_draft *s = &d->services[which];

	for (size_t i = 0; i < which; i++) {
		const struct service_draft *o = &d->services[i];

		if (!o->faulty && s->config.mode == KVL_MODE_DSR && o->config.mode == KVL_MODE_DSR
			&& strcmp(s->config.pool, o->config.pool) == 0
			&& s->config.port != o->config.port)
			walk_fault(w, s->at[SERVICE_PORT], s->path, NULL,
				"dsr on port %u, and %s is dsr on port %u of the same pool %s",
				s->config.port, o->path, o->config.port, s->config.pool);
	}
}

void services_check(struct draft *d, struct walk *w)
{
	for (size_t i = 0; i < d->service_count; i++) {
		const struct service_draft *s = &d->services[i];

		if (s->faulty)
			continue;
		if (s->config.mode == KVL_MODE_NAT && !snat_given(d))
			walk_fault(w, s->at[SERVICE_MODE], s->path, NULL,
				"mode nat needs a port with a snat address, and none has");
		if (s->config.mode != KVL_MODE_DSR && s->config.encapsulation != KVL_ENCAP_NONE)
			walk_fault(w, s->at[SERVICE_ENCAPSULATION], s->path, NULL,
				"encapsulation is for mode dsr: nat changes the addresses, which "
				"crosses routers by itself");
		if (s->config.encapsulation != KVL_ENCAP_NONE && !snat_given(d))
			walk_fault(w, s->at[SERVICE_ENCAPSULATION], s->path, NULL,
				"encapsulation needs a port with a snat address to send from, and "
				"none has");
		if (s->config.hash_rule.open != 0 && s->config.hash_rule.separator != 0)
			walk_fault(w, s->at[SERVICE_HASH_SEPARATOR], s->path, NULL,
				"hash_separator and hash_tag: must be one of them");
		snat_overlap_check(d, w, s);
		dsr_pool_check(d, w, i);
	}
}
