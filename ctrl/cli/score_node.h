/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include <jansson.h>

/* All that `scores --node` tells of one node besides its rows. */
void score_node_print(FILE *out, const json_t *node);
