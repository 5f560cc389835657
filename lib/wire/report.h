/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "lib/model/config.h"
#include "lib/score/figures.h"

/*
 * A node's report (SPEC 6.1): Protobuf (report.proto) in one UDP datagram, signed; or the same as
 * JSON over HTTP. What comes is hostile until its signature holds: nothing is allocated before, and
 * decoding is bounded in memory after.
 *
 * Signature: HMAC-SHA256 (RFC 2104) with the secret of the key id, over
 *   "kvlane-report-1" 0x00, LE32 key id, the report's bytes as sent.
 * So a signature is good for nothing else, and nothing needs to be put in canonical form.
 * Replay: each report's time must be later than the node's last accepted one, and near the
 * router's wall clock; a router that was restarted knows no last one, so that for
 * KVL_REPORT_AGE_MS an old report can be played to it once more. So it is with one whose wall clock
 * was set back: it takes reports again KVL_REPORT_AHEAD_MS later, not when the old time comes.
 */
#define KVL_REPORT_BYTES_MAX    1400 /* one datagram that no path fragments */
#define KVL_REPORT_JSON_MAX     8192
#define KVL_REPORT_VERSION      1
#define KVL_REPORT_PREFIXES_MAX 16
#define KVL_REPORT_PREFIX_MAX   64
#define KVL_REPORT_MAC_BYTES    32
#define KVL_REPORT_SECRET_MIN   16
#define KVL_REPORT_SECRET_MAX   64
#define KVL_REPORT_AGE_MS       30000 /* older: stale. Reports come every 2 to 5 s */
#define KVL_REPORT_AHEAD_MS     5000  /* newer than our clock by more: ahead */

enum kvl_report_fault {
	KVL_REPORT_OK,
	KVL_REPORT_TOO_LONG,
	KVL_REPORT_MALFORMED,   /* not Protobuf (JSON), or a required member is missing */
	KVL_REPORT_UNVERSIONED, /* of another version */
	KVL_REPORT_UNKNOWN_KEY,
	KVL_REPORT_FORGED,   /* the signature does not hold */
	KVL_REPORT_ABSURD,   /* a node id, time, prefix or capability that cannot be */
	KVL_REPORT_REPLAYED, /* not later than the node's last */
	KVL_REPORT_STALE,
	KVL_REPORT_AHEAD,
	KVL_REPORT_FAULTS,
};

struct kvl_report_key {
	uint32_t id;
	uint8_t secret[KVL_REPORT_SECRET_MAX];
	size_t len; /* KVL_REPORT_SECRET_MIN.. */
};

/* Several keys at once, so that they can be changed without a gap. Borrowed. */
struct kvl_report_keys {
	const struct kvl_report_key *list;
	size_t count;
};

struct kvl_report_prefix {
	uint8_t prefix[KVL_REPORT_PREFIX_MAX];
	uint8_t len;
	double hit_rate;
};

struct kvl_report {
	char node[KVL_NAME_MAX];
	struct kvl_report_figures figures;
	/* Figures that were out of range (metric.h), bit 1 << metric: taken out, for counting. They
	 * do not cost the rest of the report: a node must not be orphaned by one bad sensor. */
	uint32_t rejected;
	uint32_t prefix_count;
	struct kvl_report_prefix prefixes[KVL_REPORT_PREFIXES_MAX];
};

/* Nothing known, no flags. `node` is cut at its bound. */
void kvl_report_init(struct kvl_report *report, const char *node, uint64_t time_ms);

/* Encodes and signs. Returns the length, or -EINVAL (id, time, key), -EMSGSIZE. */
int kvl_report_encode(const struct kvl_report *report, const struct kvl_report_key *key,
	uint8_t out[KVL_REPORT_BYTES_MAX]);

/* Verifies, then decodes. *report is valid when KVL_REPORT_OK is returned. */
enum kvl_report_fault kvl_report_decode(const uint8_t *data, size_t len,
	const struct kvl_report_keys *keys, struct kvl_report *report);

/* Whether it is new: `last_ms` is the time of the node's last accepted report (0 = none), and is
 * moved on when KVL_REPORT_OK is returned. `now_ms`: wall clock. */
enum kvl_report_fault kvl_report_accept(
	const struct kvl_report *report, uint64_t *last_ms, uint64_t now_ms);

/* A node id: [A-Za-z0-9._:-]+, shorter than KVL_NAME_MAX. */
bool kvl_report_node_ok(const char *node);

/* The time to give to a report, `last_ms` being that of the one before and now_ms the wall clock:
 * rising, also when the clock was set back a little. Farther back than that routers with the right
 * time had refused the last ones, and would go on to. */
uint64_t kvl_report_next_time(uint64_t last_ms, uint64_t now_ms);

/* The signature of `len` bytes, for what travels elsewhere (the HTTP body). 0, -EINVAL, -EIO. */
int kvl_report_sign(const struct kvl_report_key *key, const void *bytes, size_t len,
	uint8_t mac[KVL_REPORT_MAC_BYTES]);

/* In a time that does not depend on where the first difference is. */
enum kvl_report_fault kvl_report_verify(const struct kvl_report_keys *keys, uint32_t key_id,
	const void *bytes, size_t len, const void *mac, size_t mac_len);

/*
 * As JSON: {"node":"mc1","time_ms":1700000000000,"disk":"ssd","nic_mbit":10000,"cpu":0.35,...,
 * "compacting":true,"prefixes":[{"prefix":"user:","hit_rate":0.93}]}. Names as in report.proto;
 * what is not known is left out. Unknown members are ignored: a worker may be newer than the
 * router. NULL with ENOMEM; EILSEQ when a prefix is no UTF-8.
 */
json_t *kvl_report_to_json(const struct kvl_report *report);
enum kvl_report_fault kvl_report_from_json(const char *text, size_t len, struct kvl_report *report);

const char *kvl_report_fault_name(enum kvl_report_fault fault); /* "forged", "replayed"... */
