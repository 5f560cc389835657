/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/ring/internal.h"

/* hash % n over the members in id order, each as often as its weight has whole shares. The
 * token's value is the remainder it stands for. */
static uint64_t modulo_share(const struct kvl_placement_params *params, const struct kvl_member *m)
{
	uint64_t share = m->weight / 100;

	return share > 0 ? share : 1;
}

static int modulo_place(const struct kvl_placement_params *params, const struct kvl_member *members,
	size_t count, struct token *tokens)
{
	size_t n = 0;

	for (size_t m = 0; m < count; m++) {
		uint64_t share = modulo_share(params, &members[m]);

		for (uint64_t i = 0; i < share; i++, n++)
			tokens[n] = (struct token){.value = n, .owner = (uint32_t)m};
	}
	return 0;
}

const struct placement_ops modulo_ops = {
	.name = "modulo",
	.alias = "hash_modulo",
	.remainder = true,
	.share = modulo_share,
	.place = modulo_place,
};
