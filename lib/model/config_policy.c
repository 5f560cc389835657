/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* `clients:`, `client_rate:`, `amplification:` and `rules:` of a service. */

const struct choice consistencies[] = {
	{"eventual", KVL_EVENTUAL},
	{"strong", KVL_STRONG},
	{0},
};

static void client_walk(struct walk *w, yaml_node_t *element, const char *path, void *object)
{
	struct kvl_policy_config *p = &((struct kvl_service_config *)object)->policy;
	const char *text = walk_text(element);
	char meant[KVL_PREFIX_STRLEN];
	struct kvl_prefix prefix;
	int rc = text == NULL ? -EINVAL : kvl_prefix_parse(text, &prefix);

	if (rc == -ERANGE) {
		walk_fault(w, walk_pos(element), path, text,
			"bits are set behind the prefix; is %s meant?",
			kvl_prefix_format(&prefix, meant));
	} else if (rc < 0) {
		walk_fault(w, walk_pos(element), path, text,
			"must be a prefix, like 10.0.0.0/8 or 2001:db8::/32, or an address");
	} else {
		p->clients[p->client_count++] = prefix;
	}
}

void clients_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	/* An empty list would read as "nobody" and mean "everybody". */
	if (value->type == YAML_SEQUENCE_NODE
		&& value->data.sequence.items.start == value->data.sequence.items.top)
		walk_fault(w, walk_pos(value), path, NULL,
			"must name at least one prefix; without the list all clients are served");
	walk_list(w, value, path, KVL_CLIENTS_MAX, client_walk, object);
}

static const struct field rate_fields[] = {
	{"requests", set_uint, AT(struct kvl_client_rate, requests), .min = 1,
		.max = KVL_CLIENT_RATE_MAX, .required = true},
	{"burst", set_uint, AT(struct kvl_client_rate, burst), .min = 1,
		.max = KVL_CLIENT_RATE_MAX},
};

void client_rate_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	struct kvl_client_rate *rate = &((struct kvl_service_config *)object)->policy.client_rate;

	walk_map(w, value, path, rate_fields, 2, rate, NULL);
	if (rate->burst == 0)
		rate->burst = rate->requests;
}

static const struct field amplification_fields[] = {
	{"factor", set_uint, AT(struct kvl_amplification, factor), .min = 1, .max = 100000},
	{"burst_bytes", set_uint, AT(struct kvl_amplification, burst_bytes), .min = 1500,
		.max = 1000000000},
};

void amplification_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	struct kvl_amplification *a = &((struct kvl_service_config *)object)->policy.amplification;

	*a = (struct kvl_amplification){KVL_AMPLIFICATION_FACTOR, KVL_AMPLIFICATION_BURST};
	walk_map(w, value, path, amplification_fields, 2, a, NULL);
}

/* As much of a key as memcached's text protocol allows, and a configuration can show. */
static int set_prefix(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	size_t n = strlen(text);
	bool good = n >= 1 && n <= KVL_RULE_PREFIX_MAX;

	for (size_t i = 0; good && i < n; i++)
		good = text[i] > ' ' && text[i] < 0x7f;
	if (!good) {
		snprintf(why, size, "must be 1..%d printable characters without a space",
			KVL_RULE_PREFIX_MAX);
		return -EINVAL;
	}
	memcpy(to, text, n + 1);
	return 0;
}

enum rule_field {
	RULE_PREFIX,
	RULE_TENANT,
	RULE_CONSISTENCY,
	RULE_TIMEOUT,
	RULE_RETRIES,
	RULE_CHOICE,
	RULE_HASH_TAG,
	RULE_HASH_SEPARATOR,
	RULE_FIELDS,
};

#define FLAG(name) .flag = offsetof(struct kvl_rule_config, name)

static const struct field rule_fields[RULE_FIELDS] = {
	[RULE_PREFIX] = {"prefix", set_prefix, AT(struct kvl_rule_config, prefix),
		.required = true},
	[RULE_TENANT] = {"tenant", set_name, AT(struct kvl_rule_config, tenant)},
	[RULE_CONSISTENCY] = {"consistency", set_choice, AT(struct kvl_rule_config, consistency),
		FLAG(has_consistency), .choices = consistencies},
	[RULE_TIMEOUT] = {"timeout_ms", set_uint, AT(struct kvl_rule_config, timeout_ms),
		FLAG(has_timeout), .min = 1, .max = 60000},
	[RULE_RETRIES] = {"retries", set_uint, AT(struct kvl_rule_config, retries),
		FLAG(has_retries), .max = 5},
	[RULE_CHOICE] = {"choice", set_choice_rule, AT(struct kvl_rule_config, choice),
		FLAG(has_choice)},
	[RULE_HASH_TAG] = {"hash_tag", set_hash_tag, AT(struct kvl_rule_config, hash_rule),
		FLAG(has_hash)},
	[RULE_HASH_SEPARATOR] = {"hash_separator", set_hash_separator,
		AT(struct kvl_rule_config, hash_rule), FLAG(has_hash)},
};

static void rule_walk(struct walk *w, yaml_node_t *element, const char *path, void *object)
{
	struct kvl_policy_config *p = &((struct kvl_service_config *)object)->policy;
	struct kvl_rule_config *rule = &p->rules[p->rule_count];
	struct pos at[RULE_FIELDS];

	walk_map(w, element, path, rule_fields, RULE_FIELDS, rule, at);
	rule->tenant_line = at[RULE_TENANT].line;
	rule->tenant_column = at[RULE_TENANT].column;
	if (rule->hash_rule.open != 0 && rule->hash_rule.separator != 0)
		walk_fault(w, at[RULE_HASH_SEPARATOR], path, NULL,
			"hash_separator and hash_tag: must be one of them");
	for (size_t i = 0; i < p->rule_count; i++)
		if (rule->prefix[0] != '\0' && strcmp(p->rules[i].prefix, rule->prefix) == 0)
			walk_fault(w, at[RULE_PREFIX], path, rule->prefix,
				"prefix of rules[%zu] as well", i);
	p->rule_count++;
}

void rules_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	walk_list(w, value, path, KVL_RULES_MAX, rule_walk, object);
}
