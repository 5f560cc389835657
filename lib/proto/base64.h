/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Base64 (RFC 4648 section 4) of meta keys. memcached's decoder skips foreign characters and stops
 * at the first padding, so several texts name one item; here only whole quartets of the alphabet
 * with padding at the very end pass, and those decode as memcached decodes them.
 */
bool base64_key_valid(const uint8_t *text, size_t len);

/* Decodes what base64_key_valid accepted; returns the bytes written, at most len / 4 * 3. */
size_t base64_key_decode(const uint8_t *text, size_t len, uint8_t *out);
