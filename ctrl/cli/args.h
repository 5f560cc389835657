/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/cli/cli.h"

/*
 * Reads a command line: options may stand before or after the command and its argument, as
 * --name VALUE or --name=VALUE; `--` ends them. Returns 0, or -EINVAL with one line of what is
 * wrong in `why`. Sets call->socket from the environment or the default when it is not given;
 * leaves call->out and err alone.
 */
int args_parse(int argc, char **argv, struct cli_call *call, char *why, size_t why_len);

/* A number from `min` to `max` with at most three decimals. 0, or -EINVAL with `why`. */
int args_number(const char *name, const char *text, double min, double max, double *value,
	char *why, size_t why_len);
