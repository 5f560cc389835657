/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/cli/cli.h"

/* What is said of the program as a whole, here and in the man page. */
#define HELP_SUMMARY "look at and steer a running kvlane router"

void help_program(FILE *out);
void help_command(FILE *out, const struct cli_command *command);

/* "nodes [--watch SECONDS] ...": also in the man page. */
void help_synopsis(FILE *out, const struct cli_command *command);
