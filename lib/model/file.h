/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

/*
 * Reads a whole regular file of at most `max` bytes. *text is NUL-terminated behind its *len bytes
 * and released with free(). Returns 0, or a negative errno: -EFBIG when it is longer, -EINVAL when
 * it is no regular file (reading one could block the control core), what open() and read() say.
 */
int file_read(const char *path, size_t max, char **text, size_t *len);
