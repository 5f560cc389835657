/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/config.h"
#include "tests/fuzz/fuzz.h"

/*
 * Any bytes as a configuration. Beyond memory errors, what the header promises must hold: NULL
 * only with an error said, a configuration only without one, and nothing in it out of its range.
 */
static void require(int condition)
{
	if (!condition)
		abort();
}

static void text_check(const char *text, size_t size)
{
	require(memchr(text, '\0', size) != NULL && text[0] != '\0');
}

static void diags_check(const struct kvl_diags *diags)
{
	require(diags->count <= KVL_DIAGS_MAX);
	require(diags->dropped == 0 || diags->count == KVL_DIAGS_MAX);
	for (size_t i = 0; i < diags->count; i++)
		text_check(diags->list[i].text, sizeof(diags->list[i].text));
}

static void services_check(const struct kvl_config *c)
{
	require(c->service_count <= KVL_SERVICES_MAX);
	for (size_t i = 0; i < c->service_count; i++) {
		const struct kvl_service_config *s = &c->services[i];

		text_check(s->name, sizeof(s->name));
		text_check(s->pool, sizeof(s->pool));
		require(s->port != 0 && s->timeout_ms >= 1 && s->timeout_ms <= 60000);
		require(s->placement.replication >= 1
			&& s->placement.replication <= KVL_REPLICATION_MAX);
		require(s->placement.vnodes >= 1 && s->placement.vnodes <= KVL_VNODES_MAX);
	}
}

static void nodes_check(const struct kvl_config *c)
{
	require(c->node_count <= c->router.max_nodes);
	for (size_t i = 0; i < c->node_count; i++) {
		const struct kvl_node_config *n = &c->nodes[i];

		text_check(n->id, sizeof(n->id));
		text_check(n->host, sizeof(n->host));
		text_check(n->zone, sizeof(n->zone));
		text_check(n->pool, sizeof(n->pool));
		require(n->port != 0 && n->weight >= 1 && n->weight <= 10000);
		require(i == 0 || strcmp(c->nodes[i - 1].id, n->id) < 0);
	}
}

static void config_check(const struct kvl_config *c)
{
	const struct kvl_router_config *r = &c->router;
	const uint32_t ports = (uint32_t)r->snat_last - r->snat_first + 1;

	require(r->workers >= 1 && r->workers <= KVL_WORKERS_MAX);
	require((r->pending_slots & (r->pending_slots - 1)) == 0 && r->pending_slots >= 1024);
	require(ports >= 1024 && (ports & (ports - 1)) == 0 && r->snat_first % ports == 0);
	require(c->port_count >= 1 && c->port_count <= KVL_PORTS_MAX);
	services_check(c);
	nodes_check(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct kvl_diags diags;
	struct kvl_config *c = kvl_config_parse((const char *)data, size, "fuzz", &diags);

	diags_check(&diags);
	require((c == NULL) == (diags.errors > 0));
	if (c != NULL)
		config_check(c);
	kvl_config_free(c);
	return 0;
}
