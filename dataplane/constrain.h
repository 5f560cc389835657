/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/burst.h"

/*
 * Choosing where more than the weights counts (SPEC 3.1 to 3.3, 7): the request's consistency, how
 * far replicas lag, its tenant's quota, and how much a node may have in flight. The drawn node is
 * masked by the request's own conditions; then it is drawn again, KVL_REDRAWS times, and then the
 * first in the order of the list that is not masked is taken.
 *
 *	lag     the node is passed over and replaced from the walk, as one that is out; writes pass
 *	        it over too, so that strong reads find what was written. When all lag: asked all the
 *	        same, counted (lag_open).
 *	share   the node has had its share of the tenant's rate within this second: another
 *	        holder, or over_quota.
 *	bound   the node has as much in flight as it may: another holder, or shed.
 *
 * Share and bound move a read among the key's holders only, and never a write: elsewhere it would
 * not be found again.
 */
#define KVL_REDRAWS 2

/* Has the request conditions of its own? Its service's, or by P and L tokens. */
static inline bool kvl_is_constrained(const struct kvl_packet *p)
{
	return (p->service->policy & KVL_POLICY_CHOICE)
	       | (p->request.flags & (KVL_REQ_STRONG | KVL_REQ_EVENTUAL | KVL_REQ_LAG));
}

/* As kvl_choose_node(). A strong read loses KVL_REQ_IDEMPOTENT: no other may be asked instead. */
struct kvl_draw kvl_constrain(
	struct kvl_worker *w, const struct kvl_root *root, struct kvl_packet *p);

/* May a read of the service be tried again at this node? Lag and bound; `lag` is the request's. */
bool kvl_constrain_retry(const struct kvl_worker *w, const struct kvl_root *root,
	const struct kvl_root_service *service, uint16_t node, uint32_t lag);

/* One request off the rate of the service's tenant, if it has one; false, and counted: over it. */
bool kvl_constrain_quota(
	struct kvl_worker *w, const struct kvl_root *root, const struct kvl_root_service *service);
