/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "dataplane/track/pending.h"

#define SLOTS_MIN           (1u << 10)
#define SLOTS_MAX           (1u << 20)
#define GENERATION_BITS_MIN 2 /* fewer would repeat within a node's ordinary lateness */

static bool power_of_two(uint32_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

static unsigned int log2_up(uint32_t n)
{
	unsigned int bits = 0;

	while ((1u << bits) < n)
		bits++;
	return bits;
}

/* Bits left for the generation, or -1 when the parameters do not fit. */
static int generation_bits(const struct kvl_pending_params *params)
{
	int bits;

	if (!power_of_two(params->slots) || params->slots < SLOTS_MIN || params->slots > SLOTS_MAX
		|| !power_of_two(params->port_count) || params->port_count > 1u << 15
		|| params->port_first % params->port_count != 0 || params->workers == 0
		|| params->worker >= params->workers)
		return -1;
	bits = (int)(log2_up(params->port_count) + 16 - log2_up(params->workers)
		     - log2_up(params->slots));
	if (log2_up(params->workers) > log2_up(params->port_count) || bits < GENERATION_BITS_MIN)
		return -1;
	return bits;
}

static size_t slots_bytes(const struct kvl_pending_params *params)
{
	return params->slots * sizeof(struct kvl_slot);
}

size_t kvl_pending_size(const struct kvl_pending_params *params)
{
	if (generation_bits(params) < 0)
		return 0;
	return slots_bytes(params) + params->slots * sizeof(uint32_t);
}

int kvl_pending_init(struct kvl_pending *p, void *memory, const struct kvl_pending_params *params)
{
	int bits = generation_bits(params);

	if (bits < 0)
		return -EINVAL;

	p->slots = memory;
	p->free = (void *)((char *)memory + slots_bytes(params));
	p->size = params->slots;
	p->port_first = params->port_first;
	p->port_mask = params->port_count - 1;
	p->worker = params->worker;
	p->worker_bits = log2_up(params->workers);
	p->slot_bits = log2_up(params->slots);
	/* More than 16 bits of it would fit with few slots; 16 are kept and the top ones are 0. */
	p->generation_mask = bits >= 16 ? UINT16_MAX : (1u << bits) - 1;
	kvl_sequence_pool_init(&p->sequences);

	for (uint32_t i = 0; i < p->size; i++)
		p->free[i] = i;
	p->free_head = 0;
	p->free_count = p->size;
	kvl_wheel_init(&p->wheel, p->slots, sizeof(struct kvl_slot), p->size);
	return 0;
}

void kvl_pending_renew(struct kvl_pending *p, uint32_t slot)
{
	struct kvl_slot *s = &p->slots[slot];

	kvl_sequences_reset(&s->seen, &p->sequences);
	s->generation = (s->generation + 1) & p->generation_mask;
}

void kvl_pending_abandon(struct kvl_pending *p, uint32_t slot)
{
	struct kvl_slot *s = &p->slots[slot];

	kvl_pending_leave(p, slot);
	s->generation = (s->generation + 1) & p->generation_mask;
	p->free[(p->free_head + p->free_count) & (p->size - 1)] = slot;
	p->free_count++;
}
