/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_mbuf.h>

#include "ctrl/core/exception.h"
#include "ctrl/core/log.h"
#include "ctrl/daemon/eal.h"
#include "dataplane/retry.h"
#include "dataplane/worker.h"

#define ARGS_MAX 64

/* Nothing is shared under it, so several routers may have the same one. */
#define FILE_PREFIX "kvlane"

struct args {
	int count;
	char *list[ARGS_MAX];
};

__attribute__((format(printf, 2, 3))) static void arg_add(struct args *a, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	if (a->count < ARGS_MAX - 1 && vasprintf(&a->list[a->count], format, values) >= 0)
		a->count++;
	va_end(values);
}

/* With what the pool puts around it. */
static uint64_t mbuf_bytes(uint16_t room)
{
	return sizeof(struct rte_mbuf) + room + 128;
}

/* The ports' packet buffers; *mtu becomes the largest. What is wrong with a port is told when it is
 * opened. */
static uint64_t pools_needed(const struct kvl_config *config, uint16_t *mtu)
{
	const struct kvl_router_config *r = &config->router;
	uint64_t sum = 0;
	char error[256];

	for (size_t i = 0; i < config->port_count; i++) {
		uint64_t mbufs = r->workers * (uint64_t)r->mbufs;
		struct kvl_frames frames;

		kvl_frames_plan(&config->ports[i], &frames, error, sizeof(error));
		if (config->ports[i].exception[0] != '\0')
			mbufs += KVL_EXCEPTION_MBUFS;
		sum += mbufs * mbuf_bytes(frames.room);
		*mtu = RTE_MAX(*mtu, frames.mtu);
	}
	return sum;
}

/* What the settings will take, in MB; generous, since running out is found at start only. */
static unsigned int memory_needed(const struct kvl_config *config)
{
	const struct kvl_router_config *r = &config->router;
	uint16_t mtu = 0;
	uint64_t pools = pools_needed(config, &mtu);
	uint64_t worker =
		KVL_MADE_MBUFS * mbuf_bytes(kvl_frames_room(mtu))
		+ kvl_merge_table_size(&(struct kvl_merge_params){
			.request = RTE_MAX(KVL_MERGE_REQUEST, (uint32_t)mtu)})
		+ sizeof(struct kvl_worker)
		+ r->pending_slots
			  * (uint64_t)(sizeof(struct kvl_slot) + 4 + sizeof(struct kvl_retry_copy))
		+ r->max_nodes
			  * (uint64_t)(sizeof(struct kvl_node_counters)
				       + sizeof(struct kvl_histogram));
	uint64_t placements = 0;

	for (size_t i = 0; i < config->service_count; i++) {
		uint64_t tokens = 0;

		for (size_t n = 0; n < config->node_count; n++)
			tokens += 1
				  + config->services[i].placement.vnodes
					    * (uint64_t)config->nodes[n].weight / 100;
		placements += 40 * tokens;
	}
	/* Two generations of placements live for a moment. */
	return (pools + r->workers * (worker + 2 * placements)) * 5 / 4 / 1000000 + 64;
}

static unsigned int hugepages_free_mb(void)
{
	unsigned long pages = 0, kb = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "r");

	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL) {
		sscanf(line, "HugePages_Free: %lu", &pages);
		sscanf(line, "Hugepagesize: %lu", &kb);
	}
	fclose(f);
	return pages * kb / 1024;
}

