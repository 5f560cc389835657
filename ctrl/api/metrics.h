/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include "ctrl/core/router.h"

/*
 * Prometheus' text format (0.0.4): what the control socket's `status`, `stats`, `nodes` and
 * `scores` tell, for SPEC 11.3. Names and labels are ours or have been validated as names, so that
 * none needs escaping; no key is in any of them.
 */

/* "# HELP" and "# TYPE" of a family whose samples follow. */
void metrics_family(FILE *out, const char *name, const char *type, const char *help);

/* The pages' halves: the router as a whole (metrics_router.c), and its nodes (metrics_nodes.c). */
void metrics_router(FILE *out, struct kvl_router *r);
void metrics_nodes(FILE *out, struct kvl_router *r);
