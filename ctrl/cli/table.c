/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define GAP "  "

struct table {
	const char *const *heads;
	size_t count;
	char **cells;
	size_t used, room;
};

static void *must(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

struct table *table_new(const char *const *heads, size_t count)
{
	struct table *t = must(calloc(1, sizeof(*t)));

	t->heads = heads;
	t->count = count;
	return t;
}

static bool is_right(const struct table *t, size_t column)
{
	return t->heads[column][0] == '>';
}

static const char *head_of(const struct table *t, size_t column)
{
	return t->heads[column] + is_right(t, column);
}

static void make_printable(char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
	}
}

void table_cell(struct table *t, const char *format, ...)
{
	va_list args;

	if (t->used == t->room) {
		t->room = t->room * 2 + 64;
		t->cells = must(realloc(t->cells, t->room * sizeof(*t->cells)));
	}
	va_start(args, format);
	if (vasprintf(&t->cells[t->used], format, args) < 0)
		abort();
	va_end(args);
	make_printable(t->cells[t->used++]);
}

static size_t column_width(const struct table *t, size_t column)
{
	size_t width = strlen(head_of(t, column));

	for (size_t i = column; i < t->used; i += t->count) {
		if (strlen(t->cells[i]) > width)
			width = strlen(t->cells[i]);
	}
	return width;
}

/* No spaces after the last text of a line. */
static void print_line(const struct table *t, FILE *out, const size_t *widths, char **cells)
{
	size_t last = t->count, pending = 0;

	while (last > 0 && (cells != NULL ? cells[last - 1] : head_of(t, last - 1))[0] == '\0')
		last--;
	for (size_t c = 0; c < last; c++) {
		const char *text = cells != NULL ? cells[c] : head_of(t, c);
		size_t pad = widths[c] - strlen(text);

		fprintf(out, "%*s%*s%s", (int)pending, "", is_right(t, c) ? (int)pad : 0, "", text);
		pending = strlen(GAP) + (is_right(t, c) ? 0 : pad);
	}
	fputc('\n', out);
}

static bool has_heads(const struct table *t)
{
	for (size_t c = 0; c < t->count; c++) {
		if (head_of(t, c)[0] != '\0')
			return true;
	}
	return false;
}

void table_print(struct table *t, FILE *out, const char *empty)
{
	size_t *widths = must(calloc(t->count, sizeof(*widths)));

	for (size_t c = 0; c < t->count; c++)
		widths[c] = column_width(t, c);
	if (t->used == 0 && empty != NULL)
		fprintf(out, "%s\n", empty);
	if (t->used > 0 && has_heads(t))
		print_line(t, out, widths, NULL);
	for (size_t i = 0; i + t->count <= t->used; i += t->count)
		print_line(t, out, widths, t->cells + i);
	for (size_t i = 0; i < t->used; i++)
		free(t->cells[i]);
	free(t->cells);
	free(widths);
	free(t);
}