/* --no-huge and --in-memory do not go together in DPDK 22.11. */
static int memory_args(struct args *a, const struct kvl_config *config, char *error, size_t size)
{
	unsigned int need = memory_needed(config);
	unsigned int have = hugepages_free_mb();

	if (config->router.hugepages != KVL_HUGE_OFF && have >= need) {
		arg_add(a, "--in-memory");
		return 0;
	}
	if (config->router.hugepages == KVL_HUGE_ON) {
		snprintf(error, size,
			"%u MB of hugepages are needed, %u MB are free: "
			"`echo %u >/proc/sys/vm/nr_hugepages`, or set router.hugepages to auto",
			need, have, need / 2 + 1);
		return -ENOMEM;
	}
	if (config->router.hugepages == KVL_HUGE_AUTO)
		kvl_log(KVL_LOG_WARNING,
			"running without hugepages (%u MB needed, %u MB free): more TLB misses, so "
			"more cycles a packet; `echo %u >/proc/sys/vm/nr_hugepages` before the "
			"start",
			need, have, need / 2 + 1);
	arg_add(a, "--no-huge");
	arg_add(a, "--no-shconf");
	arg_add(a, "-m");
	arg_add(a, "%u", need);
	return 0;
}

/* The CPUs to use in order: as configured, else all that this process may use. */
static int cpus_list(const struct kvl_router_config *r, int cpus[CPU_SETSIZE])
{
	cpu_set_t allowed;
	int count = 0;

	for (uint16_t i = 0; i < r->core_count; i++)
		cpus[i] = r->cores[i];
	if (r->core_count != 0)
		return r->core_count;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return -errno;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpus[count++] = cpu;
	return count;
}

/*
 * The main lcore on the first CPU, workers on the following ones, going round when there are fewer
 * CPUs (then workers share, which is for trying out only).
 */
static int lcore_args(struct args *a, const struct kvl_config *config)
{
	char text[KVL_WORKERS_MAX * 12 + 32];
	int cpus[CPU_SETSIZE], at;
	int count = cpus_list(&config->router, cpus);

	if (count < 0)
		return count;

	at = snprintf(text, sizeof(text), "--lcores=0@%d", cpus[0]);
	for (uint32_t w = 1; w <= config->router.workers; w++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, ",%u@%d", w, cpus[w % count]);
	if (config->router.workers >= (uint32_t)count)
		kvl_log(KVL_LOG_WARNING,
			"%u workers and the control core share %d CPUs: set router.poll to "
			"adaptive, "
			"or give more CPUs",
			config->router.workers, count);
	arg_add(a, "%s", text);
	arg_add(a, "--main-lcore=0");
	return 0;
}

static void device_args(struct args *a, const struct kvl_config *config)
{
	bool pci = false;

	for (size_t i = 0; i < config->port_count; i++) {
		if (!kvl_device_is_pci(config->ports[i].device))
			continue;
		pci = true;
		arg_add(a, "-a");
		arg_add(a, "%s", config->ports[i].device);
	}
	if (!pci)
		arg_add(a, "--no-pci");
}

int kvl_eal_start(const struct kvl_config *config, char *error, size_t error_size)
{
	/* EAL keeps pointers to the strings, and permutes the array it is given. */
	static struct args a, given;
	int rc;

	arg_add(&a, "kvlaned");
	arg_add(&a, "--no-telemetry");
	arg_add(&a, "--file-prefix=" FILE_PREFIX);
	arg_add(&a, "--log-level=lib.*:warning");
	arg_add(&a, "--log-level=lib.eal:error"); /* it warns of page sizes nobody asked for */
	arg_add(&a, "--log-level=pmd.*:warning");
	rc = memory_args(&a, config, error, error_size);
	if (rc == 0)
		rc = lcore_args(&a, config);
	if (rc == 0) {
		device_args(&a, config);
		given = a;
		rc = rte_eal_init(given.count, given.list);
		if (rc < 0) {
			rc = -rte_errno;
			snprintf(error, error_size,
				"DPDK does not start (%s): kvlaned must run as root; its own "
				"messages stand above",
				rte_strerror(rte_errno));
		}
	}
	return rc < 0 ? rc : 0;
}

void kvl_eal_stop(void)
{
	rte_eal_cleanup();
	/* EAL leaves its runtime folder behind, though it put nothing into it. */
	rmdir("/var/run/dpdk/" FILE_PREFIX);
}
