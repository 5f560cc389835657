/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/ring/fleet_test.h"
#include "lib/ring/hash.h"
#include "lib/ring/lookup.h"
#include "lib/ring/placement_oracle.h"

static const struct kvl_placement_params ring3 = {
	.kind = KVL_PLACE_RING, .replication = 3, .vnodes = 160, .seed = 0};

/* A fleet in which zones and hosts come in every mixture, hosts in two zones included. */
static void fleet_mix(struct fleet *f, uint64_t *random)
{
	const size_t nodes = 1 + fleet_random(random) % 14;
	const uint64_t zones = 1 + fleet_random(random) % 5, hosts = fleet_random(random) % 9;

	memset(f, 0, sizeof(*f));
	for (size_t i = 0; i < nodes; i++)
		fleet_add(f, hosts == 0 ? -1 : (int)(fleet_random(random) % hosts),
			(int)(fleet_random(random) % zones),
			(uint32_t)(fleet_random(random) % 300));
}

static void hash_compare(const struct kvl_placement *p, const struct oracle *o, uint64_t hash)
{
	const struct oracle_token *want = oracle_find(o, hash);
	uint32_t got = kvl_placement_find(p, hash);

	if (kvl_placement_token(p, got) != want->value
		|| kvl_placement_row(p, got)->node[0] != want->member->number)
		fail_msg("hash %016lx: token %016lx, not %016lx", hash, kvl_placement_token(p, got),
			want->value);
}

/* Hashes where a search goes wrong if it does: ends, tokens and what is beside them. */
static void edges_compare(const struct kvl_placement *p, const struct oracle *o)
{
	hash_compare(p, o, 0);
	hash_compare(p, o, 1);
	hash_compare(p, o, UINT64_MAX);
	hash_compare(p, o, UINT64_MAX - 1);
	for (size_t i = 0; i < o->count; i++) {
		hash_compare(p, o, o->tokens[i].value);
		hash_compare(p, o, o->tokens[i].value - 1);
		hash_compare(p, o, o->tokens[i].value + 1);
	}
}

static void rows_compare(const struct kvl_placement *p, const struct oracle *o)
{
	for (size_t i = 0; i < o->count; i++) {
		const uint32_t token = kvl_placement_find(p, o->tokens[i].value);
		const struct oracle_token *from = oracle_find(o, o->tokens[i].value);
		struct kvl_row want;
		uint32_t preferred = oracle_row(o, from, &want);

		assert_int_equal(kvl_placement_preferred(p), preferred);
		assert_memory_equal(kvl_placement_row(p, token), &want, sizeof(want));
	}
}

static void test_oracle(void **state)
{
	static struct fleet f;
	uint64_t random = 1;

	for (int round = 0; round < 60; round++) {
		struct kvl_placement_params params = {
			.kind = KVL_PLACE_RING,
			.replication = 1 + (uint32_t)(fleet_random(&random) % KVL_REPLICATION_MAX),
			.vnodes = 1 + (uint32_t)(fleet_random(&random) % 12),
			.seed = fleet_random(&random),
		};
		struct kvl_placement *p;
		struct oracle o;

		fleet_mix(&f, &random);
		p = kvl_placement_build(&params, f.members, f.count);
		assert_non_null(p);
		o = oracle_new(&params, f.members, f.count);
		assert_int_equal(kvl_placement_tokens(p), o.count);
		edges_compare(p, &o);
		for (int i = 0; i < 500; i++)
			hash_compare(p, &o, fleet_random(&random));
		rows_compare(p, &o);
		oracle_free(&o);
		free(p);
	}
}

/* The ordinary size, so that the index is exercised at its ordinary density. */
static void test_oracle_large(void **state)
{
	static struct fleet f;
	uint64_t random = 2;
	struct kvl_placement *p;
	struct oracle o;

	memset(&f, 0, sizeof(f));
	for (int i = 0; i < 20; i++)
		fleet_add(&f, -1, i % 3, 100);
	p = kvl_placement_build(&ring3, f.members, f.count);
	o = oracle_new(&ring3, f.members, f.count);
	edges_compare(p, &o);
	for (int i = 0; i < 5000; i++)
		hash_compare(p, &o, fleet_random(&random));
	oracle_free(&o);
	free(p);
}

/* Whatever the order given: the same tokens, rows and digest. */
static void test_order_is_nothing(void **state)
{
	static struct fleet f;
	uint64_t random = 3;
	struct kvl_placement *a, *b;

	memset(&f, 0, sizeof(f));
	for (int i = 0; i < 30; i++)
		fleet_add(&f, i / 2, i % 4, 50 + 50 * (uint32_t)(i % 3));
	a = kvl_placement_build(&ring3, f.members, f.count);
	for (int round = 0; round < 10; round++) {
		fleet_shuffle(&f, &random);
		b = kvl_placement_build(&ring3, f.members, f.count);
		assert_int_equal(kvl_placement_size(a), kvl_placement_size(b));
		assert_memory_equal(a, b, kvl_placement_size(a));
		free(b);
	}
	free(a);
}

