/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/ring/fleet_test.h"
#include "lib/ring/lookup.h"

/* What holds of every kind of placement, whatever its way of choosing. */
#define NODES 24
#define KEYS  20000

static const enum kvl_placement_kind kinds[] = {KVL_PLACE_RING, KVL_PLACE_MODULO,
	KVL_PLACE_RENDEZVOUS, KVL_PLACE_MAGLEV, KVL_PLACE_JUMP, KVL_PLACE_KETAMA,
	KVL_PLACE_KETAMA_UNWEIGHTED};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct kvl_placement *build(
	enum kvl_placement_kind kind, const struct kvl_member *members, size_t count)
{
	const struct kvl_placement_params params = {
		.kind = kind, .replication = 3, .vnodes = 160, .seed = 5};
	struct kvl_placement *p = kvl_placement_build(&params, members, count);

	assert_non_null(p);
	return p;
}

/* 24 nodes on 12 hosts in 4 zones. */
static void fleet_make(struct fleet *f)
{
	f->count = 0;
	for (int i = 0; i < NODES; i++)
		fleet_add(f, i / 2, i / 6, i % 5 == 0 ? 200 : 100);
}

static const struct kvl_row *key_row(const struct kvl_placement *p, int i)
{
	char key[256]; /* longer than XXH3 reads at once, or gcc suspects it */
	size_t len = (size_t)snprintf(key, sizeof(key), "session/%d", i);

	return kvl_placement_row(p, kvl_placement_find(p, kvl_placement_key_hash(p, key, len, 5)));
}

/* Full, no node twice, three hosts and three zones in front. */
static void row_check(const struct kvl_row *row)
{
	for (int i = 0; i < KVL_ROW_MAX; i++) {
		assert_in_range(row->node[i], 0, NODES - 1);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(row->node[i], row->node[k]);
	}
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < i; k++) {
			assert_int_not_equal(row->node[i] / 2, row->node[k] / 2);
			assert_int_not_equal(row->node[i] / 6, row->node[k] / 6);
		}
}

static void test_rows(void **state)
{
	static struct fleet f;

	fleet_make(&f);
	for (size_t k = 0; k < KINDS; k++) {
		struct kvl_placement *p = build(kinds[k], f.members, f.count);

		assert_int_equal(kvl_placement_preferred(p), 3);
		for (uint32_t t = 0; t < kvl_placement_tokens(p); t++)
			row_check(kvl_placement_row(p, t));
		free(p);
	}
}

static void test_order_does_not_matter(void **state)
{
	static struct fleet f;
	uint64_t random = 3;

	fleet_make(&f);
	for (size_t k = 0; k < KINDS; k++) {
		struct kvl_placement *p = build(kinds[k], f.members, f.count);

		for (int round = 0; round < 3; round++) {
			struct kvl_placement *q;

			fleet_shuffle(&f, &random);
			q = build(kinds[k], f.members, f.count);
			assert_true(kvl_placement_digest(p) == kvl_placement_digest(q));
			for (int i = 0; i < 1000; i++)
				assert_memory_equal(
					key_row(p, i), key_row(q, i), sizeof(struct kvl_row));
			free(q);
		}
		free(p);
	}
}

/* Digests tell kinds apart. */
static void test_digests_differ(void **state)
{
	uint64_t digest[KINDS];
	static struct fleet f;

	fleet_make(&f);
	for (size_t k = 0; k < KINDS; k++) {
		struct kvl_placement *p = build(kinds[k], f.members, f.count);

		digest[k] = kvl_placement_digest(p);
		for (size_t i = 0; i < k; i++)
			assert_true(digest[i] != digest[k]);
		free(p);
	}
}

/* Keys follow the weights: as well as each kind can, and the slots' granularity lets it. */
static void test_shares(void **state)
{
	static const double tolerance[KINDS] = {0.35, 0.06, 0.10, 0.08, 0.08, 0.40, 0.40};
	static struct fleet f;
	double total = 0;

	fleet_make(&f);
	for (int i = 0; i < NODES; i++)
		total += f.members[i].weight;
	for (size_t k = 0; k < KINDS; k++) {
		struct kvl_placement *p = build(kinds[k], f.members, f.count);
		double worst = 0, sum = 0;

		for (uint16_t n = 0; n < NODES; n++) {
			bool plain = kinds[k] == KVL_PLACE_KETAMA_UNWEIGHTED;
			double want = plain ? 1.0 / NODES : f.members[n].weight / total;
			double off = kvl_placement_share(p, n) / want - 1;

			sum += kvl_placement_share(p, n);
			off = off < 0 ? -off : off;
			worst = off > worst ? off : worst;
		}
		print_message("%s: shares off by %.1f%% at worst\n", kvl_placement_name(kinds[k]),
			worst * 100);
		assert_true(worst < tolerance[k]);
		assert_true(sum > 1 - 1e-9 && sum < 1 + 1e-9);
		free(p);
	}
}

/* Rendezvous: the second candidate is who has the key when the first has left. */
static void test_rendezvous_heirs(void **state)
{
	static struct fleet f;
	struct kvl_placement *all, *less;
	int checked = 0;

	f.count = 0;
	for (int i = 0; i < 8; i++)
		fleet_add(&f, -1, 0, i % 2 == 0 ? 100 : 300);
	all = build(KVL_PLACE_RENDEZVOUS, f.members, 8);
	less = build(KVL_PLACE_RENDEZVOUS, f.members, 7);
	for (int i = 0; i < KEYS; i++) {
		const struct kvl_row *before = key_row(all, i), *after = key_row(less, i);

		assert_int_equal(after->node[0], before->node[before->node[0] == 7 ? 1 : 0]);
		checked += before->node[0] == 7;
	}
	assert_in_range(checked, KEYS / 8, KEYS / 3);
	free(all);
	free(less);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_order_does_not_matter),
		cmocka_unit_test(test_digests_differ),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_rendezvous_heirs),
	};

	return cmocka_run_group_tests_name("ring/kinds", tests, NULL, NULL);
}
