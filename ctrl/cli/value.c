/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/value.h"

#include <stdio.h>

const char *value_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text != NULL && text[0] != '\0' ? text : "-";
}

long long value_int(const json_t *object, const char *name)
{
	return (long long)value_number(object, name);
}

double value_number(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

bool value_flag(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

json_t *value_list(const json_t *object, const char *name)
{
	return json_object_get(object, name);
}

const char *value_state(const json_t *node, char text[VALUE_STATE])
{
	snprintf(text, VALUE_STATE, "%s%s", value_text(node, "state"),
		value_flag(node, "unconfirmed") ? ", unconfirmed" : "");
	return text;
}

const char *value_yes(const json_t *object, const char *name)
{
	return value_flag(object, name) ? "yes" : "no";
}

const char *value_percent(double share, char buf[VALUE_BUF])
{
	snprintf(buf, VALUE_BUF, "%.1f%%", share * 100);
	return buf;
}

const char *value_latency(double us, char buf[VALUE_BUF])
{
	if (us <= 0)
		snprintf(buf, VALUE_BUF, "-");
	else if (us < 1000)
		snprintf(buf, VALUE_BUF, "%.0fus", us);
	else if (us < 1e6)
		snprintf(buf, VALUE_BUF, "%.*fms", us < 1e4 ? 2 : us < 1e5 ? 1 : 0, us / 1e3);
	else
		snprintf(buf, VALUE_BUF, "%.1fs", us / 1e6);
	return buf;
}

const char *value_duration(long long s, char buf[VALUE_BUF])
{
	if (s >= 86400)
		snprintf(buf, VALUE_BUF, "%lldd %02lld:%02lld:%02lld", s / 86400, s / 3600 % 24,
			s / 60 % 60, s % 60);
	else
		snprintf(buf, VALUE_BUF, "%02lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
	return buf;
}

const char *value_terms(const json_t *terms, char text[VALUE_TERMS])
{
	const char *name;
	json_t *points;
	size_t at = 0;

	text[0] = '\0';
	json_object_foreach((json_t *)terms, name, points)
	{
		int n = snprintf(text + at, VALUE_TERMS - at, "%s%s %+.1f", at > 0 ? ", " : "",
			name, json_number_value(points));

		if (n < 0 || (size_t)n >= VALUE_TERMS - at)
			break;
		at += (size_t)n;
	}
	return text;
}
