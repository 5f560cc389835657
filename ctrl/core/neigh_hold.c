/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/neigh_hold.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <stdlib.h>

struct kvl_hold {
	struct kvl_hold *next;
	struct kvl_addr addr;
	int ifindex;
	unsigned int users;
	uint64_t renewed_ms; /* 0: never */
	bool renewing;       /* when it fails, the kernel is not waited for */
	enum {
		HOLD_NOTHING,
		HOLD_CREATED,
		HOLD_ADOPTED
	} did; /* what to take back in the end */
};

static struct kvl_hold **bucket_of(
	struct kvl_holds *holds, int ifindex, const struct kvl_addr *addr)
{
	uint32_t h = (uint32_t)ifindex;

	for (size_t i = 0; i < sizeof(addr->bytes); i++)
		h = h * 31 + addr->bytes[i];
	return &holds->buckets[h % KVL_HOLD_BUCKETS];
}

bool kvl_hold_is(const struct kvl_hold *hold, int ifindex, const struct kvl_addr *addr)
{
	return hold->ifindex == ifindex && kvl_addr_eq(&hold->addr, addr);
}

struct kvl_hold *kvl_hold_get(struct kvl_holds *holds, int ifindex, const struct kvl_addr *addr)
{
	struct kvl_hold **bucket = bucket_of(holds, ifindex, addr), *hold;

	for (hold = *bucket; hold != NULL; hold = hold->next) {
		if (kvl_hold_is(hold, ifindex, addr)) {
			hold->users++;
			return hold;
		}
	}
	hold = calloc(1, sizeof(*hold));
	if (hold == NULL)
		return NULL;
	hold->addr = *addr;
	hold->ifindex = ifindex;
	hold->users = 1;
	hold->next = *bucket;
	*bucket = hold;
	return hold;
}

/* Not ours to touch: see the header. */
static bool belongs_to_others(const struct kvl_neigh_entry *entry)
{
	return (entry->state & (NUD_PERMANENT | NUD_NOARP)) || entry->ext_learned;
}

/* Looks again first: since then an operator may have made the entry his own. */
static void take_back(struct kvl_holds *holds, struct kvl_hold *hold)
{
	struct kvl_neigh_entry entry;

	if (hold->did == HOLD_NOTHING
		|| kvl_neigh_entry_get(holds->netlink, hold->ifindex, &hold->addr, &entry) < 0
		|| belongs_to_others(&entry) || (!entry.managed && !holds->no_managed))
		return;
	if (hold->did == HOLD_CREATED)
		kvl_neigh_entry_delete(holds->netlink, hold->ifindex, &hold->addr);
	else if (entry.managed)
		kvl_neigh_entry_use(holds->netlink, hold->ifindex, &hold->addr, 0);
}

void kvl_hold_put(struct kvl_holds *holds, struct kvl_hold *hold)
{
	struct kvl_hold **at;

	if (hold == NULL || --hold->users > 0)
		return;
	at = bucket_of(holds, hold->ifindex, &hold->addr);
	while (*at != hold)
		at = &(*at)->next;
	*at = hold->next;
	take_back(holds, hold);
	free(hold);
}

/* Uses the entry, managed if the kernel takes that. */
static int use_entry(struct kvl_holds *holds, struct kvl_hold *hold, unsigned int use)
{
	int rc;

	if (!holds->no_managed) {
		rc = kvl_neigh_entry_use(
			holds->netlink, hold->ifindex, &hold->addr, use | KVL_NEIGH_MANAGED);
		if (rc != -EINVAL && rc != -EOPNOTSUPP)
			return rc;
		holds->no_managed = true;
	}
	return kvl_neigh_entry_use(holds->netlink, hold->ifindex, &hold->addr, use);
}

static bool wants_use(const struct kvl_holds *holds, const struct kvl_hold *hold,
	const struct kvl_neigh_entry *entry)
{
	if (belongs_to_others(entry))
		return false;
	if (hold->renewing && (entry->state & NUD_FAILED))
		return true;
	if (!holds->no_managed)
		return !entry->managed;
	return !(entry->state & (NUD_REACHABLE | NUD_DELAY | NUD_PROBE | NUD_INCOMPLETE));
}

bool kvl_hold_renew(struct kvl_holds *holds, struct kvl_hold *hold, uint64_t now_ms)
{
	struct kvl_neigh_entry entry;

	if (hold->renewed_ms != 0 && now_ms - hold->renewed_ms < KVL_HOLD_RENEW_MS)
		return false;
	hold->renewed_ms = now_ms;
	if (hold->did == HOLD_NOTHING
		|| kvl_neigh_entry_get(holds->netlink, hold->ifindex, &hold->addr, &entry) < 0
		|| belongs_to_others(&entry) || !kvl_neigh_entry_usable(&entry)
		|| kvl_neigh_entry_probe(holds->netlink, hold->ifindex, &hold->addr) < 0)
		return false;
	hold->renewing = true;
	use_entry(holds, hold, 0); /* managed again; a probe goes on */
	return true;
}

int kvl_hold_refresh(struct kvl_holds *holds, struct kvl_hold *hold, struct kvl_neigh_entry *entry)
{
	struct kvl_netlink *nl = holds->netlink;
	int rc = kvl_neigh_entry_get(nl, hold->ifindex, &hold->addr, entry);

	if (rc == -ENOENT) {
		rc = use_entry(holds, hold, KVL_NEIGH_CREATE);
		if (rc == 0)
			hold->did = HOLD_CREATED;
		else if (rc != -EEXIST) /* -EEXIST: a packet's resolution was quicker */
			return rc;
	} else if (rc == 0 && wants_use(holds, hold, entry)) {
		/* As it was made: still the one created here, only failed. */
		bool same = (entry->state & NUD_FAILED) && entry->managed;

		hold->renewing &= !(entry->state & NUD_FAILED);
		rc = use_entry(holds, hold, 0);
		if (rc == 0 && !same && !(holds->no_managed && hold->did == HOLD_CREATED))
			hold->did = HOLD_ADOPTED;
		else if (rc == -EPERM || rc == -ENOENT)
			rc = 0; /* read it as it is; the next refresh tries again */
	} else {
		return rc;
	}
	rc = kvl_neigh_entry_get(nl, hold->ifindex, &hold->addr, entry);
	/* A kernel before 5.16 took the request and left out what it does not know. */
	if (rc == 0 && hold->did != HOLD_NOTHING && !entry->managed && !belongs_to_others(entry))
		holds->no_managed = true;
	return rc;
}
