/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/api/commands.h"
#include "ctrl/api/format.h"
#include "ctrl/api/route_terms.h"
#include "ctrl/core/router.h"
#include "lib/proto/base64.h"
#include "lib/proto/request.h"
#include "lib/ring/hash.h"
#include "lib/ring/lookup.h"

/*
 * Why does a key go where it goes? Walks the same root, row and weights that the workers read. The
 * key itself is neither logged nor echoed.
 */
struct decision {
	const struct kvl_router *router;
	const struct kvl_topology_service *service;
	uint64_t hash;
	uint32_t token;
	const struct kvl_row *row;
	const struct kvl_root *root;
	struct route_terms terms;
	const uint16_t
		*weights; /* of the class that a read is drawn by; root->node_count of them */
	uint32_t replication;
	uint32_t drawn; /* a read is drawn among so many */
	bool in_spite;  /* all speak against themselves: taken in spite of that */
	uint32_t sum;   /* weights of the candidates that a read is drawn among */
};

static int key_decode(
	const char *text, size_t len, const char *encoding, uint8_t *key, size_t *key_len)
{
	int n;

	if (encoding == NULL || strcmp(encoding, "text") == 0) {
		if (len == 0 || len > KVL_KEY_MAX)
			return -EINVAL;
		memcpy(key, text, len);
		*key_len = len;
		return 0;
	}
	/* As memcached clients must write it; room for a longest key, padded. */
	if (strcmp(encoding, "base64") != 0 || len > (KVL_KEY_MAX + 2) / 3 * 4
		|| !base64_key_valid((const uint8_t *)text, len))
		return -EINVAL;
	n = (int)base64_key_decode((const uint8_t *)text, len, key);
	*key_len = (size_t)n;
	return n == 0 || n > KVL_KEY_MAX ? -EINVAL : 0;
}

/* The topology may be newer than the root, until that is published; then what is new is out. */
static uint16_t weight_of(const struct decision *d, unsigned int place)
{
	uint16_t node = d->row->node[place];

	return node < d->root->node_count ? d->weights[node] : 0;
}

static enum kvl_filter filter_of(const struct decision *d, unsigned int place)
{
	return d->in_spite ? KVL_FILTER_IN
			   : route_terms_filter(d->router, &d->terms, d->row->node[place]);
}

static bool candidate_is_in(const struct decision *d, unsigned int place)
{
	return weight_of(d, place) != 0 && filter_of(d, place) == KVL_FILTER_IN;
}

/* The places of the row that a read is drawn among: the first N that are in. */
static bool candidate_is_drawn(const struct decision *d, unsigned int place)
{
	unsigned int before = 0;

	for (unsigned int i = 0; i < place; i++)
		before += candidate_is_in(d, i);
	return candidate_is_in(d, place) && before < d->drawn;
}

static json_t *node_identity(const struct kvl_node *node)
{
	return json_pack("{s:s, s:s, s:s}", "id", node->config.id, "host", node->config.host,
		"zone", node->config.zone);
}

/* The node's own reason, else the request's. */
static const char *reason_of(const struct decision *d, unsigned int place)
{
	const struct kvl_node *node = &d->router->nodes.list[d->row->node[place]];

	return node->reason != NULL ? node->reason : route_filter_text(filter_of(d, place));
}

static json_t *candidate_object(const struct decision *d, unsigned int place)
{
	uint16_t number = d->row->node[place];
	const struct kvl_node *node = &d->router->nodes.list[number];
	const struct kvl_scored_node *scored = node->scored;
	double probability =
		candidate_is_drawn(d, place) ? (double)weight_of(d, place) / d->sum : 0;
	json_t *object = node_identity(node);

	json_object_update_new(
		object, json_pack("{s:b, s:b, s:o, s:s, s:f, s:i, s:f}", "preferred",
				place < d->replication, "eligible", candidate_is_in(d, place),
				"reason", kvl_json_text(reason_of(d, place)), "state",
				scored == NULL ? "unused" : kvl_health_name(scored->health.state),
				"score", scored == NULL ? 0.0 : scored->breakdown[0].score,
				"weight", (int)weight_of(d, place), "probability", probability));
	return object;
}

static unsigned int row_length(const struct kvl_row *row)
{
	unsigned int n = 0;

	while (n < KVL_ROW_MAX && row->node[n] != KVL_NODE_NONE)
		n++;
	return n;
}

