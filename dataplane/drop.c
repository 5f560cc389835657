/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/burst.h"

void kvl_packet_drop(struct kvl_worker *w, struct kvl_packet *p, enum kvl_drop why)
{
	kvl_count(&w->counters.drops[why], 1);
	rte_pktmbuf_free(p->mbuf);
}
