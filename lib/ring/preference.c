/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/ring/internal.h"

#include <errno.h>
#include <stdlib.h>

/*
 * SPEC 2.4 says what a row is in terms of a walk clockwise from its token:
 *   1. nodes of zones and hosts not seen yet, in walk order, while there are such;
 *   2. then nodes of hosts not seen yet, in walk order (those skipped in 1 come first);
 *   3. then, beyond the preference list, all others in walk order.
 * Step 1 ends with the N-th candidate, step 2 and 3 with the last place of the row.
 *
 * Walking anew for each token would cost tokens * nodes where one zone or host is rare. Instead
 * one sweep goes over the tokens backwards and keeps lists ordered by "met next when walking from
 * here": taking one step back moves one node, one host and one zone to the front of its list, and
 * a row is then read off the fronts, passing over at most the few already taken.
 */

/* Circular lists over an array; a list's head is an element as well. */
struct link {
	uint32_t next, prev;
};

static void link_init(struct link *links, uint32_t i)
{
	links[i] = (struct link){.next = i, .prev = i};
}

static void link_to_front(struct link *links, uint32_t head, uint32_t i)
{
	links[links[i].prev].next = links[i].next;
	links[links[i].next].prev = links[i].prev;
	links[i] = (struct link){.next = links[head].next, .prev = head};
	links[links[i].next].prev = i;
	links[head].next = i;
}

struct sweep {
	const struct kvl_member *members;
	struct groups groups;
	uint32_t count;       /* members */
	struct link *node;    /* [count] is the head; likewise below */
	struct link *host;    /* [hosts] */
	struct link *zone;    /* [zones] */
	struct link *cell;    /* [cells + zone] is the head of a zone's cells */
	uint32_t *host_first; /* the node of a host that is met next */
	uint32_t *cell_first;
	uint64_t *cell_met; /* step of the sweep: the larger, the sooner met */
};

struct pick {
	uint32_t node[KVL_ROW_MAX];
	uint32_t count;
};

static bool node_taken(const struct pick *pick, uint32_t node)
{
	for (uint32_t i = 0; i < pick->count; i++)
		if (pick->node[i] == node)
			return true;
	return false;
}

static bool group_taken(const struct pick *pick, const uint32_t *group, uint32_t which)
{
	for (uint32_t i = 0; i < pick->count; i++)
		if (group[pick->node[i]] == which)
			return true;
	return false;
}

/* The first cell of a zone on a host not taken; its head when there is none. */
static uint32_t zone_cell(const struct sweep *s, const struct pick *pick, uint32_t zone)
{
	const uint32_t head = s->groups.cells + zone;
	uint32_t c = s->cell[head].next;

	while (c != head && group_taken(pick, s->groups.host, s->groups.host[s->cell_first[c]]))
		c = s->cell[c].next;
	return c;
}

/*
 * The node met next that is of a new zone and of a new host. Zones are in the order in which
 * their first node is met; where that node's host is taken (a host in two zones), the zone counts
 * from its first node that will do, which another zone's may precede.
 */
static bool pick_new_zone(const struct sweep *s, struct pick *pick)
{
	uint32_t best = UINT32_MAX;

	if (pick->count == s->groups.hosts)
		return false; /* each pick so far has a host of its own: none is left */
	for (uint32_t z = s->zone[s->groups.zones].next; z != s->groups.zones;
		z = s->zone[z].next) {
		uint32_t head = s->groups.cells + z;
		uint32_t c;

		if (group_taken(pick, s->groups.zone, z))
			continue;
		if (best != UINT32_MAX && s->cell_met[s->cell[head].next] < s->cell_met[best])
			break;
		c = zone_cell(s, pick, z);
		if (c != head && (best == UINT32_MAX || s->cell_met[c] > s->cell_met[best]))
			best = c;
	}
	if (best == UINT32_MAX)
		return false;
	pick->node[pick->count++] = s->cell_first[best];
	return true;
}

