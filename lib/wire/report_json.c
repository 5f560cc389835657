/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/score/facts.h"
#include "lib/wire/report_internal.h"

static const char *const disks[] = {
	[KVL_DISK_UNKNOWN] = "unknown", [KVL_DISK_HDD] = "hdd", [KVL_DISK_SSD] = "ssd"};

static void put_number(json_t *object, const char *name, double value)
{
	if (!isnan(value))
		json_object_set_new(object, name, json_real(value));
}

static void put_capability(json_t *object, const struct kvl_capability *c)
{
	if (c->disk != KVL_DISK_UNKNOWN)
		json_object_set_new(object, "disk", json_string(disks[c->disk]));
	if (c->nic_mbit != 0)
		json_object_set_new(object, "nic_mbit", json_integer(c->nic_mbit));
	if (c->memory_mb != 0)
		json_object_set_new(object, "memory_mb", json_integer(c->memory_mb));
}

static int put_prefixes(json_t *object, const struct kvl_report *report)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < report->prefix_count; i++) {
		const struct kvl_report_prefix *p = &report->prefixes[i];
		json_t *text = json_stringn((const char *)p->prefix, p->len);

		if (text == NULL) {
			json_decref(list);
			return -EILSEQ;
		}
		json_array_append_new(
			list, json_pack("{s:o, s:f}", "prefix", text, "hit_rate", p->hit_rate));
	}
	return json_object_set_new(object, "prefixes", list) < 0 ? -ENOMEM : 0;
}

json_t *kvl_report_to_json(const struct kvl_report *report)
{
	const struct kvl_report_figures *f = &report->figures;
	json_t *object =
		json_pack("{s:s, s:I}", "node", report->node, "time_ms", (json_int_t)f->time_ms);
	int rc;

	if (object == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	put_capability(object, &f->capability);
#define PUT(name, metric) put_number(object, #name, f->value[KVL_METRIC_##metric]);
	KVL_REPORT_FIGURES(PUT)
#undef PUT
#define PUT(name, flag)                 \
	if (f->flags & KVL_FACT_##flag) \
		json_object_set_new(object, #name, json_true());
	KVL_REPORT_FLAGS(PUT)
#undef PUT
	rc = report->prefix_count > 0 ? put_prefixes(object, report) : 0;
	if (rc < 0) {
		json_decref(object);
		errno = -rc;
		return NULL;
	}
	return object;
}

/* A member that is there must be of its type: a "cpu":"0.3" is no report without a CPU figure. */
static bool get_number(const json_t *object, const char *name, double *value)
{
	const json_t *member = json_object_get(object, name);

	if (member == NULL || json_is_null(member))
		return true;
	*value = json_number_value(member);
	return json_is_number(member);
}

static bool get_u32(const json_t *object, const char *name, uint32_t *value)
{
	const json_t *member = json_object_get(object, name);
	json_int_t n = json_integer_value(member);

	if (member == NULL)
		return true;
	*value = (uint32_t)n;
	return json_is_integer(member) && n >= 0 && n <= UINT32_MAX;
}

static bool get_flag(const json_t *object, const char *name, uint32_t flag, uint32_t *flags)
{
	const json_t *member = json_object_get(object, name);

	if (member == NULL)
		return true;
	*flags |= json_is_true(member) ? flag : 0;
	return json_is_boolean(member);
}

static bool get_disk(const json_t *object, uint8_t *disk)
{
	const json_t *member = json_object_get(object, "disk");

	if (member == NULL)
		return true;
	for (uint8_t d = 0; json_is_string(member) && d <= KVL_DISK_SSD; d++)
		if (strcmp(json_string_value(member), disks[d]) == 0) {
			*disk = d;
			return true;
		}
	return false;
}

static enum kvl_report_fault get_prefix(const json_t *from, struct kvl_report_prefix *to)
{
	const json_t *text = json_object_get(from, "prefix");

	to->hit_rate = KVL_UNKNOWN;
	if (!json_is_string(text) || !get_number(from, "hit_rate", &to->hit_rate))
		return KVL_REPORT_MALFORMED;
	if (json_string_length(text) > KVL_REPORT_PREFIX_MAX)
		return KVL_REPORT_ABSURD;
	to->len = (uint8_t)json_string_length(text);
	memcpy(to->prefix, json_string_value(text), to->len);
	return KVL_REPORT_OK;
}

static enum kvl_report_fault get_prefixes(const json_t *object, struct kvl_report *report)
{
	const json_t *list = json_object_get(object, "prefixes");

	if (list == NULL)
		return KVL_REPORT_OK;
	if (!json_is_array(list))
		return KVL_REPORT_MALFORMED;
	if (json_array_size(list) > KVL_REPORT_PREFIXES_MAX)
		return KVL_REPORT_ABSURD;
	for (size_t i = 0; i < json_array_size(list); i++) {
		enum kvl_report_fault fault =
			get_prefix(json_array_get(list, i), &report->prefixes[i]);

		if (fault != KVL_REPORT_OK)
			return fault;
	}
	report->prefix_count = (uint32_t)json_array_size(list);
	return KVL_REPORT_OK;
}

static enum kvl_report_fault object_read(const json_t *object, struct kvl_report *report)
{
	const json_t *node = json_object_get(object, "node");
	const json_t *time = json_object_get(object, "time_ms");
	struct kvl_report_figures *f = &report->figures;
	enum kvl_report_fault fault;
	bool ok = true;

	if (!json_is_string(node) || !json_is_integer(time))
		return KVL_REPORT_MALFORMED;
	if (!kvl_report_node_ok(json_string_value(node)) || json_integer_value(time) <= 0)
		return KVL_REPORT_ABSURD;
	kvl_report_init(report, json_string_value(node), (uint64_t)json_integer_value(time));
	ok = get_disk(object, &f->capability.disk)
	     && get_u32(object, "nic_mbit", &f->capability.nic_mbit)
	     && get_u32(object, "memory_mb", &f->capability.memory_mb);
#define GET(name, metric) ok = ok && get_number(object, #name, &f->value[KVL_METRIC_##metric]);
	KVL_REPORT_FIGURES(GET)
#undef GET
#define GET(name, flag) ok = ok && get_flag(object, #name, KVL_FACT_##flag, &f->flags);
	KVL_REPORT_FLAGS(GET)
#undef GET
	fault = ok ? get_prefixes(object, report) : KVL_REPORT_MALFORMED;
	return fault == KVL_REPORT_OK ? kvl_report_examine(report) : fault;
}

enum kvl_report_fault kvl_report_from_json(const char *text, size_t len, struct kvl_report *report)
{
	enum kvl_report_fault fault;
	json_t *object;

	if (len > KVL_REPORT_JSON_MAX)
		return KVL_REPORT_TOO_LONG;
	object = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	fault = json_is_object(object) ? object_read(object, report) : KVL_REPORT_MALFORMED;
	json_decref(object);
	return fault;
}
