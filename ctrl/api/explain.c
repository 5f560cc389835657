/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "ctrl/api/draw_now.h"
#include "ctrl/api/explain.h"
#include "ctrl/api/format.h"
#include "ctrl/api/route_terms.h"
#include "lib/proto/request.h"
#include "lib/ring/hash.h"
#include "lib/ring/lookup.h"

struct decision {
	const struct kvl_router *router;
	const struct kvl_topology_service *service;
	uint64_t hash;
	uint32_t token;
	const struct kvl_row *row;
	const struct kvl_root *root;
	struct route_terms terms;
	unsigned int class;      /* that a read is drawn by */
	const uint16_t *weights; /* of it; root->node_count of them */
	uint32_t replication;
	uint32_t drawn; /* a read is drawn among so many */
	bool in_spite;  /* all speak against themselves: taken in spite of that */
	struct draw_now now;
};

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
			&& (best < 0 || d->now.probability[i] > d->now.probability[best]))
			best = (int)i;
	return best;
}

static uint32_t explore_of(const struct decision *d)
{
	const struct kvl_root_service *s = kvl_root_service_numbered(d->root, d->service->number);

	return s == NULL ? 0 : s->explore;
}

static void decision_draw(struct decision *d, unsigned int length)
{
	uint16_t weights[KVL_ROW_MAX] = {0};

	for (unsigned int i = 0; i < length; i++)
		weights[i] = candidate_is_in(d, i) ? weight_of(d, i) : 0;
	draw_now(d->router, d->row, weights, d->drawn, d->terms.choice, explore_of(d), &d->now);
}

/* Writes go to the first of the row that takes them, whatever the scores are. */
static bool takes_writes(const struct decision *d, unsigned int place)
{
	uint16_t node = d->row->node[place];

	return node < d->root->node_count && kvl_root_weights(d->root, KVL_CLASS_WRITE)[node] != 0;
}

/* Why not, where reads have no such reason. */
static const char *write_reason(const struct decision *d, unsigned int place)
{
	const struct kvl_scored_node *scored = d->router->nodes.list[d->row->node[place]].scored;

	if (scored == NULL || scored->reason[KVL_CLASS_WRITE] == KVL_FILTER_IN
		|| scored->reason[0] == scored->reason[KVL_CLASS_WRITE])
		return NULL;
	return kvl_filter_name(scored->reason[KVL_CLASS_WRITE]);
}

static const char *write_choice(const struct decision *d, unsigned int length)
{
	for (unsigned int i = 0; i < length; i++)
		if (takes_writes(d, i))
			return d->router->nodes.list[d->row->node[i]].config.id;
	return NULL;
}

static json_t *candidate_object(const struct decision *d, unsigned int place)
{
	uint16_t number = d->row->node[place];
	const struct kvl_node *node = &d->router->nodes.list[number];
	const struct kvl_scored_node *scored = node->scored;
	json_t *object = node_identity(node);

	json_object_update_new(object,
		json_pack("{s:b, s:b, s:o, s:s, s:b, s:f, s:i, s:f, s:o, s:b}", "preferred",
			place < d->replication, "eligible", candidate_is_in(d, place), "reason",
			kvl_json_text(reason_of(d, place)), "state",
			scored == NULL ? "unused" : kvl_health_name(scored->health.state),
			"unconfirmed", node->config.unconfirmed, "score",
			scored == NULL ? 0.0 : scored->breakdown[d->class].score, "weight",
			(int)weight_of(d, place), "probability", d->now.probability[place], "terms",
			scored == NULL ? json_object()
				       : kvl_json_terms(&scored->breakdown[d->class]),
			"stale", scored != NULL && (scored->facts.flags & KVL_FACT_STALE) != 0));
	json_object_update_new(
		object, json_pack("{s:i, s:f, s:b, s:o}", "in_flight", (int)d->now.in_flight[place],
				"latency_us", d->now.latency_us[place], "takes_writes",
				takes_writes(d, place), "write_reason",
				kvl_json_text(write_reason(d, place))));
	return object;
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
	if (d->in_spite)
		d->drawn = 1; /* in the order of the list, as dataplane/constrain.h has it */
	decision_draw(d, length);
	for (unsigned int i = 0; i < length; i++) {
		if (i < d->replication)
			json_array_append_new(
				preference, node_identity(&d->router->nodes.list[d->row->node[i]]));
		json_array_append_new(candidates, candidate_object(d, i));
	}
	choice = choice_place(d, length);
	object = json_pack(
		"{s:s, s:o, s:{s:i, s:o}, s:I, s:b, s:I, s:i, s:o, s:o, s:o, s:b, s:b, s:s, s:s}",
		"service", d->service->config.name, "key_hash", kvl_json_hex(d->hash), "token",
		"index", (int)d->token, "value",
		kvl_json_hex(kvl_placement_token(d->service->master, d->token)), "revision",
		(json_int_t)d->router->topology->revision, "topology_stale",
		d->router->topology_stale, "generation",
		(json_int_t)kvl_publisher_root(d->router->publisher)->generation, "replication",
		(int)d->replication, "preference", preference, "candidates", candidates, "choice",
		kvl_json_text(
			choice < 0 ? NULL : d->router->nodes.list[d->row->node[choice]].config.id),
		"used_fallback", choice >= (int)d->replication, "used_local_fallback", false,
		"reads", reads_name(d), "writes", "first");
	json_object_set_new(object, "write_choice", kvl_json_text(write_choice(d, length)));
	json_object_update_new(object, route_terms_object(d->router, &d->terms));
	return object;
}