static void pick_new_hosts(const struct sweep *s, struct pick *pick)
{
	for (uint32_t h = s->host[s->groups.hosts].next;
		h != s->groups.hosts && pick->count < KVL_ROW_MAX; h = s->host[h].next)
		if (!group_taken(pick, s->groups.host, h))
			pick->node[pick->count++] = s->host_first[h];
}

static void pick_rest(const struct sweep *s, struct pick *pick)
{
	for (uint32_t n = s->node[s->count].next; n != s->count && pick->count < KVL_ROW_MAX;
		n = s->node[n].next)
		if (!node_taken(pick, n))
			pick->node[pick->count++] = n;
}

static void row_fill(const struct sweep *s, uint32_t replication, struct kvl_row *row)
{
	struct pick pick = {.count = 0};

	while (pick.count < replication && pick_new_zone(s, &pick))
		;
	pick_new_hosts(s, &pick);
	pick_rest(s, &pick);
	for (uint32_t i = 0; i < KVL_ROW_MAX; i++)
		row->node[i] = i < pick.count ? s->members[pick.node[i]].number : KVL_NODE_NONE;
}

static void sweep_step(struct sweep *s, uint32_t node, uint64_t step)
{
	const struct groups *g = &s->groups;
	const uint32_t host = g->host[node], zone = g->zone[node], cell = g->cell[node];

	link_to_front(s->node, s->count, node);
	link_to_front(s->host, g->hosts, host);
	link_to_front(s->zone, g->zones, zone);
	link_to_front(s->cell, g->cells + zone, cell);
	s->host_first[host] = node;
	s->cell_first[cell] = node;
	s->cell_met[cell] = step;
}

static struct link *links_new(uint32_t count)
{
	struct link *links = calloc(count, sizeof(*links));

	for (uint32_t i = 0; links != NULL && i < count; i++)
		link_init(links, i);
	return links;
}

static void sweep_fini(struct sweep *s)
{
	groups_fini(&s->groups);
	free(s->node);
	free(s->host);
	free(s->zone);
	free(s->cell);
	free(s->host_first);
	free(s->cell_first);
	free(s->cell_met);
}

static int sweep_init(struct sweep *s, const struct kvl_member *members, size_t count)
{
	const struct groups *g = &s->groups;

	*s = (struct sweep){.members = members, .count = (uint32_t)count};
	if (groups_init(&s->groups, members, count) < 0)
		return -ENOMEM;
	s->node = links_new(s->count + 1);
	s->host = links_new(g->hosts + 1);
	s->zone = links_new(g->zones + 1);
	s->cell = links_new(g->cells + g->zones);
	s->host_first = calloc(g->hosts, sizeof(*s->host_first));
	s->cell_first = calloc(g->cells, sizeof(*s->cell_first));
	s->cell_met = calloc(g->cells, sizeof(*s->cell_met));
	if (s->node == NULL || s->host == NULL || s->zone == NULL || s->cell == NULL
		|| s->host_first == NULL || s->cell_first == NULL || s->cell_met == NULL) {
		sweep_fini(s);
		return -ENOMEM;
	}
	return 0;
}

int preference_rows(const struct kvl_member *members, size_t count, const struct token *tokens,
	size_t token_count, uint32_t replication, struct kvl_row *rows, uint32_t *hosts)
{
	struct sweep s;
	uint64_t step = 0;

	*hosts = 0;
	if (count == 0)
		return 0;
	if (sweep_init(&s, members, count) < 0)
		return -ENOMEM;
	/* Once around to have met every node, as the walk wraps; then again for the rows. */
	for (size_t t = token_count; t-- > 0;)
		sweep_step(&s, tokens[t].owner, ++step);
	for (size_t t = token_count; t-- > 0;) {
		sweep_step(&s, tokens[t].owner, ++step);
		row_fill(&s, replication, &rows[t]);
	}
	*hosts = s.groups.hosts;
	sweep_fini(&s);
	return 0;
}
