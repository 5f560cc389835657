/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "ctrl/api/metrics.h"
#include "ctrl/core/clock.h"

struct row {
	const struct kvl_node *node;
	uint16_t number;
	double ownership, p50_us, p95_us, p99_us;
	struct kvl_node_tally tally;
};

struct metric {
	const char *name, *type, *help;
	double (*value)(const struct row *row);
};

#define TALLY(member)                               \
	static double member(const struct row *row) \
	{                                           \
		return (double)row->tally.member;   \
	}
TALLY(requests)
TALLY(replies)
TALLY(bytes_out)
TALLY(bytes_in)
TALLY(hits)
TALLY(misses)
TALLY(errors)
TALLY(rejects)
TALLY(timeouts)
TALLY(refused)
TALLY(late)
TALLY(writes)
TALLY(in_flight)
#undef TALLY

static double eligible(const struct row *row)
{
	return row->node->reason == NULL;
}

static double ownership(const struct row *row)
{
	return row->ownership;
}

static double score(const struct row *row)
{
	return row->node->scored == NULL ? NAN : row->node->scored->breakdown[0].score;
}

static double stale(const struct row *row)
{
	return row->node->scored != NULL && (row->node->scored->facts.flags & KVL_FACT_STALE) != 0;
}

static double unconfirmed(const struct row *row)
{
	return row->node->config.unconfirmed;
}

/* A metric of its own, that a reader need not know the states' numbers. */
static double ejected(const struct row *row)
{
	return row->node->scored != NULL && !kvl_health_eligible(&row->node->scored->health);
}

static double report_age(const struct row *row)
{
	const struct kvl_scored_node *n = row->node->scored;

	return n == NULL || n->report_ms == 0 ? NAN : (double)(kvl_now_ms() - n->report_ms) / 1000;
}

static const struct metric metrics[] = {
	{"kvlane_node_requests_total", "counter", "Requests sent to the node.", requests},
	{"kvlane_node_replies_total", "counter", "Whole replies.", replies},
	{"kvlane_node_bytes_out_total", "counter", "Bytes of requests.", bytes_out},
	{"kvlane_node_bytes_in_total", "counter", "Bytes of replies.", bytes_in},
	{"kvlane_node_hits_total", "counter", "Reads that found their key.", hits},
	{"kvlane_node_misses_total", "counter", "Reads that did not.", misses},
	{"kvlane_node_errors_total", "counter", "Replies that blame the request.", errors},
	{"kvlane_node_rejects_total", "counter", "Replies of SERVER_ERROR and the like.", rejects},
	{"kvlane_node_timeouts_total", "counter", "Requests not answered in time.", timeouts},
	{"kvlane_node_refused_total", "counter", "ICMP errors believed.", refused},
	{"kvlane_node_writes_total", "counter", "Of the requests: those that are no reads.",
		writes},
	{"kvlane_node_late_total", "counter", "Replies after their time.", late},
	{"kvlane_node_in_flight", "gauge", "Requests waiting for their reply.", in_flight},
	{"kvlane_node_eligible", "gauge", "1 when requests may go there.", eligible},
	{"kvlane_node_ejected", "gauge", "1 when health has taken it out.", ejected},
	{"kvlane_node_unconfirmed", "gauge", "1 when only its former definition is good.",
		unconfirmed},
	{"kvlane_node_ownership", "gauge", "Share of the hash space, 0..1.", ownership},
	{"kvlane_node_score", "gauge", "Of small reads, 0..1.", score},
	{"kvlane_node_report_stale", "gauge", "1 when its report is older than is trusted.", stale},
	{"kvlane_node_report_age_seconds", "gauge", "Since its last report.", report_age},
};

static void labels(FILE *out, const char *name, const struct row *row, const char *more)
{
	fprintf(out, "%s{node=\"%s\",pool=\"%s\",zone=\"%s\"%s} ", name, row->node->config.id,
		row->node->config.pool, row->node->config.zone, more);
}

