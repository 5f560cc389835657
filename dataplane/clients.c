/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>

#include "dataplane/clients.h"

/* Set-up only: the control core's. */

/* A v4 prefix beyond /24 takes a group of 256 entries, a v6 one up to 13 (bytes 4..16). */
#define V6_GROUPS 13

static size_t count_of(const struct kvl_client_sets *s, bool v4)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct kvl_prefix *p = &s->entries[i].prefix;

		n += kvl_prefix_is_v4(p) == v4 && p->len != (v4 ? KVL_PREFIX_V4 : 0);
	}
	return n;
}

/* DPDK finds tables by name, so each has its own. */
static void name_make(char *name, size_t size, const char *family)
{
	static unsigned int made;

	snprintf(name, size, "kvl_clients_%s_%u", family, made++);
}

static int tables_new(struct kvl_clients *c, int socket)
{
	size_t v4 = count_of(c->source, true), v6 = count_of(c->source, false);
	char name[RTE_LPM_NAMESIZE];

	if (v4 != 0) {
		const struct rte_lpm_config config = {.max_rules = v4, .number_tbl8s = v4};

		name_make(name, sizeof(name), "v4");
		c->v4 = rte_lpm_create(name, socket, &config);
	}
	if (v6 != 0) {
		const struct rte_lpm6_config config = {
			.max_rules = v6, .number_tbl8s = V6_GROUPS * v6 + 1};

		name_make(name, sizeof(name), "v6");
		c->v6 = rte_lpm6_create(name, socket, &config);
	}
	return (v4 != 0 && c->v4 == NULL) || (v6 != 0 && c->v6 == NULL) ? -rte_errno : 0;
}

static int entry_add(struct kvl_clients *c, const struct kvl_client_entry *e)
{
	const struct kvl_prefix *p = &e->prefix;

	if (!kvl_prefix_is_v4(p)) {
		if (p->len == 0)
			c->any_v6 = c->sets[e->set];
		return p->len == 0 ? 0 : rte_lpm6_add(c->v6, p->address.bytes, p->len, e->set);
	}
	if (p->len == KVL_PREFIX_V4) {
		c->any_v4 = c->sets[e->set];
		return 0;
	}
	return rte_lpm_add(
		c->v4, rte_be_to_cpu_32(kvl_addr_v4(&p->address)), p->len - KVL_PREFIX_V4, e->set);
}

struct kvl_clients *kvl_clients_new(struct kvl_client_sets *sets, int socket)
{
	struct kvl_clients *c = calloc(1, sizeof(*c));
	int rc;

	if (c == NULL) {
		kvl_client_sets_free(sets);
		errno = ENOMEM;
		return NULL;
	}
	c->source = sets;
	c->sets = sets->sets;
	c->references = 1;
	rc = tables_new(c, socket);
	for (size_t i = 0; rc == 0 && i < sets->count; i++)
		rc = entry_add(c, &sets->entries[i]);
	if (rc == 0)
		return c;
	kvl_clients_put(c);
	errno = -rc;
	return NULL;
}

struct kvl_clients *kvl_clients_get(struct kvl_clients *c)
{
	if (c != NULL)
		c->references++;
	return c;
}

void kvl_clients_put(struct kvl_clients *c)
{
	if (c == NULL || --c->references != 0)
		return;
	rte_lpm_free(c->v4);
	rte_lpm6_free(c->v6);
	kvl_client_sets_free(c->source);
	free(c);
}
