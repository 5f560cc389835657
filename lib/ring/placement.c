/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/ring/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ring/internal.h"
#include "lib/ring/lookup.h"

static const struct placement_ops *const kinds[] = {
	[KVL_PLACE_RING] = &ring_ops,
	[KVL_PLACE_MODULO] = &modulo_ops,
	[KVL_PLACE_RENDEZVOUS] = &rendezvous_ops,
	[KVL_PLACE_MAGLEV] = &maglev_ops,
	[KVL_PLACE_JUMP] = &jump_ops,
	[KVL_PLACE_KETAMA] = &ketama_ops,
	[KVL_PLACE_KETAMA_UNWEIGHTED] = &ketama_unweighted_ops,
};

#define KINDS KVL_PLACE_KINDS

const char *kvl_placement_name(enum kvl_placement_kind kind)
{
	return (size_t)kind < KINDS ? kinds[kind]->name : "unknown";
}

int kvl_placement_parse(const char *name, enum kvl_placement_kind *kind)
{
	for (size_t i = 0; i < KINDS; i++)
		if (strcmp(name, kinds[i]->name) == 0 || strcmp(name, kinds[i]->alias) == 0) {
			*kind = (enum kvl_placement_kind)i;
			return 0;
		}
	return -EINVAL;
}

uint64_t kvl_placement_tokens_for(const struct kvl_placement_params *params, uint32_t weight)
{
	const struct placement_ops *ops = kinds[params->kind];

	return ops->table != 0 ? 0 : ops->share(params, &(struct kvl_member){.weight = weight});
}

static bool params_good(const struct kvl_placement_params *params)
{
	return (size_t)params->kind < KINDS && params->replication >= 1
	       && params->replication <= KVL_REPLICATION_MAX && params->vnodes >= 1
	       && params->vnodes <= KVL_VNODES_MAX;
}

static int member_compare(const void *a, const void *b)
{
	return strcmp(((const struct kvl_member *)a)->id, ((const struct kvl_member *)b)->id);
}

/* One owner to an id and to a number. Members are sorted by id. */
static int members_check(const struct kvl_member *members, size_t count)
{
	uint64_t seen[(UINT16_MAX + 1) / 64] = {0};

	for (size_t i = 0; i < count; i++) {
		uint64_t bit = 1ull << (members[i].number % 64);
		uint64_t *word = &seen[members[i].number / 64];

		if (members[i].number == KVL_NODE_NONE || (*word & bit) != 0)
			return -EINVAL;
		if (i > 0 && strcmp(members[i].id, members[i - 1].id) == 0)
			return -EINVAL;
		*word |= bit;
	}
	return 0;
}

/* Sorted copy, so that nothing behind it can depend on the order given. */
static int members_sort(const struct kvl_member *members, size_t count, struct kvl_member **sorted)
{
	int ret;

	*sorted = calloc(count + 1, sizeof(**sorted));
	if (*sorted == NULL)
		return -ENOMEM;
	if (count > 0)
		memcpy(*sorted, members, count * sizeof(**sorted));
	qsort(*sorted, count, sizeof(**sorted), member_compare);
	ret = members_check(*sorted, count);
	if (ret < 0) {
		free(*sorted);
		*sorted = NULL;
	}
	return ret;
}

static uint64_t tokens_count(
	const struct kvl_placement_params *params, const struct kvl_member *members, size_t count)
{
	const struct placement_ops *ops = kinds[params->kind];
	uint64_t sum = 0;

	if (count == 0)
		return 0;
	if (ops->table != 0)
		return ops->table;
	if (ops->total != NULL)
		return ops->total(params, members, count);
	for (size_t i = 0; i < count; i++)
		sum += ops->share(params, &members[i]);
	return sum;
}

static int tokens_place(const struct kvl_placement_params *params, const struct kvl_member *members,
	size_t count, struct token **tokens, uint32_t *n)
{
	uint64_t sum = tokens_count(params, members, count);

	if (sum > KVL_TOKENS_MAX)
		return -E2BIG;
	*tokens = calloc(sum + 1, sizeof(**tokens));
	if (*tokens == NULL)
		return -ENOMEM;
	*n = (uint32_t)sum;
	return count == 0 ? 0 : kinds[params->kind]->place(params, members, count, *tokens);
}

/* Two buckets a token, to the nearest power of two: 1.4 to 2.8. */
static uint32_t index_bits(uint32_t tokens)
{
	uint32_t bits = 1;

	while (bits < 31 && (1ull << bits) * 10 < 14ull * tokens)
		bits++;
	return bits;
}

