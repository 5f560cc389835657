/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdio.h>

/*
 * Text in columns as wide as their widest cell, two spaces between. Cells are added left to right,
 * row by row. Bytes that a terminal would act on are shown as '?'.
 */
struct table;

#define TABLE_COLUMNS(heads) (sizeof(heads) / sizeof((heads)[0]))

/* The heads are borrowed. One that begins with '>' is of numbers: to the right. All "": no line of
 * heads. Aborts the program when there is no memory, as everything here does. */
struct table *table_new(const char *const *heads, size_t count);
__attribute__((format(printf, 2, 3))) void table_cell(struct table *table, const char *format, ...);

/* Prints and frees. Without rows: nothing but `empty` (NULL: nothing at all). */
void table_print(struct table *table, FILE *out, const char *empty);
