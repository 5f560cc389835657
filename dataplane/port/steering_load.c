/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "dataplane/port/steering.h"
#include "steering_tc.h"
#include "steering_xdp.h"

/*
 * Life cycle of the programs. After kill -9 they stay attached, and an AF_XDP port could not start
 * again: so our own leftovers are recognised by name and removed, foreign ones refused.
 */
#define XDP_NAME    "kvlane_xdp"
#define TC_NAME     "kvlane_tc"
#define TC_HANDLE   1
#define TC_PRIORITY 1

static int quiet_print(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0; /* failures are told by the caller, once and with what to do */
}

const char *kvl_steering_xdp_path(void)
{
	static char path[32];
	int fd;

	if (path[0] != '\0')
		return path;
	fd = memfd_create(XDP_NAME, 0);
	if (fd < 0)
		return NULL;
	if (write(fd, steering_xdp, sizeof(steering_xdp)) != (ssize_t)sizeof(steering_xdp)) {
		close(fd);
		errno = EIO;
		return NULL;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

/* Name of the program with this id; 0 or negative errno. */
static int program_name(uint32_t id, char *name, size_t size)
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);
	int rc;

	if (fd < 0)
		return fd;
	rc = bpf_obj_get_info_by_fd(fd, &info, &len);
	if (rc == 0)
		snprintf(name, size, "%s", info.name);
	close(fd);
	return rc;
}

int kvl_steering_xdp_reclaim(int ifindex, char *name, size_t size)
{
	uint32_t id = 0;
	int rc;

	libbpf_set_print(quiet_print);
	rc = bpf_xdp_query_id(ifindex, 0, &id);
	if (rc < 0)
		return rc;
	if (id == 0)
		return 0;
	rc = program_name(id, name, size);
	if (rc < 0)
		return rc;
	if (strcmp(name, XDP_NAME) != 0)
		return -EBUSY;
	return bpf_xdp_detach(ifindex, 0, NULL);
}

static const char *const map_names[] = {"services", "snats", "clients", "denied"};
#define MAPS (sizeof(map_names) / sizeof(*map_names))

/* Where the map of this name is kept; NULL: it is none of ours. */
static int *map_place(struct kvl_steering *s, const char *name)
{
	int *const places[MAPS] = {&s->services_fd, &s->snats_fd, &s->clients_fd, &s->denied_fd};

	for (size_t i = 0; i < MAPS; i++)
		if (strcmp(name, map_names[i]) == 0)
			return places[i];
	return NULL;
}

static bool maps_found(struct kvl_steering *s)
{
	for (size_t i = 0; i < MAPS; i++)
		if (*map_place(s, map_names[i]) < 0)
			return false;
	return true;
}

static struct kvl_steering steering_none(enum kvl_steering_kind kind, int ifindex)
{
	return (struct kvl_steering){.kind = kind,
		.ifindex = ifindex,
		.services_fd = -1,
		.snats_fd = -1,
		.clients_fd = -1,
		.denied_fd = -1};
}

/* Opens the map with this id when it is one of ours by name. */
static void map_adopt(struct kvl_steering *s, uint32_t id)
{
	struct bpf_map_info info = {0};
	uint32_t len = sizeof(info);
	int fd = bpf_map_get_fd_by_id(id);

	if (fd < 0)
		return;
	if (bpf_obj_get_info_by_fd(fd, &info, &len) == 0) {
		int *place = map_place(s, info.name);

		if (place != NULL && *place < 0) {
			*place = fd;
			return;
		}
	}
	close(fd);
}

/* The driver loaded the program, so its maps are reached through the kernel: program, then ids. */
int kvl_steering_xdp_open(struct kvl_steering *s, int ifindex)
{
	uint32_t ids[8], id = 0;
	struct bpf_prog_info info = {.nr_map_ids = 8, .map_ids = (uintptr_t)ids};
	uint32_t len = sizeof(info);
	int fd, rc;

	*s = steering_none(KVL_STEERING_XDP, ifindex);
	rc = bpf_xdp_query_id(ifindex, 0, &id);
	if (rc < 0 || id == 0)
		return rc < 0 ? rc : -ENOENT;
	fd = bpf_prog_get_fd_by_id(id);
	if (fd < 0)
		return fd;
	rc = bpf_obj_get_info_by_fd(fd, &info, &len);
	close(fd);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < info.nr_map_ids && i < 8; i++)
		map_adopt(s, ids[i]);
	return maps_found(s) ? 0 : -ENOENT;
}

static int tc_attach(struct kvl_steering *s, int program_fd)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = s->ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = program_fd, .handle = TC_HANDLE,
		.priority = TC_PRIORITY, .flags = BPF_TC_F_REPLACE);
	int rc = bpf_tc_hook_create(&hook);

	if (rc < 0 && rc != -EEXIST)
		return rc;
	s->hook_created = rc == 0;
	return bpf_tc_attach(&hook, &opts);
}

/* Our handle may be taken by a filter that is not ours: then hands off. */
static int tc_reclaim(int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = TC_HANDLE, .priority = TC_PRIORITY);
	char name[32];

	if (bpf_tc_query(&hook, &opts) != 0)
		return 0;
	if (program_name(opts.prog_id, name, sizeof(name)) != 0 || strcmp(name, TC_NAME) != 0)
		return -EBUSY;
	return 0;
}

int kvl_steering_tc_open(struct kvl_steering *s, int ifindex)
{
	struct bpf_object *object;
	int rc;

	*s = steering_none(KVL_STEERING_TC, ifindex);
	libbpf_set_print(quiet_print);
	rc = tc_reclaim(ifindex);
	if (rc < 0)
		return rc;
	object = bpf_object__open_mem(steering_tc, sizeof(steering_tc), NULL);
	if (object == NULL)
		return -errno;
	rc = bpf_object__load(object);
	if (rc < 0)
		goto out;
	/* The maps live on by our duplicates, the program by its filter. */
	for (size_t i = 0; i < MAPS; i++)
		*map_place(s, map_names[i]) = fcntl(
			bpf_object__find_map_fd_by_name(object, map_names[i]), F_DUPFD_CLOEXEC, 0);
	if (!maps_found(s))
		rc = -errno;
	else
		rc = tc_attach(
			s, bpf_program__fd(bpf_object__find_program_by_name(object, TC_NAME)));
out:
	bpf_object__close(object);
	return rc;
}

static void tc_detach(const struct kvl_steering *s)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = s->ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = TC_HANDLE, .priority = TC_PRIORITY);

	bpf_tc_detach(&hook, &opts);
	if (s->hook_created) {
		hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS; /* the whole clsact qdisc */
		bpf_tc_hook_destroy(&hook);
	}
}

void kvl_steering_close(struct kvl_steering *s)
{
	char name[32];

	if (s->kind == KVL_STEERING_NONE)
		return;
	if (s->kind == KVL_STEERING_TC)
		tc_detach(s);
	else
		kvl_steering_xdp_reclaim(s->ifindex, name, sizeof(name));
	for (size_t i = 0; i < MAPS; i++)
		if (*map_place(s, map_names[i]) >= 0)
			close(*map_place(s, map_names[i]));
	free(s->clients);
	*s = steering_none(KVL_STEERING_NONE, 0);
}
