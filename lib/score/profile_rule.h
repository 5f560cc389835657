/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Which weights an operator wants (SPEC 4.6), as the configuration holds it: one profile for good,
 * by time of day (recommended), or by what the traffic is (auto). What follows from it now is
 * profile.h's.
 */
enum kvl_profile {
	KVL_PROFILE_READ_HEAVY,
	KVL_PROFILE_WRITE_HEAVY,
	KVL_PROFILES,
};

enum kvl_profile_by {
	KVL_PROFILE_FIXED,
	KVL_PROFILE_AUTO,
	KVL_PROFILE_SCHEDULE,
};

#define KVL_SCHEDULE_MAX 24
#define KVL_DAY_MINUTES  1440

struct kvl_schedule_entry {
	uint16_t from_minute; /* of the day, 0..1439 */
	uint8_t profile;      /* enum kvl_profile */
};

struct kvl_schedule {
	struct kvl_schedule_entry entries[KVL_SCHEDULE_MAX]; /* from_minute strictly rising */
	size_t count;
};

struct kvl_profile_rule {
	uint8_t by;    /* enum kvl_profile_by */
	uint8_t fixed; /* enum kvl_profile; of KVL_PROFILE_FIXED */
	struct kvl_schedule schedule;
};

/* "read-heavy", "write-heavy". */
const char *kvl_profile_name(enum kvl_profile profile);
/* "fixed", "auto", "schedule". */
const char *kvl_profile_by_name(enum kvl_profile_by by);

/*
 * As text: "read-heavy", "write-heavy", "auto", or "08:00=read-heavy,20:00=write-heavy". Parsing
 * returns 0, or -EINVAL and leaves *rule alone.
 */
#define KVL_PROFILE_TEXT (KVL_SCHEDULE_MAX * 18) /* the longest, with the NUL */
int kvl_profile_parse(const char *text, struct kvl_profile_rule *rule);
const char *kvl_profile_format(const struct kvl_profile_rule *rule, char text[KVL_PROFILE_TEXT]);

/* "HH:MM"; 0 or -EINVAL. And one profile's name. */
int kvl_profile_minute(const char *text, uint16_t *minute);
int kvl_profile_fixed_parse(const char *text, uint8_t *profile);

/* 0, or -EINVAL: none or too many, not rising, not a minute of a day. */
int kvl_schedule_check(const struct kvl_schedule *schedule);