static const struct kvl_topology_service *service_find(
	const struct kvl_router *r, const char *name, struct kvl_message_error *error)
{
	const struct kvl_topology_service *s = kvl_topology_service(r->topology, name);

	if (s == NULL)
		kvl_message_fail(error, KVL_CODE_NOT_FOUND,
			"there is no such service: `kvlanectl services` lists them");
	return s;
}

json_t *kvl_explain_key(const struct kvl_router *r, const char *service, const uint8_t *key,
	size_t len, struct kvl_message_error *error)
{
	struct decision d = {.router = r, .root = kvl_publisher_root(r->publisher)};

	d.service = service_find(r, service, error);
	if (d.service == NULL)
		return NULL;
	d.terms = route_terms_of(d.router, d.service, key, len);
	if (d.terms.hash_rule->on)
		kvl_hash_part(d.terms.hash_rule, &key, &len);
	d.hash = kvl_placement_key_hash(
		d.service->master, key, len, d.service->config.placement.seed);
	d.token = kvl_placement_find(d.service->master, d.hash);
	d.row = kvl_placement_row(d.service->master, d.token);
	d.class = d.terms.strong ? KVL_CLASS_WRITE : 0;
	d.weights = kvl_root_weights(d.root, d.class);
	d.replication = RTE_MAX(kvl_placement_preferred(d.service->master), 1u);
	d.drawn = d.terms.strong ? 1 : d.replication;
	return decision_object(&d);
}

/* ---- commands without a key (SPEC 1.5) ---- */

/* Asks the parser itself, so that it and this cannot come to differ. `noop` is binary only. */
static enum kvl_verdict command_verdict(const char *command, size_t len, uint8_t *op)
{
	uint8_t payload[KVL_FRAME_LEN + KVL_EXPLAIN_COMMAND_MAX + 2] = {[5] = 1}; /* total */
	struct kvl_request request;
	enum kvl_verdict verdict;

	if (len == 4 && memcmp(command, "noop", 4) == 0) {
		*op = KVL_OP_MN;
		return KVL_REQUEST_KEYLESS;
	}
	memcpy(payload + KVL_FRAME_LEN, command, len);
	memcpy(payload + KVL_FRAME_LEN + len, "\r\n", 2);
	verdict = kvl_request_parse(payload, KVL_FRAME_LEN + len + 2, &request);
	*op = request.op;
	return verdict;
}

/* The nodes of the pool in turn, each as likely as the next. */
static json_t *turns_list(const struct decision *d)
{
	const struct kvl_nodes *nodes = &d->router->nodes;
	json_t *list = json_array();
	uint32_t in = 0;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t n = 0; n < nodes->count; n++) {
			const struct kvl_node *node = &nodes->list[n];
			bool eligible = n < d->root->node_count && d->weights[n] != 0;
			json_t *object;

			if (!node->present
				|| strcmp(node->config.pool, d->service->config.pool) != 0)
				continue;
			if (pass == 0) {
				in += eligible;
				continue;
			}
			object = node_identity(node);
			json_object_update_new(
				object, json_pack("{s:b, s:o, s:b, s:f}", "eligible", eligible,
						"reason", kvl_json_text(node->reason),
						"unconfirmed", node->config.unconfirmed,
						"probability", eligible ? 1.0 / in : 0.0));
			json_array_append_new(list, object);
		}
	return list;
}

json_t *kvl_explain_command(const struct kvl_router *r, const char *service, const char *command,
	size_t len, struct kvl_message_error *error)
{
	struct decision d = {.router = r, .root = kvl_publisher_root(r->publisher)};
	enum kvl_verdict verdict = KVL_REQUEST_NO_COMMAND;
	uint8_t op = KVL_OP_NONE;
	bool local;

	if (len > 0 && len <= KVL_EXPLAIN_COMMAND_MAX)
		verdict = command_verdict(command, len, &op);
	if (verdict == KVL_REQUEST_ADMIN)
		return kvl_message_fail(error, KVL_CODE_PARAMS,
			"the router refuses this command: it goes to no node");
	if (verdict != KVL_REQUEST_KEYLESS)
		return kvl_message_fail(error, KVL_CODE_PARAMS,
			"not a command without a key: version, mn, noop, stats, verbosity and "
			"quit are");
	d.service = service_find(r, service, error);
	if (d.service == NULL)
		return NULL;
	d.weights = kvl_root_weights(d.root, 0);
	/* quit ends a conversation that UDP does not have: nobody needs to be told. */
	local = d.service->config.keyless == KVL_KEYLESS_LOCAL || op == KVL_OP_QUIT;
	return json_pack("{s:s, s:s%, s:s, s:b, s:I, s:b, s:I, s:o, s:n, s:n, s:n}", "service",
		d.service->config.name, "command", command, len, "keyless",
		local ? "local" : "round_robin", "used_local_fallback", local, "revision",
		(json_int_t)r->topology->revision, "topology_stale", r->topology_stale,
		"generation", (json_int_t)d.root->generation, "candidates",
		local ? json_array() : turns_list(&d), "key_hash", "token", "choice");
}