static void metric_write(FILE *out, const struct metric *m, const struct row *rows, uint32_t count)
{
	metrics_family(out, m->name, m->type, m->help);
	for (uint32_t i = 0; i < count; i++) {
		double value = m->value(&rows[i]);

		/* What is not known is left out. */
		if (isnan(value))
			continue;
		labels(out, m->name, &rows[i], "");
		fprintf(out, "%.15g\n", value);
	}
}

static void latency_write(FILE *out, const struct row *rows, uint32_t count)
{
	static const char name[] = "kvlane_node_latency_seconds";

	metrics_family(out, name, "gauge", "Quantiles of all replies so far.");
	for (uint32_t i = 0; i < count; i++) {
		labels(out, name, &rows[i], ",quantile=\"0.5\"");
		fprintf(out, "%.15g\n", rows[i].p50_us / 1e6);
		labels(out, name, &rows[i], ",quantile=\"0.95\"");
		fprintf(out, "%.15g\n", rows[i].p95_us / 1e6);
		labels(out, name, &rows[i], ",quantile=\"0.99\"");
		fprintf(out, "%.15g\n", rows[i].p99_us / 1e6);
	}
}

static void terms_write(FILE *out, const struct row *rows, uint32_t count)
{
	static const char name[] = "kvlane_node_score_points";
	char term[64];

	metrics_family(out, name, "gauge", "What added up to the score, in points of 100.");
	for (uint32_t i = 0; i < count; i++) {
		const struct kvl_scored_node *n = rows[i].node->scored;

		for (unsigned int t = 0; n != NULL && t < KVL_TERM_COUNT; t++) {
			if (!(n->breakdown[0].known & 1u << t))
				continue;
			snprintf(term, sizeof(term), ",term=\"%s\"", kvl_term_name(t));
			labels(out, name, &rows[i], term);
			fprintf(out, "%.15g\n", n->breakdown[0].points[t]);
		}
	}
}

static void weights_write(
	FILE *out, const struct kvl_root *root, const struct row *rows, uint32_t count)
{
	static const char name[] = "kvlane_node_weight";

	metrics_family(out, name, "gauge", "As published, 0..65535; 0 = out.");
	for (uint32_t i = 0; i < count; i++) {
		if (rows[i].number >= root->node_count)
			continue;
		labels(out, name, &rows[i], ",class=\"read\"");
		fprintf(out, "%u\n", kvl_root_weights(root, 0)[rows[i].number]);
		labels(out, name, &rows[i], ",class=\"write\"");
		fprintf(out, "%u\n", kvl_root_weights(root, KVL_CLASS_WRITE)[rows[i].number]);
	}
}

static void row_fill(struct row *row, const struct kvl_router *r, uint16_t number)
{
	static struct kvl_node_tally now; /* large */

	row->node = &r->nodes.list[number];
	row->number = number;
	row->ownership = r->topology->ownership[number];
	kvl_tally_node(r->workers, r->worker_count, number, true, &now);
	kvl_tally_since(&now, &row->node->base, &row->tally);
	row->p50_us = kvl_hist_quantile(&row->tally.latency, 0.50);
	row->p95_us = kvl_hist_quantile(&row->tally.latency, 0.95);
	row->p99_us = kvl_hist_quantile(&row->tally.latency, 0.99);
}

void metrics_nodes(FILE *out, struct kvl_router *r)
{
	struct row *rows = calloc(r->nodes.count + 1, sizeof(*rows));
	uint32_t count = 0;

	if (rows == NULL)
		return;
	for (uint32_t n = 0; n < r->nodes.count; n++)
		if (r->nodes.list[n].present)
			row_fill(&rows[count++], r, (uint16_t)n);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		metric_write(out, &metrics[i], rows, count);
	latency_write(out, rows, count);
	terms_write(out, rows, count);
	weights_write(out, kvl_publisher_root(r->publisher), rows, count);
	free(rows);
}
