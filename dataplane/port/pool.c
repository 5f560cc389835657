/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>

#include "dataplane/port/port.h"

#define POOL_CACHE 256

/*
 * Not rte_pktmbuf_pool_create(): net_af_xdp registers the pool's first memory chunk as UMEM, and
 * some of that function's mbufs lie outside it and are lost in silence (11 of 16384 with
 * hugepages, 6913 without). NO_IOVA_CONTIG lets populate_default() put all into one chunk.
 */
struct rte_mempool *kvl_pool_new(const char *name, uint32_t mbufs, uint16_t room, int socket)
{
	struct rte_pktmbuf_pool_private private = {.mbuf_data_room_size = room};
	struct rte_mempool *pool;
	int rc;

	pool = rte_mempool_create_empty(name, mbufs, sizeof(struct rte_mbuf) + room, POOL_CACHE,
		sizeof(private), socket, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	if (pool == NULL)
		return NULL;
	rc = rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL);
	if (rc < 0)
		goto fail;
	rte_pktmbuf_pool_init(pool, &private);
	rc = rte_mempool_populate_default(pool);
	if (rc < 0)
		goto fail;
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
fail:
	rte_mempool_free(pool);
	rte_errno = -rc;
	return NULL;
}