static uint64_t align_up(uint64_t size)
{
	return (size + KVL_PLACEMENT_ALIGN - 1) & ~(uint64_t)(KVL_PLACEMENT_ALIGN - 1);
}

/* An allocated block with its parts laid out, and no contents. */
static struct kvl_placement *block_new(const struct kvl_placement_params *params, uint32_t tokens)
{
	const struct placement_ops *ops = kinds[params->kind];
	const bool remainder = ops->remainder || ops->table != 0;
	const uint32_t bits = remainder ? 1 : index_bits(tokens);
	struct kvl_placement layout = {
		.modulo = remainder ? (tokens > 0 ? tokens : 1) : 0,
		.hash = ops->hash,
		.index_shift = 64 - bits,
		.token_count = tokens,
		.params = *params,
	};
	struct kvl_placement *block;

	layout.index_at = sizeof(layout);
	layout.token_at = layout.index_at + align_up((1ull << bits) * sizeof(uint32_t));
	layout.row_at = layout.token_at
			+ align_up(((uint64_t)tokens + KVL_TOKEN_SENTINELS) * sizeof(uint64_t));
	/* An empty placement has one row, an empty one. */
	layout.size = layout.row_at
		      + align_up((tokens > 0 ? (uint64_t)tokens : 1) * sizeof(struct kvl_row));
	block = aligned_alloc(KVL_PLACEMENT_ALIGN, layout.size);
	if (block == NULL)
		return NULL;
	memset(block, 0, layout.size);
	*block = layout;
	return block;
}

static uint32_t *block_index(struct kvl_placement *p)
{
	return (uint32_t *)((char *)p + p->index_at);
}

static uint64_t *block_values(struct kvl_placement *p)
{
	return (uint64_t *)((char *)p + p->token_at);
}

static struct kvl_row *block_rows(struct kvl_placement *p)
{
	return (struct kvl_row *)((char *)p + p->row_at);
}

static void values_fill(struct kvl_placement *p, const struct token *tokens)
{
	uint64_t *value = block_values(p);

	for (uint32_t i = 0; i < p->token_count; i++)
		value[i] = tokens[i].value;
	for (uint32_t i = 0; i < KVL_TOKEN_SENTINELS; i++)
		value[p->token_count + i] = UINT64_MAX;
}

void index_fill(uint32_t *index, uint32_t shift, const uint64_t *value, uint32_t tokens)
{
	const uint64_t buckets = 1ull << (64 - shift);
	uint32_t token = 0;

	for (uint64_t b = 0; b < buckets; b++) {
		while (token < tokens && value[token] < b << shift)
			token++;
		index[b] = token;
	}
}

static int rows_fill(const struct kvl_placement_params *params, const struct kvl_member *members,
	size_t count, const struct token *tokens, uint32_t n, struct kvl_row *rows, uint32_t *hosts)
{
	const struct placement_ops *ops = kinds[params->kind];

	if (ops->rows != NULL && count != 0)
		return ops->rows(params, members, count, rows, hosts);
	return preference_rows(members, count, tokens, n, params->replication, rows, hosts);
}

struct kvl_placement *kvl_placement_build(
	const struct kvl_placement_params *params, const struct kvl_member *members, size_t count)
{
	struct kvl_placement *p = NULL;
	struct kvl_member *sorted = NULL;
	struct token *tokens = NULL;
	uint32_t n = 0, hosts;
	int ret = -EINVAL;

	if (!params_good(params) || count > KVL_NODE_NONE)
		goto out;
	ret = members_sort(members, count, &sorted);
	if (ret < 0)
		goto out;
	ret = tokens_place(params, sorted, count, &tokens, &n);
	if (ret < 0)
		goto out;
	ret = -ENOMEM;
	p = block_new(params, n);
	if (p == NULL)
		goto out;
	values_fill(p, tokens);
	index_fill(block_index(p), p->index_shift, block_values(p), n);
	memset(block_rows(p), 0xff, sizeof(struct kvl_row)); /* KVL_NODE_NONE, when empty */
	ret = rows_fill(params, sorted, count, tokens, n, block_rows(p), &hosts);
	if (ret < 0)
		goto out;
	p->preferred = hosts < params->replication ? hosts : params->replication;
	ret = placement_digest(p, sorted, count, &p->digest);
out:
	free(tokens);
	free(sorted);
	if (ret < 0) {
		free(p);
		errno = -ret;
		return NULL;
	}
	return p;
}