/* Whatever the numbers: the same nodes in the same places, and the same digest. */
static void test_numbers_are_nothing(void **state)
{
	static struct fleet f;
	struct kvl_placement *a, *b;

	memset(&f, 0, sizeof(f));
	for (int i = 0; i < 12; i++)
		fleet_add(&f, -1, i % 4, 100);
	a = kvl_placement_build(&ring3, f.members, f.count);
	for (size_t i = 0; i < f.count; i++)
		f.members[i].number = (uint16_t)(5000 - 7 * i);
	b = kvl_placement_build(&ring3, f.members, f.count);
	assert_int_equal(kvl_placement_digest(a), kvl_placement_digest(b));
	for (uint32_t t = 0; t < kvl_placement_tokens(a); t++)
		for (int i = 0; i < KVL_ROW_MAX; i++)
			assert_int_equal(5000 - 7 * kvl_placement_row(a, t)->node[i],
				kvl_placement_row(b, t)->node[i]);
	free(a);
	free(b);
}

/* One change of anything that counts is another digest. */
static void test_digest_differs(void **state)
{
	static struct fleet f;
	struct kvl_placement_params params[] = {ring3, ring3, ring3, ring3, ring3};
	uint64_t digests[10];
	size_t n = 0;

	params[1].replication = 2;
	params[2].vnodes = 161;
	params[3].seed = 1;
	params[4].kind = KVL_PLACE_MODULO;
	memset(&f, 0, sizeof(f));
	for (int i = 0; i < 5; i++)
		fleet_add(&f, i, i, 100);
	for (size_t i = 0; i < 10; i++) {
		struct kvl_placement *p;

		if (i == 5)
			f.members[2].weight = 101;
		if (i == 6)
			f.members[2].zone = "elsewhere";
		if (i == 7)
			f.members[2].host = "other";
		if (i == 8)
			f.members[2].id = "mc-x";
		if (i == 9)
			f.count--;
		p = kvl_placement_build(&params[i < 5 ? i : 0], f.members, f.count);
		digests[n] = kvl_placement_digest(p);
		free(p);
		for (size_t j = 0; j < n; j++)
			assert_int_not_equal(digests[j], digests[n]);
		n++;
	}
}

static void test_tokens_and_rows(void **state)
{
	static const uint32_t weights[] = {100, 200, 50, 1, 0, 333};
	static const uint32_t want[] = {160, 320, 80, 1, 1, 532};
	static struct fleet f;
	struct kvl_placement *p;
	uint32_t sum = 0;

	memset(&f, 0, sizeof(f));
	for (size_t i = 0; i < 6; i++)
		fleet_add(&f, (int)i / 2, 0, weights[i]);
	p = kvl_placement_build(&ring3, f.members, f.count);
	for (uint16_t i = 0; i < 6; i++) {
		assert_int_equal(kvl_placement_tokens_of(p, i), want[i]);
		assert_int_equal(kvl_placement_tokens_for(&ring3, weights[i]), want[i]);
		sum += want[i];
	}
	assert_int_equal(kvl_placement_tokens(p), sum);
	assert_int_equal(kvl_placement_tokens_of(p, 6), 0);
	/* Six nodes: six different ones in each row, then nothing. */
	for (uint32_t t = 0; t < sum; t++) {
		const struct kvl_row *row = kvl_placement_row(p, t);
		unsigned int seen = 0;

		for (int i = 0; i < 6; i++) {
			assert_in_range(row->node[i], 0, 5);
			seen |= 1u << row->node[i];
		}
		assert_int_equal(seen, 0x3f);
		assert_int_equal(row->node[6], KVL_NODE_NONE);
		assert_int_equal(row->node[7], KVL_NODE_NONE);
		if (t > 0)
			assert_true(kvl_placement_token(p, t - 1) <= kvl_placement_token(p, t));
	}
	free(p);
}

static void test_empty(void **state)
{
	const enum kvl_placement_kind kinds[] = {KVL_PLACE_RING, KVL_PLACE_MODULO};

	for (int k = 0; k < 2; k++) {
		struct kvl_placement_params params = {
			.kind = kinds[k], .replication = 3, .vnodes = 160};
		struct kvl_placement *p = kvl_placement_build(&params, NULL, 0);
		const uint64_t hashes[] = {0, 1, UINT64_MAX / 2, UINT64_MAX};

		assert_non_null(p);
		assert_int_equal(kvl_placement_tokens(p), 0);
		assert_int_equal(kvl_placement_preferred(p), 0);
		for (int i = 0; i < 4; i++) {
			kvl_placement_prefetch_index(p, hashes[i]);
			assert_int_equal(kvl_placement_find(p, hashes[i]), 0);
		}
		for (int i = 0; i < KVL_ROW_MAX; i++)
			assert_int_equal(kvl_placement_row(p, 0)->node[i], KVL_NODE_NONE);
		free(p);
	}
}

static void build_refused(struct kvl_placement_params params, const struct fleet *f, int error)
{
	errno = 0;
	assert_null(kvl_placement_build(&params, f->members, f->count));
	assert_int_equal(errno, error);
}

