/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>
#include <stdio.h>

/*
 * What is left of many rounds. The median is what to compare: a round that another process or the
 * hypervisor broke into is far off, and there are some in every run.
 */
struct figures {
	double p10, median, p90;
};

/* Of `count` rounds, each the TSC cycles of `packets` packets; sorts them. */
struct figures figures_of(uint64_t *cycles, unsigned int count, unsigned int packets);

/* One line of the table on stdout and, when json is open, one member of its object. */
void figures_report(FILE *json, const char *name, struct figures f);

/* `{`...`}` around the members. path NULL: no file is written. Ends the program when it cannot be
 * opened. */
FILE *figures_open(const char *path, uint64_t tsc_hz);
void figures_close(FILE *json);
