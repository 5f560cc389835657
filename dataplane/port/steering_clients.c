/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "dataplane/port/steering.h"

/* The services' lists of clients in the kernel. */

static int client_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct kvl_steering_client));
}

static bool sorted_has(const struct kvl_steering_client *list, size_t count,
	const struct kvl_steering_client *client)
{
	return count != 0 && bsearch(client, list, count, sizeof(*list), client_compare) != NULL;
}

/* Takes out of the trie what is in `list` and not in `kept`; both sorted. */
static void clients_delete(const struct kvl_steering *s, const struct kvl_steering_client *list,
	size_t count, const struct kvl_steering_client *kept, size_t kept_count)
{
	for (size_t i = 0; i < count; i++)
		if (!sorted_has(kept, kept_count, &list[i]))
			bpf_map_delete_elem(s->clients_fd, &list[i]);
}

/* Services that are open already change what is said of them. */
static int services_mark(
	struct kvl_steering *s, const struct kvl_steering_key *listed, size_t count)
{
	memcpy(s->listed, listed, count * sizeof(*listed));
	s->listed_count = count;
	return kvl_steering_services(s, s->services, s->service_count);
}

static int clients_add(
	const struct kvl_steering *s, const struct kvl_steering_client *list, size_t count)
{
	uint8_t one = 1;

	for (size_t i = 0; i < count; i++) {
		int rc = bpf_map_update_elem(s->clients_fd, &list[i], &one, BPF_ANY);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int kvl_steering_clients(struct kvl_steering *s, const struct kvl_steering_key *listed,
	size_t listed_count, const struct kvl_steering_client *list, size_t count)
{
	struct kvl_steering_client *sorted;
	int rc;

	if (s->kind == KVL_STEERING_NONE)
		return 0;
	if (listed_count > KVL_STEERING_SERVICES || count > KVL_STEERING_CLIENTS)
		return -E2BIG;
	sorted = calloc(count + 1, sizeof(*sorted));
	if (sorted == NULL)
		return -ENOMEM;
	if (count != 0)
		memcpy(sorted, list, count * sizeof(*list));
	qsort(sorted, count, sizeof(*sorted), client_compare);

	/* Room first, when both lists do not fit. */
	if (count + s->client_count > KVL_STEERING_CLIENTS)
		clients_delete(s, s->clients, s->client_count, sorted, count);
	rc = clients_add(s, sorted, count);
	if (rc == 0)
		rc = services_mark(s, listed, listed_count);
	if (rc < 0) {
		free(sorted);
		return rc;
	}
	clients_delete(s, s->clients, s->client_count, sorted, count);
	free(s->clients);
	s->clients = sorted;
	s->client_count = count;
	return 0;
}

uint64_t kvl_steering_denied(const struct kvl_steering *s)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *counts, sum = 0;
	uint32_t first = 0;

	if (s->kind == KVL_STEERING_NONE || cpus <= 0)
		return 0;
	counts = calloc((size_t)cpus, sizeof(*counts));
	if (counts != NULL && bpf_map_lookup_elem(s->denied_fd, &first, counts) == 0)
		for (int i = 0; i < cpus; i++)
			sum += counts[i];
	free(counts);
	return sum;
}
