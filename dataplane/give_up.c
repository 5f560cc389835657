/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/admit.h"
#include "dataplane/datagram.h"
#include "dataplane/merge.h"
#include "dataplane/retry.h"

/*
 * The end of a request whose node did not answer, or not in full, or cannot be reached. The node is
 * charged once; the slot goes back with its generation advanced, so that the reply, should it still
 * come, matches nothing; and the client is told, unless it wants no answer or has a part of one.
 */

static uint32_t refused_age_us(
	const struct kvl_root *root, const struct kvl_worker *w, const struct kvl_slot *s)
{
	const struct kvl_root_service *service = kvl_root_service_numbered(root, s->service);

	if (service != NULL)
		return RTE_MIN(service->timeout_ms * 1000, (uint32_t)KVL_LATENCY_MOST);
	return kvl_slot_age_us(w, s);
}

static void node_charge(
	struct kvl_worker *w, const struct kvl_root *root, const struct kvl_slot *s, bool refused)
{
	struct kvl_node_counters *node = &w->nodes[s->node];
	struct kvl_pulse *pulse = &w->pulses[s->node];

	kvl_pulse_left(pulse);
	/* A reply that came in part, or was too large, is no silence. */
	if (!refused && ((s->flags & KVL_SLOT_HEARD) || s->seen.total != 0))
		node->timeouts_in_a_row = 0;
	else
		node->timeouts_in_a_row++;
	/* It took at least as long as was waited for it. A refusal is quick, but no speed. */
	kvl_pulse_latency(
		pulse, refused ? refused_age_us(root, w, s) : kvl_slot_age_us(w, s), w->tick);
	kvl_count(&node->timeouts, 1);
	kvl_count(&w->counters.timeouts, 1);
	if (refused)
		kvl_count(&w->counters.refused, 1);
}

static struct kvl_way way_to_client(const struct kvl_slot *s)
{
	return (struct kvl_way){
		.from_mac = s->router_mac,
		.to_mac = s->client_mac,
		.from = s->vip,
		.to = s->client,
		.from_port = s->vip_port,
		.to_port = s->client_port,
		.vlan = s->vlan,
		.port = s->port,
	};
}

static void client_tell(struct kvl_worker *w, const struct kvl_root *root, const struct kvl_slot *s)
{
	const enum kvl_verdict why =
		s->flags & KVL_SLOT_HEARD ? KVL_REQUEST_REPLY_HUGE : KVL_REQUEST_NO_REPLY;
	const struct kvl_way way = way_to_client(s);
	struct kvl_datagram d;

	if (s->seen.total != 0)
		return;
	if (unlikely(root->policies & KVL_POLICY_GUARD)
		&& !kvl_admit_message(w, root, kvl_root_service_numbered(root, s->service),
			&s->client, KVL_ANSWER_MAX))
		return;
	if (!kvl_datagram_begin(w, &d))
		return;
	kvl_count(&w->counters.answered[why], 1);
	kvl_datagram_send(w, &d, &way, s->client_id, 0, 1, kvl_echo_answer(why, &s->echo, d.data));
}

void kvl_give_up(struct kvl_worker *w, const struct kvl_root *root, uint32_t slot, bool refused)
{
	const struct kvl_slot *s = &w->pending.slots[slot];

	if ((s->flags & KVL_SLOT_RETRY) && kvl_retry_again(w, root, slot, refused))
		return;
	if (s->flags & KVL_SLOT_QUIET) {
		kvl_count(&w->counters.quiet_expired, 1);
	} else {
		node_charge(w, root, s, refused);
		if (s->flags & KVL_SLOT_PART)
			kvl_merge_part_lost(w, s->merge, s->part);
		else
			client_tell(w, root, s);
	}
	kvl_pending_abandon(&w->pending, slot);
}
