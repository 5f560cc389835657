/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <errno.h>
#include <string.h>

/* `services:` */

static int set_placement(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	enum kvl_placement_kind *kind = to;

	if (kvl_placement_parse(text, kind) == 0)
		return 0;
	snprintf(why, size,
		"must be ring (consistent_hashing), modulo (hash_modulo), rendezvous, maglev, "
		"jump, ketama or ketama_unweighted");
	return -EINVAL;
}

/* Bytes that a key of the text protocol may have, and a configuration can show. */
static bool marks_good(const char *text, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f)
			return false;
	return strlen(text) == count;
}

int set_hash_tag(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	struct kvl_hash_rule *rule = to;

	if (strlen(text) != 2 || !marks_good(text, 2)) {
		snprintf(why, size, "must be two printable characters, like \"{}\"");
		return -EINVAL;
	}
	rule->open = text[0];
	rule->close = text[1];
	rule->on = 1;
	return 0;
}

int set_hash_separator(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	struct kvl_hash_rule *rule = to;

	if (strlen(text) != 1 || !marks_good(text, 1)) {
		snprintf(why, size, "must be one printable character, like \":\"");
		return -EINVAL;
	}
	rule->separator = text[0];
	rule->on = 1;
	return 0;
}

static const struct choice keyless[] = {
	{"local", KVL_KEYLESS_LOCAL},
	{"round_robin", KVL_KEYLESS_ROUND_ROBIN},
	{0},
};

static const struct choice partials[] = {
	{"miss", KVL_PARTIAL_MISS},
	{"error", KVL_PARTIAL_ERROR},
	{0},
};

static const struct choice modes[] = {
	{"nat", KVL_MODE_NAT},
	{"dsr", KVL_MODE_DSR},
	{0},
};

static const struct choice encapsulations[] = {
	{"none", KVL_ENCAP_NONE},
	{"ipip", KVL_ENCAP_IPIP},
	{"gue", KVL_ENCAP_GUE},
	{0},
};

const struct field service_fields[SERVICE_FIELDS] = {
	[SERVICE_NAME] = {"name", set_name, AT(struct kvl_service_config, name), .required = true},
	[SERVICE_ADDRESS] = {"address", set_address, AT(struct kvl_service_config, address),
		.required = true},
	[SERVICE_PORT] = {"port", set_uint, AT(struct kvl_service_config, port), .min = 1,
		.max = UINT16_MAX},
	[SERVICE_MODE] = {"mode", set_choice, AT(struct kvl_service_config, mode),
		.choices = modes},
	[SERVICE_ENCAPSULATION] = {"encapsulation", set_choice,
		AT(struct kvl_service_config, encapsulation), .choices = encapsulations},
	[SERVICE_GUE_PORT] = {"gue_port", set_uint, AT(struct kvl_service_config, gue_port),
		.min = 1, .max = UINT16_MAX},
	[SERVICE_POOL] = {"pool", set_name, AT(struct kvl_service_config, pool)},
	[SERVICE_PLACEMENT] = {"placement", set_placement,
		AT(struct kvl_service_config, placement.kind)},
	[SERVICE_REPLICATION] = {"replication", set_uint,
		AT(struct kvl_service_config, placement.replication), .min = 1,
		.max = KVL_REPLICATION_MAX},
	[SERVICE_VNODES] = {"vnodes", set_uint, AT(struct kvl_service_config, placement.vnodes),
		.min = 1, .max = KVL_VNODES_MAX},
	[SERVICE_SEED] = {"seed", set_uint, AT(struct kvl_service_config, placement.seed),
		.max = UINT64_MAX},
	[SERVICE_TIMEOUT] = {"timeout_ms", set_uint, AT(struct kvl_service_config, timeout_ms),
		.min = 1, .max = 60000},
	[SERVICE_SCORING] = {"scoring", .nested = scoring_walk},
	[SERVICE_KEYLESS] = {"keyless", set_choice, AT(struct kvl_service_config, keyless),
		.choices = keyless},
	[SERVICE_PARTIAL] = {"partial", set_choice, AT(struct kvl_service_config, partial),
		.choices = partials},
	[SERVICE_RETRIES] = {"retries", set_uint, AT(struct kvl_service_config, retries), .max = 5},
	[SERVICE_HASH_TAG] = {"hash_tag", set_hash_tag, AT(struct kvl_service_config, hash_rule)},
	[SERVICE_HASH_SEPARATOR] = {"hash_separator", set_hash_separator,
		AT(struct kvl_service_config, hash_rule)},
	[SERVICE_CLIENTS] = {"clients", .nested = clients_walk},
	[SERVICE_CLIENT_RATE] = {"client_rate", .nested = client_rate_walk},
	[SERVICE_AMPLIFICATION] = {"amplification", .nested = amplification_walk},
	[SERVICE_CONSISTENCY] = {"consistency", set_choice,
		AT(struct kvl_service_config, policy.consistency), .choices = consistencies},
	[SERVICE_MAX_VERSION_LAG] = {"max_version_lag", set_uint,
		AT(struct kvl_service_config, policy.max_version_lag),
		.flag = offsetof(struct kvl_service_config, policy.has_version_lag),
		.max = UINT32_MAX - 1},
	[SERVICE_MAX_IN_FLIGHT] = {"max_in_flight", set_uint,
		AT(struct kvl_service_config, policy.max_in_flight), .min = 1, .max = 1000000},
	[SERVICE_RULES] = {"rules", .nested = rules_walk},
};

static const struct kvl_service_config service_default = {
	.port = 11211,
	.mode = KVL_MODE_NAT,
	.gue_port = KVL_GUE_PORT,
	.pool = "default",
	.placement =
		{
			.kind = KVL_PLACE_RING,
			.replication = 1,
			.vnodes = KVL_VNODES_DEFAULT,
		},
	.timeout_ms = 1000,
	.retries = 2,
};

/* Against one that stands before. Returns whether something was said: once is enough. */
static bool service_compare(
	struct walk *w, const struct service_draft *o, const struct service_draft *s)
{
	const struct kvl_service_config *a = &o->config, *b = &s->config;

	if (b->name[0] != '\0' && strcmp(a->name, b->name) == 0) {
		walk_fault(w, s->at[SERVICE_NAME], s->path, b->name, "name of %s as well", o->path);
		return true;
	}
	if (!o->faulty && !s->faulty && kvl_addr_eq(&a->address, &b->address)
		&& a->port == b->port) {
		walk_fault(w, s->at[SERVICE_ADDRESS], s->path, NULL,
			"address and port of %s as well", o->path);
		return true;
	}
	return false;
}

static void service_walk(struct walk *w, yaml_node_t *element, const char *path, void *object)
{
	struct draft *d = object;
	struct service_draft *s = &d->services[d->service_count];

	s->config = service_default;
	s->config.scoring = scoring_default();
	s->config.line = walk_pos(element).line;
	snprintf(s->path, sizeof(s->path), "%s", path);
	w->faulty = false;
	walk_map(w, element, path, service_fields, SERVICE_FIELDS, &s->config, s->at);
	s->faulty = w->faulty;
	for (size_t i = 0; i < d->service_count; i++)
		if (service_compare(w, &d->services[i], s))
			break;
	d->service_count++;
}

void services_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	walk_list(w, value, path, KVL_SERVICES_MAX, service_walk, object);
}