/* Highest probability; the first of equals, which is where N = 1 and writes go. */
static int choice_place(const struct decision *d, unsigned int length)
{
	int best = -1;

	for (unsigned int i = 0; i < length; i++)
		if (candidate_is_drawn(d, i)
			&& (best < 0 || weight_of(d, i) > weight_of(d, (unsigned int)best)))
			best = (int)i;
	return best;
}

static const char *reads_name(const struct decision *d)
{
	if (d->terms.strong)
		return "where writes go";
	return d->replication > 1 ? kvl_choice_name(d->terms.choice) : "first";
}

static bool any_is_in(const struct decision *d, unsigned int length)
{
	for (unsigned int i = 0; i < length; i++)
		if (candidate_is_in(d, i))
			return true;
	return false;
}

static json_t *decision_object(struct decision *d)
{
	unsigned int length = row_length(d->row);
	json_t *preference = json_array(), *candidates = json_array();
	json_t *object;
	int choice;

	d->in_spite = !any_is_in(d, length);
	for (unsigned int i = 0; i < length; i++)
		if (candidate_is_drawn(d, i))
			d->sum += weight_of(d, i);
	for (unsigned int i = 0; i < length; i++) {
		if (i < d->replication)
			json_array_append_new(
				preference, node_identity(&d->router->nodes.list[d->row->node[i]]));
		json_array_append_new(candidates, candidate_object(d, i));
	}
	choice = choice_place(d, length);
	object = json_pack("{s:s, s:o, s:{s:i, s:o}, s:I, s:I, s:i, s:o, s:o, s:o, s:b, s:s, s:s}",
		"service", d->service->config.name, "key_hash", kvl_json_hex(d->hash), "token",
		"index", (int)d->token, "value",
		kvl_json_hex(kvl_placement_token(d->service->master, d->token)), "revision",
		(json_int_t)d->router->topology->revision, "generation",
		(json_int_t)kvl_publisher_root(d->router->publisher)->generation, "replication",
		(int)d->replication, "preference", preference, "candidates", candidates, "choice",
		kvl_json_text(
			choice < 0 ? NULL : d->router->nodes.list[d->row->node[choice]].config.id),
		"used_fallback", choice >= (int)d->replication, "reads", reads_name(d), "writes",
		"first");
	json_object_update_new(object, route_terms_object(d->router, &d->terms));
	return object;
}

json_t *kvl_command_route(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	struct decision d = {.router = ctx};
	const struct kvl_root *root = kvl_publisher_root(d.router->publisher);
	const char *text, *service = NULL, *encoding = NULL;
	uint8_t key[KVL_KEY_MAX + 3];
	const uint8_t *hashed = key;
	size_t len, key_len;

	if (json_unpack((json_t *)params, "{s:s%, s?s, s?s}", "key", &text, &len, "service",
		    &service, "key_encoding", &encoding)
		< 0)
		return kvl_message_fail(error, KVL_CODE_PARAMS,
			"route takes \"key\" (text), and may take \"service\" and "
			"\"key_encoding\" (\"text\" or \"base64\")");
	if (key_decode(text, len, encoding, key, &key_len) < 0)
		return kvl_message_fail(error, KVL_CODE_PARAMS,
			"the key must have 1..%d bytes, in the encoding said: \"text\" or "
			"\"base64\" with padding",
			KVL_KEY_MAX);
	d.service = kvl_topology_service(d.router->topology, service);
	if (d.service == NULL)
		return kvl_message_fail(error, KVL_CODE_NOT_FOUND,
			"there is no such service: `kvlanectl services` lists them");

	d.terms = route_terms_of(d.router, d.service, key, key_len);
	if (d.terms.hash_rule->on)
		kvl_hash_part(d.terms.hash_rule, &hashed, &key_len);
	d.hash = kvl_placement_key_hash(
		d.service->master, hashed, key_len, d.service->config.placement.seed);
	d.token = kvl_placement_find(d.service->master, d.hash);
	d.row = kvl_placement_row(d.service->master, d.token);
	d.root = root;
	d.weights = kvl_root_weights(root, d.terms.strong ? KVL_CLASS_WRITE : 0);
	d.replication = RTE_MAX(kvl_placement_preferred(d.service->master), 1u);
	d.drawn = d.terms.strong ? 1 : d.replication;
	return decision_object(&d);
}
