/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "ctrl/core/clock.h"
#include "ctrl/core/reports.h"
#include "ctrl/core/router.h"
#include "lib/model/endpoint.h"

#define RECEIVE_BURST 64 /* a turn of the loop: a flood of reports holds nothing up */

struct kvl_reports {
	struct kvl_router *router;
	int fd;
	struct event *event;
	struct kvl_reports_counters counters;
};

/* The secrets as configured now: a reload may change them. */
static struct kvl_report_keys keys_list(
	const struct kvl_reports_config *config, struct kvl_report_key list[KVL_REPORT_KEYS_MAX])
{
	for (size_t i = 0; i < config->key_count; i++) {
		list[i].id = config->keys[i].id;
		list[i].len = strlen(config->keys[i].secret);
		memcpy(list[i].secret, config->keys[i].secret, list[i].len);
	}
	return (struct kvl_report_keys){list, config->key_count};
}

static uint64_t wall_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The figures of a report that is new, to the scores. */
static void figures_apply(struct kvl_reports *s, uint16_t number, const struct kvl_report *report)
{
	struct kvl_scorer *scorer = kvl_scoring_of(s->router->nodes.scoring, number);
	int rejected;

	/* It was accepted as new all the same: kvl_report_accept(). */
	if (report->figures.time_ms <= kvl_scorer_node(scorer, number)->report_time_ms)
		kvl_scorer_forget_reports(scorer, number);
	rejected = kvl_scorer_report(scorer, number, &report->figures, kvl_now_ms());
	s->counters.rejected_figures += (uint64_t)__builtin_popcount(report->rejected);
	if (rejected > 0)
		s->counters.rejected_figures += (uint64_t)rejected;
}

/* Where both ways meet: a report that was decoded, or the fault that kept it from being. */
static struct kvl_report_taken report_take(
	struct kvl_reports *s, enum kvl_report_fault fault, const struct kvl_report *report)
{
	struct kvl_router *r = s->router;
	struct kvl_report_taken taken = {.fault = fault};
	struct kvl_node *node = NULL;
	uint16_t number;

	if (fault == KVL_REPORT_OK) {
		number = kvl_numbers_find(r->node_numbers, report->node);
		node = number == KVL_NUMBER_NONE ? NULL : &r->nodes.list[number];
		if (node == NULL || !node->present || node->scored == NULL) {
			s->counters.unknown_node++;
			taken.unknown_node = true;
			return taken;
		}
		taken.fault = kvl_report_accept(report, &node->report_ms, wall_ms());
		taken.rejected = report->rejected;
	}
	s->counters.faults[taken.fault]++;
	if (taken.fault == KVL_REPORT_OK)
		figures_apply(s, number, report);
	return taken;
}

struct kvl_report_taken kvl_reports_json(
	struct kvl_reports *s, const struct kvl_report_signed *signed_report)
{
	struct kvl_report_key list[KVL_REPORT_KEYS_MAX];
	struct kvl_report_keys keys = keys_list(&s->router->config->reports, list);
	struct kvl_report report;
	/* As with datagrams: nothing is decoded before its signature holds. */
	enum kvl_report_fault fault =
		kvl_report_verify(&keys, signed_report->key_id, signed_report->json,
			signed_report->len, signed_report->mac, signed_report->mac_len);

	if (fault == KVL_REPORT_OK)
		fault = kvl_report_from_json(signed_report->json, signed_report->len, &report);
	return report_take(s, fault, &report);
}

static void readable(evutil_socket_t fd, short what, void *arg)
{
	struct kvl_reports *s = arg;
	struct kvl_report_key list[KVL_REPORT_KEYS_MAX];
	struct kvl_report_keys keys = keys_list(&s->router->config->reports, list);

	for (int i = 0; i < RECEIVE_BURST; i++) {
		uint8_t datagram[KVL_REPORT_BYTES_MAX + 1]; /* one more: longer ones show */
		ssize_t len = recv(fd, datagram, sizeof(datagram), MSG_DONTWAIT);
		enum kvl_report_fault fault;
		struct kvl_report report;

		if (len < 0)
			return;
		fault = kvl_report_decode(datagram, (size_t)len, &keys, &report);
		report_take(s, fault, &report);
	}
}

static int socket_open(const struct kvl_reports_config *config)
{
	struct kvl_endpoint own = {.address = config->address, .port = config->port};
	int fd = kvl_endpoint_bind(&own, true);

	if (fd != -EAFNOSUPPORT || kvl_addr_is_v4(&own.address))
		return fd;
	own.address = kvl_addr_from_v4(INADDR_ANY); /* a kernel without IPv6 */
	return kvl_endpoint_bind(&own, false);
}

struct kvl_reports *kvl_reports_new(struct kvl_router *router)
{
	struct kvl_reports *s;

	errno = 0;
	if (!router->config->reports.on)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return NULL;
	s->router = router;
	s->fd = socket_open(&router->config->reports);
	if (s->fd < 0) {
		errno = -s->fd;
		free(s);
		return NULL;
	}
	s->event = event_new(router->base, s->fd, EV_READ | EV_PERSIST, readable, s);
	if (s->event == NULL) {
		kvl_reports_free(s);
		errno = ENOMEM;
		return NULL;
	}
	event_add(s->event, NULL);
	return s;
}

void kvl_reports_free(struct kvl_reports *s)
{
	if (s == NULL)
		return;
	if (s->event != NULL)
		event_free(s->event);
	close(s->fd);
	free(s);
}

struct kvl_reports_counters kvl_reports_counters(const struct kvl_reports *s)
{
	const struct kvl_reports_counters none = {0};

	return s == NULL ? none : s->counters;
}
