/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

/* Costs of single parts of the data plane, those whose name contains `only`. */
void parts_run(FILE *json, const char *only);
