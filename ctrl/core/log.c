/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctrl/core/log.h"

static const char *level_word(enum kvl_log_level level)
{
	switch (level) {
	case KVL_LOG_ERROR:
		return "error: ";
	case KVL_LOG_WARNING:
		return "warning: ";
	default:
		return "";
	}
}

void kvl_log(enum kvl_log_level level, const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (getenv("JOURNAL_STREAM") != NULL)
		fprintf(stderr, "<%d>%s\n", level, line);
	else
		fprintf(stderr, "kvlaned: %s%s\n", level_word(level), line);
}
