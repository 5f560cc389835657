/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/commands.h"
#include "ctrl/api/http.h"
#include "ctrl/core/exception.h"
#include "ctrl/core/reports.h"
#include "ctrl/core/router.h"
#include "ctrl/core/slow_path.h"

/* Every name with its figure, zeros too: a reader can tell "none" from "not counted". */

static json_t *drops_object(const struct kvl_counters *c)
{
	json_t *object = json_object();

	for (unsigned int i = 0; i < KVL_DROP_COUNT; i++)
		json_object_set_new(
			object, kvl_drop_name(i), json_integer((json_int_t)c->drops[i]));
	return object;
}

static json_t *verdicts_object(const uint64_t *counters)
{
	json_t *object = json_object();

	for (unsigned int i = 0; i < KVL_VERDICT_COUNT; i++)
		json_object_set_new(
			object, kvl_verdict_name(i), json_integer((json_int_t)counters[i]));
	return object;
}

/* Datagrams of several keys or commands. */
static json_t *split_object(const struct kvl_counters *c)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "datagrams", (json_int_t)c->splits,
		"parts", (json_int_t)c->parts, "unanswered", (json_int_t)c->unanswered,
		"merges_full", (json_int_t)c->merges_full, "chunks_full",
		(json_int_t)c->chunks_full, "pool_empty", (json_int_t)c->pool_empty, "merges",
		(json_int_t)c->merges);
}

static json_t *retries_object(const struct kvl_counters *c)
{
	json_t *object = json_object();

	for (unsigned int i = 0; i < KVL_RETRY_VERDICTS; i++)
		json_object_set_new(object, i == KVL_RETRY_YES ? "sent" : kvl_retry_name(i),
			json_integer((json_int_t)c->retries[i]));
	return object;
}

static json_t *counters_object(const struct kvl_counters *c)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
			 "s:I, s:I, s:I, s:I, s:o, s:o, "
			 "s:o, s:o}",
		"in", (json_int_t)c->rx, "out", (json_int_t)c->tx, "dropped",
		(json_int_t)kvl_counters_dropped(c), "created", (json_int_t)c->created, "absorbed",
		(json_int_t)c->absorbed, "held", (json_int_t)kvl_counters_held(c), "exception_in",
		(json_int_t)c->exception_in, "exception_out", (json_int_t)c->exception_out,
		"requests", (json_int_t)c->requests, "replies", (json_int_t)c->replies, "fallbacks",
		(json_int_t)c->fallbacks, "timeouts", (json_int_t)c->timeouts, "refused",
		(json_int_t)c->refused, "quiet_expired", (json_int_t)c->quiet_expired,
		"big_untracked", (json_int_t)c->big_untracked, "pending", (json_int_t)c->pending,
		"handed_over", (json_int_t)c->inbox_out, "taken_over", (json_int_t)c->inbox_in,
		"split", split_object(c), "drops", drops_object(c), "verdicts",
		verdicts_object(c->verdicts), "answered", verdicts_object(c->answered));
}

/* What services' policies did: rules, conditions of a choice, guards. */
static json_t *policy_object(const struct kvl_counters *c)
{
	json_t *object = json_object();

#define X(name) json_object_set_new(object, #name, json_integer((json_int_t)c->name));
	KVL_POLICY_COUNTERS(X)
#undef X
	return object;
}

/* What the programs in the kernel keep from the router. */
static json_t *steering_object(const struct kvl_router *r)
{
	uint64_t denied = 0;

	for (uint16_t i = 0; i < r->port_count; i++)
		denied += kvl_steering_denied(&r->ports[i].steering);
	return json_pack("{s:I}", "client_denied", (json_int_t)denied);
}

static json_t *slow_object(const struct kvl_router *r)
{
	struct kvl_slow_counters c;
	json_t *object = json_object();

	kvl_slow_path_counters(r->slow, &c);
#define X(name) json_object_set_new(object, #name, json_integer((json_int_t)c.name));
	KVL_SLOW_COUNTERS(X)
#undef X
	return object;
}

/* Between the workers and the taps; with exception_in and exception_out all of a frame's way. */
static json_t *exception_object(const struct kvl_router *r)
{
	struct kvl_exception_counters c;
	json_t *object = json_object();

	kvl_exceptions_counters(r->exceptions, &c);
#define X(name) json_object_set_new(object, #name, json_integer((json_int_t)c.name));
	KVL_EXCEPTION_COUNTERS(X)
#undef X
	return object;
}

static json_t *reports_object(const struct kvl_router *r)
{
	struct kvl_reports_counters c = kvl_reports_counters(r->reports);
	json_t *object = json_object();

	for (unsigned int i = 0; i < KVL_REPORT_FAULTS; i++)
		json_object_set_new(object, i == KVL_REPORT_OK ? "taken" : kvl_report_fault_name(i),
			json_integer((json_int_t)c.faults[i]));
	json_object_set_new(object, "unknown_node", json_integer((json_int_t)c.unknown_node));
	json_object_set_new(
		object, "rejected_figures", json_integer((json_int_t)c.rejected_figures));
	return object;
}

static json_t *http_object(const struct kvl_router *r)
{
	struct kvl_http_counters c = kvl_http_counters(r->http);

	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "requests", (json_int_t)c.requests, "failed",
		(json_int_t)c.failed, "evicted", (json_int_t)c.evicted, "refused",
		(json_int_t)c.refused, "timed_out", (json_int_t)c.timed_out);
}

json_t *kvl_command_stats(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	const struct kvl_router *r = ctx;
	struct kvl_counters sum, one;
	json_t *result, *workers = json_array();

	kvl_tally_counters(r->workers, r->worker_count, &sum);
	result = counters_object(&sum);
	json_object_set_new(result, "retries", retries_object(&sum));
	json_object_set_new(result, "policy", policy_object(&sum));
	for (uint16_t w = 0; w < r->worker_count; w++) {
		json_t *object;

		kvl_tally_counters(&r->workers[w], 1, &one);
		object = counters_object(&one);
		json_object_set_new(object, "id", json_integer(w));
		json_array_append_new(workers, object);
	}
	json_object_set_new(result, "steering", steering_object(r));
	json_object_set_new(result, "slow_path", slow_object(r));
	json_object_set_new(result, "exception", exception_object(r));
	json_object_set_new(result, "reports", reports_object(r));
	json_object_set_new(result, "http", http_object(r));
	json_object_set_new(result, "workers", workers);
	return result;
}
