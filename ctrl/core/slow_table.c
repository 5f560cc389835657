/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/slow_table.h"

struct kvl_slow_request *kvl_slow_table_take(
	struct kvl_slow_table *t, uint16_t node, bool quiet, uint16_t *id)
{
	struct kvl_slow_request *request;

	if (t->in_flight == KVL_SLOW_IN_FLIGHT)
		return NULL;
	/* Few of many are active, so a free one is near. */
	while (t->requests[t->next].active)
		t->next++;
	*id = t->next;
	request = &t->requests[t->next++];
	*request = (struct kvl_slow_request){.active = true, .quiet = quiet, .node = node};
	t->in_flight++;
	t->awaited[node] += !quiet;
	return request;
}

void kvl_slow_table_release(struct kvl_slow_table *t, struct kvl_slow_request *request)
{
	kvl_sequences_reset(&request->seen, &t->sequences);
	request->active = false;
	t->in_flight--;
	t->awaited[request->node] -= !request->quiet;
}

struct kvl_slow_request *kvl_slow_table_oldest(struct kvl_slow_table *t)
{
	if (t->in_flight == 0) {
		t->oldest = t->next;
		return NULL;
	}
	while (!t->requests[t->oldest].active)
		t->oldest++;
	return &t->requests[t->oldest];
}
