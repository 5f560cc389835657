/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "tests/bench/figures.h"

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct figures figures_of(uint64_t *cycles, unsigned int count, unsigned int packets)
{
	qsort(cycles, count, sizeof(*cycles), compare);
	return (struct figures){
		.p10 = (double)cycles[count / 10] / packets,
		.median = (double)cycles[count / 2] / packets,
		.p90 = (double)cycles[count - 1 - count / 10] / packets,
	};
}

void figures_report(FILE *json, const char *name, struct figures f)
{
	printf("%-40s %7.1f  %7.1f - %.1f\n", name, f.median, f.p10, f.p90);
	fflush(stdout);
	if (json != NULL)
		fprintf(json, ",\n  \"%s\": {\"median\": %.2f, \"p10\": %.2f, \"p90\": %.2f}", name,
			f.median, f.p10, f.p90);
}

FILE *figures_open(const char *path, uint64_t tsc_hz)
{
	FILE *json;

	printf("%-40s %7s  %s\n", "cycles per packet", "median", "p10 - p90");
	if (path == NULL)
		return NULL;
	json = fopen(path, "w");
	if (json == NULL) {
		perror(path);
		exit(1);
	}
	fprintf(json, "{\n  \"tsc_hz\": %" PRIu64, tsc_hz);
	return json;
}

void figures_close(FILE *json)
{
	if (json == NULL)
		return;
	fputs("\n}\n", json);
	fclose(json);
}