static void test_refused(void **state)
{
	struct kvl_placement_params params = ring3;
	static struct fleet f;

	memset(&f, 0, sizeof(f));
	fleet_add(&f, -1, 0, 100);
	fleet_add(&f, -1, 0, 100);
	params.replication = 0;
	build_refused(params, &f, EINVAL);
	params.replication = KVL_REPLICATION_MAX + 1;
	build_refused(params, &f, EINVAL);
	params = ring3;
	params.vnodes = 0;
	build_refused(params, &f, EINVAL);
	params.vnodes = KVL_VNODES_MAX + 1;
	build_refused(params, &f, EINVAL);
	params = ring3;
	params.kind = (enum kvl_placement_kind)99;
	build_refused(params, &f, EINVAL);

	f.members[1].number = 0;
	build_refused(ring3, &f, EINVAL);
	f.members[1].number = KVL_NODE_NONE;
	build_refused(ring3, &f, EINVAL);
	f.members[1].number = 1;
	f.members[1].id = "mc-0";
	build_refused(ring3, &f, EINVAL);
	f.members[1].id = "mc-1";
	f.members[0].weight = 100 * (KVL_TOKENS_MAX / 160); /* and member 1's are too many */
	build_refused(ring3, &f, E2BIG);
}

/* A replica is a memcpy() to any aligned place. */
static void test_replica(void **state)
{
	static struct fleet f;
	struct kvl_placement *a, *b;
	uint64_t random = 4;
	size_t size;

	memset(&f, 0, sizeof(f));
	for (int i = 0; i < 10; i++)
		fleet_add(&f, -1, i % 3, 100);
	a = kvl_placement_build(&ring3, f.members, f.count);
	size = kvl_placement_size(a);
	b = aligned_alloc(KVL_PLACEMENT_ALIGN, size);
	memcpy(b, a, size);
	for (int i = 0; i < 1000; i++) {
		uint64_t hash = fleet_random(&random);
		uint32_t want = kvl_placement_find(a, hash);
		struct kvl_row row = *kvl_placement_row(a, want);

		assert_int_equal(kvl_placement_find(b, hash), want);
		assert_memory_equal(kvl_placement_row(b, want), &row, sizeof(row));
	}
	/* And it holds nothing that points into the original. */
	memset(a, 0xee, size);
	assert_in_range(kvl_placement_row(b, kvl_placement_find(b, 0))->node[0], 0, 9);
	free(a);
	free(b);
}

static void test_modulo(void **state)
{
	const struct kvl_placement_params params = {
		.kind = KVL_PLACE_MODULO, .replication = 2, .vnodes = 160};
	/* By id: mc-0 once, mc-1 twice (250), mc-2 once (below 100). */
	static const uint16_t owner[] = {0, 1, 1, 2};
	static struct fleet f;
	uint64_t random = 5;
	struct kvl_placement *p;

	memset(&f, 0, sizeof(f));
	fleet_add(&f, -1, 0, 100);
	fleet_add(&f, -1, 0, 250);
	fleet_add(&f, -1, 0, 99);
	fleet_shuffle(&f, &random);
	p = kvl_placement_build(&params, f.members, f.count);
	assert_int_equal(kvl_placement_tokens(p), 4);
	for (int i = 0; i < 1000; i++) {
		uint64_t hash = fleet_random(&random);

		assert_int_equal(kvl_placement_find(p, hash), hash % 4);
		assert_int_equal(kvl_placement_row(p, hash % 4)->node[0], owner[hash % 4]);
		assert_int_equal(kvl_placement_token(p, hash % 4), hash % 4);
	}
	assert_int_equal(kvl_placement_row(p, 1)->node[1], 2);
	assert_int_equal(kvl_placement_row(p, 3)->node[1], 0);
	assert_true(kvl_placement_share(p, 1) == 0.5);
	free(p);
}

static void test_names(void **state)
{
	enum kvl_placement_kind kind;

	assert_int_equal(kvl_placement_parse("ring", &kind), 0);
	assert_int_equal(kind, KVL_PLACE_RING);
	assert_int_equal(kvl_placement_parse("hash_modulo", &kind), 0);
	assert_int_equal(kind, KVL_PLACE_MODULO);
	assert_int_equal(kvl_placement_parse("consistent_hashing", &kind), 0);
	assert_int_equal(kind, KVL_PLACE_RING);
	assert_int_equal(kvl_placement_parse("modulo", &kind), 0);
	assert_int_equal(kvl_placement_parse("Ring", &kind), -EINVAL);
	assert_int_equal(kvl_placement_parse("", &kind), -EINVAL);
	assert_string_equal(kvl_placement_name(KVL_PLACE_RING), "ring");
	assert_string_equal(kvl_placement_name(KVL_PLACE_MODULO), "modulo");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_oracle_large),
		cmocka_unit_test(test_order_is_nothing),
		cmocka_unit_test(test_numbers_are_nothing),
		cmocka_unit_test(test_digest_differs),
		cmocka_unit_test(test_tokens_and_rows),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_replica),
		cmocka_unit_test(test_modulo),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
