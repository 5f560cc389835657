/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/burst.h"

/*
 * Who is served, how often, and how much is sent there (SPEC 12). All of it is passed over unless a
 * service of the root asks for it (KVL_POLICY_GUARD in root->policies): one branch a burst.
 *
 *	clients        the source must be in the service's list            client_denied
 *	client_rate    datagrams a second of one source address            client_rate
 *	amplification  bytes toward one address, against those from there  amplification
 *
 * Nothing of this is answered: sources can be forged, and an answer would only help who does.
 */

/* Requests just classified. */
void kvl_admit_requests(struct kvl_worker *w, const struct kvl_root *root, struct kvl_list *list);

/* Replies of nodes, accounted and not yet rewritten. */
void kvl_admit_replies(struct kvl_worker *w, const struct kvl_root *root, struct kvl_list *list);

/* The router's own answers, ready to be sent. */
void kvl_admit_answers(struct kvl_worker *w, const struct kvl_root *root, struct kvl_list *list);

/* Whether a message of `len` bytes that is to be made may go to the client; counts if not. `service`
 * may be NULL: it has gone. */
bool kvl_admit_message(struct kvl_worker *w, const struct kvl_root *root,
	const struct kvl_root_service *service, const struct kvl_addr *client, uint64_t len);
