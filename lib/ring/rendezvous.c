/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/ring/internal.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ring/hash.h"

/*
 * Rendezvous hashing, highest random weight (Thaler and Ravishankar 1998), by slot: each member
 * draws a number for the slot, and the order of the numbers is the slot's walk. So the second
 * candidate is who would have it without the first: a node's slots go to all others.
 *
 *	u = XXH3-64(LE32 slot, seed = XXH3-64(id, the service's seed)) / 2^64
 *	order: -log2(u) / weight, smallest first (weighted: Schindelhauer and Schomaker 2005)
 *
 * The logarithm is worked out in integers, so that all machines agree to the last bit. Building
 * costs slots * members draws: a third of a second for 1000 members.
 */
#define LOG_BITS 8 /* of the table's index */

struct draw {
	uint64_t cost;
	uint32_t member;
};

struct rendezvous {
	const struct kvl_placement_params *params;
	const struct kvl_member *members;
	size_t count;
	struct groups groups;
	uint64_t *seeds;
	struct draw *heap; /* smallest cost on top; what is left of the walk */
	size_t left;
	uint32_t *skipped;                        /* walked past, in walk order */
	uint64_t log2_table[(1 << LOG_BITS) + 1]; /* log2(1 + i/256), 32 bits behind the point */
};

/* log2 of x in [1, 2), given with 31 bits behind the point: by squaring, a bit at a time. */
static uint64_t log2_exact(uint64_t x)
{
	uint64_t result = 0;

	for (uint64_t bit = 1ull << 31; bit != 0; bit >>= 1) {
		x = (x * x) >> 31;
		if (x >= 1ull << 32) {
			result |= bit;
			x >>= 1;
		}
	}
	return result;
}

static void log2_init(struct rendezvous *r)
{
	for (uint64_t i = 0; i < 1 << LOG_BITS; i++)
		r->log2_table[i] = log2_exact((1ull << 31) + (i << (31 - LOG_BITS)));
	r->log2_table[1 << LOG_BITS] = 1ull << 32;
}

/* -log2(h / 2^64), 32 bits behind the point; h > 0. Straight lines between the table's entries. */
static uint64_t log2_negative(const struct rendezvous *r, uint64_t h)
{
	unsigned int zeros = (unsigned int)__builtin_clzll(h);
	uint64_t mantissa = h << zeros << 1; /* behind the leading 1 */
	uint64_t i = mantissa >> (64 - LOG_BITS);
	uint64_t between = mantissa << LOG_BITS >> 32;
	uint64_t step = r->log2_table[i + 1] - r->log2_table[i];
	uint64_t log2 = r->log2_table[i] + (step * between >> 32);

	return ((uint64_t)(zeros + 1) << 32) - log2;
}

static bool draw_before(const struct draw *a, const struct draw *b)
{
	return a->cost != b->cost ? a->cost < b->cost : a->member < b->member;
}

static void heap_sink(struct draw *heap, size_t count, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < count; i = child) {
		struct draw swap = heap[i];

		if (child + 1 < count && draw_before(&heap[child + 1], &heap[child]))
			child++;
		if (!draw_before(&heap[child], &heap[i]))
			return;
		heap[i] = heap[child];
		heap[child] = swap;
	}
}

static void slot_draw(struct rendezvous *r, uint32_t slot)
{
	uint32_t le = htole32(slot);

	for (size_t m = 0; m < r->count; m++) {
		uint64_t h = kvl_key_hash(&le, sizeof(le), r->seeds[m]) | 1;

		r->heap[m].cost = (log2_negative(r, h) << 20) / r->members[m].weight;
		r->heap[m].member = (uint32_t)m;
	}
	r->left = r->count;
	for (size_t i = r->count / 2; i-- > 0;)
		heap_sink(r->heap, r->count, i);
}

static uint32_t walk_next(struct rendezvous *r)
{
	uint32_t member = r->heap[0].member;

	r->heap[0] = r->heap[--r->left];
	heap_sink(r->heap, r->left, 0);
	return member;
}

