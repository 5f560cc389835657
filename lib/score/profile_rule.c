/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/score/profile_rule.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const names[KVL_PROFILES] = {
	[KVL_PROFILE_READ_HEAVY] = "read-heavy",
	[KVL_PROFILE_WRITE_HEAVY] = "write-heavy",
};

const char *kvl_profile_name(enum kvl_profile profile)
{
	return profile < KVL_PROFILES ? names[profile] : "unknown";
}

const char *kvl_profile_by_name(enum kvl_profile_by by)
{
	return by == KVL_PROFILE_AUTO ? "auto" : by == KVL_PROFILE_SCHEDULE ? "schedule" : "fixed";
}

int kvl_profile_fixed_parse(const char *text, uint8_t *profile)
{
	for (uint8_t p = 0; p < KVL_PROFILES; p++)
		if (strcmp(text, names[p]) == 0) {
			*profile = p;
			return 0;
		}
	return -EINVAL;
}

/* Two digits. */
static int digits(const char *text, unsigned int most, unsigned int *value)
{
	if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9')
		return -EINVAL;
	*value = (unsigned int)(10 * (text[0] - '0') + text[1] - '0');
	return *value <= most ? 0 : -EINVAL;
}

int kvl_profile_minute(const char *text, uint16_t *minute)
{
	unsigned int h, m;

	if (strlen(text) != 5 || text[2] != ':' || digits(text, 23, &h) < 0
		|| digits(text + 3, 59, &m) < 0)
		return -EINVAL;
	*minute = (uint16_t)(60 * h + m);
	return 0;
}

int kvl_schedule_check(const struct kvl_schedule *schedule)
{
	if (schedule->count == 0 || schedule->count > KVL_SCHEDULE_MAX)
		return -EINVAL;
	for (size_t i = 0; i < schedule->count; i++) {
		uint16_t from = schedule->entries[i].from_minute;

		if (from >= KVL_DAY_MINUTES || schedule->entries[i].profile >= KVL_PROFILES
			|| (i > 0 && from <= schedule->entries[i - 1].from_minute))
			return -EINVAL;
	}
	return 0;
}

/* "08:00=read-heavy" */
static int entry_parse(char *text, struct kvl_schedule *s)
{
	struct kvl_schedule_entry *e = &s->entries[s->count];
	char *name = strchr(text, '=');

	if (s->count == KVL_SCHEDULE_MAX || name == NULL)
		return -EINVAL;
	*name++ = '\0';
	s->count++;
	return kvl_profile_minute(text, &e->from_minute) == 0
			       && kvl_profile_fixed_parse(name, &e->profile) == 0
		       ? 0
		       : -EINVAL;
}

static int schedule_parse(const char *text, struct kvl_schedule *s)
{
	char copy[KVL_PROFILE_TEXT], *at = copy, *entry;

	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);
	while ((entry = strsep(&at, ",")) != NULL)
		if (entry_parse(entry, s) < 0)
			return -EINVAL;
	return kvl_schedule_check(s);
}

int kvl_profile_parse(const char *text, struct kvl_profile_rule *rule)
{
	struct kvl_profile_rule parsed = {.by = KVL_PROFILE_FIXED};

	if (strcmp(text, "auto") == 0) {
		parsed.by = KVL_PROFILE_AUTO;
	} else if (kvl_profile_fixed_parse(text, &parsed.fixed) < 0) {
		parsed.by = KVL_PROFILE_SCHEDULE;
		if (schedule_parse(text, &parsed.schedule) < 0)
			return -EINVAL;
	}
	*rule = parsed;
	return 0;
}

const char *kvl_profile_format(const struct kvl_profile_rule *rule, char text[KVL_PROFILE_TEXT])
{
	size_t at = 0;

	if (rule->by != KVL_PROFILE_SCHEDULE) {
		strcpy(text, rule->by == KVL_PROFILE_AUTO ? "auto" : kvl_profile_name(rule->fixed));
		return text;
	}
	for (size_t i = 0; i < rule->schedule.count; i++) {
		const struct kvl_schedule_entry *e = &rule->schedule.entries[i];

		at += (size_t)snprintf(text + at, KVL_PROFILE_TEXT - at, "%s%02u:%02u=%s",
			i > 0 ? "," : "", e->from_minute / 60u, e->from_minute % 60u,
			kvl_profile_name(e->profile));
	}
	return text;
}
