/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include <jansson.h>

/*
 * Members of a result, for printing: one that is missing (an older or newer kvlaned) or null reads
 * as "-", 0 or false.
 */
const char *value_text(const json_t *object, const char *name);
long long value_int(const json_t *object, const char *name);
double value_number(const json_t *object, const char *name);
bool value_flag(const json_t *object, const char *name);
json_t *value_list(const json_t *object, const char *name); /* borrowed; NULL has no elements */

/* A node's "state", and "unconfirmed" behind it when it is: "healthy, unconfirmed". */
#define VALUE_STATE 64
const char *value_state(const json_t *node, char text[VALUE_STATE]);

/* "yes" and "no". */
const char *value_yes(const json_t *object, const char *name);

/* 0.1234 as "12.3%" of room for any double; buffers of VALUE_BUF. */
#define VALUE_BUF 32
const char *value_percent(double share, char buf[VALUE_BUF]);

/* Microseconds as "870us", "1.25ms", "3.2s"; "-" for none. */
const char *value_latency(double us, char buf[VALUE_BUF]);

/* A score's terms as "base +100.0, p99 -3.7"; what does not fit is left out. */
#define VALUE_TERMS 256
const char *value_terms(const json_t *terms, char text[VALUE_TERMS]);

/* Seconds as "4d 03:12:09". */
const char *value_duration(long long s, char buf[VALUE_BUF]);
