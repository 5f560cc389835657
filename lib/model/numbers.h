/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>
#include <stddef.h>

/*
 * Stable small numbers for ids (nodes, services). What is in flight holds numbers, never pointers,
 * since a snapshot may change under it; so a number keeps its id for as long as the id stays, and
 * is not given to another id before `quarantine_ms` after it was released (the longest request
 * lifetime and a grace period; docs/architecture.md, "The pending table"). Control core only.
 */
#define KVL_NUMBER_NONE UINT16_MAX

struct kvl_numbers;

/* capacity: 1..UINT16_MAX-1. NULL with errno on failure. */
struct kvl_numbers *kvl_numbers_new(uint32_t capacity, uint64_t quarantine_ms);
void kvl_numbers_free(struct kvl_numbers *numbers);

/*
 * The number of `id`, taken now if it has none. Its quarantine ends when the id comes back: the
 * same id gets the same number. Lowest free number first. Returns KVL_NUMBER_NONE when all are
 * taken or in quarantine.
 */
uint16_t kvl_numbers_take(struct kvl_numbers *numbers, const char *id, uint64_t now_ms);

/* Starts the quarantine. Unknown ids are ignored. */
void kvl_numbers_release(struct kvl_numbers *numbers, const char *id, uint64_t now_ms);

/* KVL_NUMBER_NONE when the id has no live number. */
uint16_t kvl_numbers_find(const struct kvl_numbers *numbers, const char *id);
