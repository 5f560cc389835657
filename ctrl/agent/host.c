/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/agent/host.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* proc(5): "cpu user nice system idle iowait irq softirq steal ..." */
static void cpu_read(struct host *h, struct host_figures *f)
{
	uint64_t v[8] = {0}, all = 0, idle, io;
	FILE *file = fopen("/proc/stat", "r");

	if (file == NULL)
		return;
	if (fscanf(file,
		    "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		    " %" SCNu64 " %" SCNu64,
		    &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7])
		!= 8)
		v[0] = 0;
	fclose(file);
	for (int i = 0; i < 8; i++)
		all += v[i];
	idle = v[3];
	io = v[4];
	if (h->cpu_all != 0 && all > h->cpu_all) {
		double span = (double)(all - h->cpu_all);

		f->cpu = 1 - ((double)(idle - h->cpu_idle) + (double)(io - h->cpu_io)) / span;
		f->io_wait = (double)(io - h->cpu_io) / span;
		/* The kernel's idle counters may step back a little (proc(5)). */
		f->cpu = fmin(fmax(f->cpu, 0), 1);
		f->io_wait = fmin(fmax(f->io_wait, 0), 1);
	}
	h->cpu_all = all;
	h->cpu_idle = idle;
	h->cpu_io = io;
}

static void memory_read(struct host_figures *f)
{
	uint64_t total = 0, available = 0;
	char line[128];
	FILE *file = fopen("/proc/meminfo", "r");

	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL) {
		sscanf(line, "MemTotal: %" SCNu64, &total);
		sscanf(line, "MemAvailable: %" SCNu64, &available);
	}
	fclose(file);
	if (total == 0)
		return;
	f->memory = 1 - (double)available / (double)total;
	f->memory_mb = (uint32_t)(total / 1024);
}

static bool number_read(const char *interface, const char *name, uint64_t *value)
{
	char path[256];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", interface, name);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	ok = fscanf(file, "%" SCNu64, value) == 1;
	fclose(file);
	return ok;
}

/* Virtual interfaces claim 10 Gbit/s or refuse to tell; then shares stay unknown. */
static void network_read(struct host *h, uint64_t now_ms, struct host_figures *f)
{
	uint64_t in, out, mbit;

	if (h->interface == NULL || !number_read(h->interface, "statistics/rx_bytes", &in)
		|| !number_read(h->interface, "statistics/tx_bytes", &out))
		return;
	if (number_read(h->interface, "speed", &mbit) && mbit > 0 && mbit < 10000000) {
		double span = (double)(now_ms - h->time_ms) * (double)mbit * 125;

		f->nic_mbit = (uint32_t)mbit;
		if (h->time_ms != 0 && span > 0) {
			f->network_in = fmin((double)(in - h->bytes_in) / span, 1);
			f->network_out = fmin((double)(out - h->bytes_out) / span, 1);
		}
	}
	h->bytes_in = in;
	h->bytes_out = out;
}

void host_read(struct host *h, uint64_t now_ms, struct host_figures *f)
{
	*f = (struct host_figures){NAN, NAN, NAN, NAN, NAN, 0, 0};
	cpu_read(h, f);
	memory_read(f);
	network_read(h, now_ms, f);
	h->time_ms = now_ms;
}
