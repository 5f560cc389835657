/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/burst.h"

/* Requests whose time is up, of this try or altogether. */

#define EXPIRE_MAX 64 /* a turn: a dead node's thousands must not hold up the packets of others */

uint32_t kvl_expire(struct kvl_worker *w, const struct kvl_root *root)
{
	uint32_t expired[EXPIRE_MAX];
	uint32_t n = kvl_wheel_advance(&w->pending.wheel, w->tick, expired, EXPIRE_MAX);

	for (uint32_t i = 0; i < n; i++)
		kvl_give_up(w, root, expired[i], false);
	if (unlikely(w->sweep_left != 0 || w->refused_count != 0))
		kvl_refuse_sweep(w, root);
	return n;
}