struct pick {
	uint32_t member[KVL_ROW_MAX];
	uint32_t count;
};

static bool pick_has(const struct pick *pick, const uint32_t *group, uint32_t which)
{
	for (uint32_t i = 0; i < pick->count; i++)
		if (group[pick->member[i]] == which)
			return true;
	return false;
}

static bool host_is_taken(const struct rendezvous *r, const struct pick *pick, uint32_t member)
{
	return pick_has(pick, r->groups.host, r->groups.host[member]);
}

/* SPEC 2.4, as preference.c has it, on one explicit walk. */
static void row_pick(struct rendezvous *r, struct pick *pick)
{
	const uint32_t places = KVL_ROW_MAX < r->count ? KVL_ROW_MAX : (uint32_t)r->count;
	uint32_t skipped = 0, others = 0;

	/* Unseen zones, while there are such. */
	while (pick->count < r->params->replication && pick->count < r->groups.zones
		&& r->left != 0) {
		uint32_t m = walk_next(r);

		if (!pick_has(pick, r->groups.zone, r->groups.zone[m])
			&& !host_is_taken(r, pick, m))
			pick->member[pick->count++] = m;
		else
			r->skipped[skipped++] = m;
	}
	/* Then hosts not seen yet, those skipped first. What falls through is kept in walk order. */
	for (uint32_t i = 0; i < skipped; i++) {
		if (pick->count < places && !host_is_taken(r, pick, r->skipped[i]))
			pick->member[pick->count++] = r->skipped[i];
		else
			r->skipped[others++] = r->skipped[i];
	}
	while (pick->count < places && pick->count < r->groups.hosts && r->left != 0) {
		uint32_t m = walk_next(r);

		if (!host_is_taken(r, pick, m))
			pick->member[pick->count++] = m;
		else
			r->skipped[others++] = m;
	}
	/* Then all others. */
	for (uint32_t i = 0; i < others && pick->count < places; i++)
		pick->member[pick->count++] = r->skipped[i];
	while (pick->count < places && r->left != 0)
		pick->member[pick->count++] = walk_next(r);
}

static int rendezvous_begin(struct rendezvous *r)
{
	int rc = groups_init(&r->groups, r->members, r->count);

	if (rc < 0)
		return rc;
	r->seeds = calloc(r->count, sizeof(*r->seeds));
	r->heap = calloc(r->count, sizeof(*r->heap));
	r->skipped = calloc(r->count, sizeof(*r->skipped));
	if (r->seeds == NULL || r->heap == NULL || r->skipped == NULL)
		return -ENOMEM;
	for (size_t m = 0; m < r->count; m++)
		r->seeds[m] =
			kvl_key_hash(r->members[m].id, strlen(r->members[m].id), r->params->seed);
	log2_init(r);
	return 0;
}

static int rendezvous_rows(const struct kvl_placement_params *params,
	const struct kvl_member *members, size_t count, struct kvl_row *rows, uint32_t *hosts)
{
	struct rendezvous r = {.params = params, .members = members, .count = count};
	int rc = rendezvous_begin(&r);

	for (uint32_t slot = 0; rc == 0 && slot < SLOTS; slot++) {
		struct pick pick = {.count = 0};

		slot_draw(&r, slot);
		row_pick(&r, &pick);
		memset(&rows[slot], 0xff, sizeof(rows[slot]));
		for (uint32_t i = 0; i < pick.count; i++)
			rows[slot].node[i] = members[pick.member[i]].number;
	}
	*hosts = r.groups.hosts;
	groups_fini(&r.groups);
	free(r.seeds);
	free(r.heap);
	free(r.skipped);
	return rc;
}

static int rendezvous_place(const struct kvl_placement_params *params,
	const struct kvl_member *members, size_t count, struct token *tokens)
{
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		tokens[slot].value = slot;
	return 0;
}

const struct placement_ops rendezvous_ops = {
	.name = "rendezvous",
	.alias = "hrw",
	.table = SLOTS,
	.place = rendezvous_place,
	.rows = rendezvous_rows,
};
