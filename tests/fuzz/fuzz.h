/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A finding, whatever NDEBUG says. */
#define REQUIRE(what)            \
	do {                     \
		if (!(what))     \
			abort(); \
	} while (0)
