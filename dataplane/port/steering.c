/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "dataplane/port/steering.h"

static bool list_has(
	const struct kvl_steering_key *list, size_t count, const struct kvl_steering_key *key)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(&list[i], key, sizeof(*key)) == 0)
			return true;
	return false;
}

_Static_assert(sizeof(struct kvl_steering_address) == sizeof(struct kvl_addr), "the same bytes");

int kvl_steering_snat(
	struct kvl_steering *s, const struct kvl_addr *address, uint16_t first, uint16_t last)
{
	struct kvl_steering_snat value = {first, last};

	if (s->kind == KVL_STEERING_NONE)
		return 0;
	return bpf_map_update_elem(s->snats_fd, address, &value, BPF_ANY);
}

static uint8_t service_value(const struct kvl_steering *s, const struct kvl_steering_key *service)
{
	return list_has(s->listed, s->listed_count, service) ? KVL_STEERING_LISTED
							     : KVL_STEERING_OPEN;
}

int kvl_steering_services(struct kvl_steering *s, const struct kvl_steering_key *list, size_t count)
{
	int rc;

	if (s->kind == KVL_STEERING_NONE)
		return 0;
	if (count > KVL_STEERING_SERVICES)
		return -E2BIG;

	/* Room first, when the map is nearly full of services that go. */
	for (size_t i = 0; i < s->service_count && count + s->service_count > KVL_STEERING_SERVICES;
		i++)
		if (!list_has(list, count, &s->services[i]))
			bpf_map_delete_elem(s->services_fd, &s->services[i]);
	for (size_t i = 0; i < count; i++) {
		uint8_t value = service_value(s, &list[i]);

		rc = bpf_map_update_elem(s->services_fd, &list[i], &value, BPF_ANY);
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < s->service_count; i++)
		if (!list_has(list, count, &s->services[i]))
			bpf_map_delete_elem(s->services_fd, &s->services[i]);

	memmove(s->services, list, count * sizeof(*list)); /* may be the same */
	s->service_count = count;
	return 0;
}
