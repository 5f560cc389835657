/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/score/facts.h"
#include "lib/wire/report.pb-c.h"
#include "lib/wire/report_internal.h"

/*
 * What protobuf-c allocates while it decodes, from a fixed piece of stack: a datagram of
 * KVL_REPORT_BYTES_MAX can ask for no more than a few times its length (an empty prefix is 2 bytes
 * on the wire and a struct in memory), and what asks for more is refused.
 */
#define ARENA_BYTES (64u << 10)

struct arena {
	size_t used;
	_Alignas(16) uint8_t bytes[ARENA_BYTES];
};

static void *arena_alloc(void *ctx, size_t size)
{
	struct arena *a = ctx;
	size_t rounded = (size + 15) & ~(size_t)15;
	void *piece = a->bytes + a->used;

	if (size > ARENA_BYTES || rounded > ARENA_BYTES - a->used)
		return NULL;
	a->used += rounded;
	return piece;
}

static void arena_free(void *ctx, void *piece)
{
}

static ProtobufCAllocator arena_init(struct arena *a)
{
	a->used = 0;
	return (ProtobufCAllocator){arena_alloc, arena_free, a};
}

/* Borrows from *report and `prefixes`. */
static Kvl__Report to_proto(
	const struct kvl_report *report, Kvl__Report__Prefix *prefixes, Kvl__Report__Prefix **list)
{
	const struct kvl_report_figures *f = &report->figures;
	Kvl__Report p = KVL__REPORT__INIT;

	p.node = (char *)report->node;
	p.time_ms = f->time_ms;
	p.has_disk = f->capability.disk != KVL_DISK_UNKNOWN;
	p.disk = (Kvl__Report__Disk)f->capability.disk;
	p.has_nic_mbit = f->capability.nic_mbit != 0;
	p.nic_mbit = f->capability.nic_mbit;
	p.has_memory_mb = f->capability.memory_mb != 0;
	p.memory_mb = f->capability.memory_mb;
#define PUT(name, metric)                                     \
	p.has_##name = !isnan(f->value[KVL_METRIC_##metric]); \
	p.name = f->value[KVL_METRIC_##metric];
	KVL_REPORT_FIGURES(PUT)
#undef PUT
#define PUT(name, flag) p.has_##name = p.name = (f->flags & KVL_FACT_##flag) != 0;
	KVL_REPORT_FLAGS(PUT)
#undef PUT
	for (uint32_t i = 0; i < report->prefix_count; i++) {
		prefixes[i] = (Kvl__Report__Prefix)KVL__REPORT__PREFIX__INIT;
		prefixes[i].prefix.data = (uint8_t *)report->prefixes[i].prefix;
		prefixes[i].prefix.len = report->prefixes[i].len;
		prefixes[i].hit_rate = report->prefixes[i].hit_rate;
		list[i] = &prefixes[i];
	}
	p.n_prefixes = report->prefix_count;
	p.prefixes = list;
	return p;
}

int kvl_report_encode(const struct kvl_report *report, const struct kvl_report_key *key,
	uint8_t out[KVL_REPORT_BYTES_MAX])
{
	Kvl__Report__Prefix prefixes[KVL_REPORT_PREFIXES_MAX], *list[KVL_REPORT_PREFIXES_MAX];
	uint8_t inner[KVL_REPORT_BYTES_MAX], mac[KVL_REPORT_MAC_BYTES];
	Kvl__SignedReport envelope = KVL__SIGNED_REPORT__INIT;
	Kvl__Report p;
	int rc;

	if (!kvl_report_node_ok(report->node) || report->figures.time_ms == 0
		|| report->prefix_count > KVL_REPORT_PREFIXES_MAX)
		return -EINVAL;
	p = to_proto(report, prefixes, list);
	if (kvl__report__get_packed_size(&p) > sizeof(inner))
		return -EMSGSIZE;
	envelope.version = KVL_REPORT_VERSION;
	envelope.key_id = key->id;
	envelope.report = (ProtobufCBinaryData){kvl__report__pack(&p, inner), inner};
	rc = kvl_report_sign(key, inner, envelope.report.len, mac);
	if (rc < 0)
		return rc;
	envelope.mac = (ProtobufCBinaryData){sizeof(mac), mac};
	if (kvl__signed_report__get_packed_size(&envelope) > KVL_REPORT_BYTES_MAX)
		return -EMSGSIZE;
	return (int)kvl__signed_report__pack(&envelope, out);
}

static enum kvl_report_fault prefixes_from(const Kvl__Report *p, struct kvl_report *report)
{
	if (p->n_prefixes > KVL_REPORT_PREFIXES_MAX)
		return KVL_REPORT_ABSURD;
	for (size_t i = 0; i < p->n_prefixes; i++) {
		const Kvl__Report__Prefix *from = p->prefixes[i];
		struct kvl_report_prefix *to = &report->prefixes[i];

		if (from->prefix.len > KVL_REPORT_PREFIX_MAX)
			return KVL_REPORT_ABSURD;
		if (from->prefix.len > 0)
			memcpy(to->prefix, from->prefix.data, from->prefix.len);
		to->len = (uint8_t)from->prefix.len;
		to->hit_rate = from->hit_rate;
	}
	report->prefix_count = (uint32_t)p->n_prefixes;
	return KVL_REPORT_OK;
}

static enum kvl_report_fault from_proto(const Kvl__Report *p, struct kvl_report *report)
{
	struct kvl_report_figures *f = &report->figures;

	if (!kvl_report_node_ok(p->node) || (int)p->disk < KVL_DISK_UNKNOWN
		|| (int)p->disk > KVL_DISK_SSD)
		return KVL_REPORT_ABSURD;
	kvl_report_init(report, p->node, p->time_ms);
	f->capability = (struct kvl_capability){(uint8_t)p->disk, p->nic_mbit, p->memory_mb};
#define GET(name, metric)                                              \
	if (p->has_##name) {                                           \
		f->value[KVL_METRIC_##metric] = p->name;               \
		if (isnan(p->name))                                    \
			report->rejected |= 1u << KVL_METRIC_##metric; \
	}
	KVL_REPORT_FIGURES(GET)
#undef GET
#define GET(name, flag) f->flags |= p->name ? KVL_FACT_##flag : 0;
	KVL_REPORT_FLAGS(GET)
#undef GET
	if (prefixes_from(p, report) != KVL_REPORT_OK)
		return KVL_REPORT_ABSURD;
	return kvl_report_examine(report);
}

enum kvl_report_fault kvl_report_decode(const uint8_t *data, size_t len,
	const struct kvl_report_keys *keys, struct kvl_report *report)
{
	struct arena arena;
	ProtobufCAllocator allocator = arena_init(&arena);
	const Kvl__SignedReport *envelope;
	enum kvl_report_fault fault;
	const Kvl__Report *p;

	if (len > KVL_REPORT_BYTES_MAX)
		return KVL_REPORT_TOO_LONG;
	envelope = kvl__signed_report__unpack(&allocator, len, data);
	if (envelope == NULL)
		return KVL_REPORT_MALFORMED;
	if (envelope->version != KVL_REPORT_VERSION)
		return KVL_REPORT_UNVERSIONED;
	fault = kvl_report_verify(keys, envelope->key_id, envelope->report.data,
		envelope->report.len, envelope->mac.data, envelope->mac.len);
	if (fault != KVL_REPORT_OK)
		return fault;
	p = kvl__report__unpack(&allocator, envelope->report.len, envelope->report.data);
	return p == NULL ? KVL_REPORT_MALFORMED : from_proto(p, report);
}
