/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/router.h"

/*
 * Changes to the running router (SPEC 4.6): scoring of a service, weight of a node. Noted as
 * overrides (overrides.h), so that a reload keeps them. Workers go on meanwhile and see the outcome
 * with the next root.
 */

/* `now` is what holds for the service (its own and the configuration's part was changed in
 * `fields`). It has been validated. */
void kvl_tune_service(struct kvl_router *r, struct kvl_service_config *config, uint32_t fields,
	const struct kvl_scoring_config *now);

/* Back to what the file says. 0 or -EINVAL, as kvl_overrides_unset(). */
int kvl_tune_service_unset(struct kvl_router *r, struct kvl_service_config *config, uint32_t fields,
	char *why, size_t size);

/*
 * A node's weight changes the placements of its pool: they are built anew, a new revision is
 * switched to, and keys move. `unset`: back to the file's, whatever `weight`. Returns 0, or
 * negative errno with the old state live: -ENOSPC (too many overrides), or topology_new()'s with
 * the reason in *diags.
 */
int kvl_tune_node(struct kvl_router *r, struct kvl_node_config *config, uint32_t weight, bool unset,
	struct kvl_diags *diags);
