/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/merge.h"

/*
 * Good requests that are not for the fast path. What is answered here stays in `odd` and goes
 * straight to transmit.
 */
void kvl_odd(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b)
{
	struct kvl_list *list = &b->odd;
	unsigned int answered = 0;

	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];

		if (p->verdict != KVL_REQUEST_KEYLESS)
			kvl_split(w, root, b, p);
		else if (kvl_keyless(w, root, b, p))
			list->packets[answered++] = p;
	}
	list->count = answered;
}
