/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "lib/score/facts.h"
#include "lib/wire/report.h"
#include "lib/wire/report.pb-c.h"

#define NOW UINT64_C(1700000000000)

static const struct kvl_report_key list[] = {
	{.id = 1, .secret = "the first secret", .len = 16},
	{.id = 7, .secret = "another secret, and longer", .len = 26},
};
static const struct kvl_report_keys keys = {list, 2};

static struct kvl_report full, out;
static uint8_t bytes[KVL_REPORT_BYTES_MAX];
static int len;

static int start(void **state)
{
	kvl_report_init(&full, "mc1", NOW);
	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		full.figures.value[m] = kvl_metric_most(m) / (m + 2);
	full.figures.flags = KVL_FACT_COMPACTING | KVL_FACT_RECOVERING;
	full.figures.capability = (struct kvl_capability){KVL_DISK_SSD, 25000, 65536};
	full.prefix_count = 2;
	full.prefixes[0] = (struct kvl_report_prefix){.prefix = "user:", .len = 5, .hit_rate = 0.9};
	full.prefixes[1] = (struct kvl_report_prefix){.prefix = "\0\xff", .len = 2, .hit_rate = 0};
	len = kvl_report_encode(&full, &list[0], bytes);
	return len > 0 ? 0 : -1;
}

static enum kvl_report_fault decode(void)
{
	return kvl_report_decode(bytes, (size_t)len, &keys, &out);
}

static void test_round_trip(void **state)
{
	assert_int_equal(decode(), KVL_REPORT_OK);
	assert_memory_equal(&out, &full, sizeof(out));
	assert_in_range(len, 200, 400);
}

static void test_absent_stays_absent(void **state)
{
	kvl_report_init(&full, "mc2", 1);
	full.figures.value[KVL_METRIC_CPU] = 0;
	len = kvl_report_encode(&full, &list[1], bytes);
	assert_int_equal(decode(), KVL_REPORT_OK);
	assert_true(out.figures.value[KVL_METRIC_CPU] == 0);
	for (unsigned int m = 1; m < KVL_METRIC_REPORTED; m++)
		assert_true(isnan(out.figures.value[m]));
	assert_int_equal(out.figures.flags, 0);
	assert_int_equal(out.rejected, 0);
	assert_int_equal(out.prefix_count, 0);
}

/* Any bit of it changed: never accepted. */
static void test_forged(void **state)
{
	size_t forged = 0;

	for (int bit = 0; bit < len * 8; bit++) {
		enum kvl_report_fault fault;

		bytes[bit / 8] ^= 1 << (bit % 8);
		fault = decode();
		assert_true(fault == KVL_REPORT_FORGED || fault == KVL_REPORT_MALFORMED
			    || fault == KVL_REPORT_UNKNOWN_KEY || fault == KVL_REPORT_UNVERSIONED);
		forged += fault == KVL_REPORT_FORGED;
		bytes[bit / 8] ^= 1 << (bit % 8);
	}
	assert_true(forged > (size_t)len * 7);
	assert_int_equal(decode(), KVL_REPORT_OK);
}

static void test_cut_short(void **state)
{
	for (int whole = len; len > 0;) {
		len--;
		assert_int_not_equal(decode(), KVL_REPORT_OK);
		assert_true(whole > len);
	}
}

static void test_keys(void **state)
{
	const struct kvl_report_keys other = {&list[1], 1};
	struct kvl_report_key weak = list[0];
	struct kvl_report_key same_id = list[1];
	const struct kvl_report_keys wrong = {&same_id, 1};

	assert_int_equal(
		kvl_report_decode(bytes, (size_t)len, &other, &out), KVL_REPORT_UNKNOWN_KEY);
	same_id.id = list[0].id;
	assert_int_equal(kvl_report_decode(bytes, (size_t)len, &wrong, &out), KVL_REPORT_FORGED);
	weak.len = KVL_REPORT_SECRET_MIN - 1;
	assert_int_equal(kvl_report_encode(&full, &weak, bytes), -EINVAL);
}

/* RFC 4231 has no vectors for our prefix; this one is from an independent HMAC (Python's). */
static void test_signature_vector(void **state)
{
	static const uint8_t want[KVL_REPORT_MAC_BYTES] = {0x02, 0x6d, 0x66, 0x60, 0xee, 0x97, 0x71,
		0xf3, 0x41, 0xb8, 0xe6, 0xad, 0xa2, 0xd7, 0xe6, 0x93, 0xfe, 0x1b, 0x9e, 0xb3, 0x0d,
		0x44, 0x9c, 0x31, 0xce, 0x3d, 0xb7, 0x2e, 0x01, 0xf4, 0xc4, 0x62};
	uint8_t mac[KVL_REPORT_MAC_BYTES];

	assert_int_equal(kvl_report_sign(&list[1], "hello", 5, mac), 0);
	assert_memory_equal(mac, want, sizeof(want));
	assert_int_equal(kvl_report_verify(&keys, 7, "hello", 5, mac, 32), KVL_REPORT_OK);
	assert_int_equal(kvl_report_verify(&keys, 7, "hello", 5, mac, 31), KVL_REPORT_FORGED);
	assert_int_equal(kvl_report_verify(&keys, 7, "hello", 4, mac, 32), KVL_REPORT_FORGED);
	assert_int_equal(kvl_report_verify(&keys, 1, "hello", 5, mac, 32), KVL_REPORT_FORGED);
}

static void test_time(void **state)
{
	uint64_t last = 0;

	assert_int_equal(kvl_report_accept(&full, &last, NOW), KVL_REPORT_OK);
	assert_int_equal(last, NOW);
	assert_int_equal(kvl_report_accept(&full, &last, NOW), KVL_REPORT_REPLAYED);
	full.figures.time_ms = NOW - 1;
	assert_int_equal(kvl_report_accept(&full, &last, NOW), KVL_REPORT_REPLAYED);
	full.figures.time_ms = NOW + 1;
	assert_int_equal(
		kvl_report_accept(&full, &last, NOW + 1 + KVL_REPORT_AGE_MS), KVL_REPORT_OK);
	full.figures.time_ms = NOW + 2;
	assert_int_equal(
		kvl_report_accept(&full, &last, NOW + 3 + KVL_REPORT_AGE_MS), KVL_REPORT_STALE);
	full.figures.time_ms = NOW + 3 + KVL_REPORT_AHEAD_MS;
	assert_int_equal(kvl_report_accept(&full, &last, NOW + 2), KVL_REPORT_AHEAD);
	assert_int_equal(last, NOW + 1); /* what was refused moves nothing */
	full.figures.time_ms = UINT64_MAX;
	assert_int_equal(kvl_report_accept(&full, &last, NOW), KVL_REPORT_AHEAD);
}

/* All clocks were an hour ahead, and are set right: the node's reports are taken again soon, and what
 * was sent before is not. */
static void test_our_clock_was_set_back(void **state)
{
	uint64_t last = NOW + 3600000;

	full.figures.time_ms = NOW;
	assert_int_equal(kvl_report_accept(&full, &last, NOW), KVL_REPORT_REPLAYED);
	full.figures.time_ms = NOW + KVL_REPORT_AHEAD_MS;
	assert_int_equal(kvl_report_accept(&full, &last, NOW), KVL_REPORT_REPLAYED);
	full.figures.time_ms = NOW + KVL_REPORT_AHEAD_MS + 1;
	assert_int_equal(kvl_report_accept(&full, &last, NOW + 2000), KVL_REPORT_OK);
	assert_int_equal(kvl_report_accept(&full, &last, NOW + 2000), KVL_REPORT_REPLAYED);
}

static void test_the_nodes_clock_was_set_back(void **state)
{
	assert_int_equal(kvl_report_next_time(0, NOW), NOW);
	assert_int_equal(kvl_report_next_time(NOW, NOW + 1), NOW + 1);
	assert_int_equal(kvl_report_next_time(NOW, NOW), NOW + 1);
	assert_int_equal(kvl_report_next_time(NOW + 4000, NOW), NOW + 4001);
	/* No router that has the right time has taken the one before. */
	assert_int_equal(kvl_report_next_time(NOW + 3600000, NOW), NOW);
}

/* A bad sensor costs its own figure; SPEC 4.7's CPU of -1 is one. */
static void test_bad_figures_are_taken_out(void **state)
{
	full.figures.value[KVL_METRIC_CPU] = -1;
	full.figures.value[KVL_METRIC_HIT_RATE] = 1.5;
	full.figures.value[KVL_METRIC_QUEUE] = INFINITY;
	len = kvl_report_encode(&full, &list[0], bytes);
	assert_int_equal(decode(), KVL_REPORT_OK);
	assert_int_equal(out.rejected,
		1u << KVL_METRIC_CPU | 1u << KVL_METRIC_HIT_RATE | 1u << KVL_METRIC_QUEUE);
	assert_true(isnan(out.figures.value[KVL_METRIC_CPU]));
	assert_true(out.figures.value[KVL_METRIC_MEMORY] == full.figures.value[KVL_METRIC_MEMORY]);
}

/* Signs whatever Protobuf is given, as a broken agent would. */
static enum kvl_report_fault sign_and_decode(const void *inner, size_t inner_len)
{
	Kvl__SignedReport envelope = KVL__SIGNED_REPORT__INIT;
	uint8_t mac[KVL_REPORT_MAC_BYTES];

	kvl_report_sign(&list[0], inner, inner_len, mac);
	envelope.version = KVL_REPORT_VERSION;
	envelope.key_id = 1;
	envelope.report = (ProtobufCBinaryData){inner_len, (uint8_t *)inner};
	envelope.mac = (ProtobufCBinaryData){sizeof(mac), mac};
	len = (int)kvl__signed_report__pack(&envelope, bytes);
	return decode();
}

static enum kvl_report_fault pack_and_decode(Kvl__Report *p)
{
	uint8_t inner[KVL_REPORT_BYTES_MAX];

	return sign_and_decode(inner, kvl__report__pack(p, inner));
}

static void test_absurd(void **state)
{
	static char long_id[KVL_NAME_MAX + 1];
	Kvl__Report p = KVL__REPORT__INIT;
	Kvl__Report__Prefix prefix = KVL__REPORT__PREFIX__INIT, *prefixes[20];

	p.node = (char *)"mc1";
	p.time_ms = 1;
	assert_int_equal(pack_and_decode(&p), KVL_REPORT_OK);
	p.node = (char *)"mc 1";
	assert_int_equal(pack_and_decode(&p), KVL_REPORT_ABSURD);
	p.node = memset(long_id, 'a', KVL_NAME_MAX);
	assert_int_equal(pack_and_decode(&p), KVL_REPORT_ABSURD);
	p.node = (char *)"mc1";
	p.time_ms = 0;
	assert_int_equal(pack_and_decode(&p), KVL_REPORT_ABSURD);
	p.time_ms = 1;
	p.has_disk = true;
	p.disk = (Kvl__Report__Disk)99;
	assert_int_equal(pack_and_decode(&p), KVL_REPORT_ABSURD);
	p.has_disk = false;
	p.has_nic_mbit = true;
	p.nic_mbit = UINT32_MAX;
	assert_int_equal(pack_and_decode(&p), KVL_REPORT_ABSURD);
	p.has_nic_mbit = false;
	prefix.prefix = (ProtobufCBinaryData){1, (uint8_t *)"a"};
	prefix.hit_rate = 1;
	for (int i = 0; i < 20; i++)
		prefixes[i] = &prefix;
	p.prefixes = prefixes;
	p.n_prefixes = KVL_REPORT_PREFIXES_MAX;
	assert_int_equal(pack_and_decode(&p), KVL_REPORT_OK);
	prefix.hit_rate = -1;
	assert_int_equal(pack_and_decode(&p), KVL_REPORT_ABSURD);
	prefix.hit_rate = 1;
	p.n_prefixes++;
	assert_int_equal(pack_and_decode(&p), KVL_REPORT_ABSURD);
}

static void test_malformed(void **state)
{
	static const uint8_t no_time[] = {0x0a, 3, 'm', 'c', '1'};
	uint8_t many[1200];

	assert_int_equal(sign_and_decode(no_time, sizeof(no_time)), KVL_REPORT_MALFORMED);
	assert_int_equal(sign_and_decode(no_time, 0), KVL_REPORT_MALFORMED);
	/* Unknown fields, 2 bytes each, are the dearest that one can make the decoder keep. */
	for (size_t i = 0; i < sizeof(many); i += 2) {
		many[i] = 15 << 3;
		many[i + 1] = 0;
	}
	assert_int_equal(sign_and_decode(many, sizeof(many)), KVL_REPORT_MALFORMED);
	len = KVL_REPORT_BYTES_MAX + 1;
	assert_int_equal(kvl_report_decode((const uint8_t *)many, (size_t)len, &keys, &out),
		KVL_REPORT_TOO_LONG);
	assert_int_equal(kvl_report_decode(many, 0, &keys, &out), KVL_REPORT_MALFORMED);
}

static void test_encode_refuses(void **state)
{
	kvl_report_init(&full, "", NOW);
	assert_int_equal(kvl_report_encode(&full, &list[0], bytes), -EINVAL);
	kvl_report_init(&full, "mc1", 0);
	assert_int_equal(kvl_report_encode(&full, &list[0], bytes), -EINVAL);
	kvl_report_init(&full, "mc1", 1);
	for (int i = 0; i < KVL_REPORT_PREFIXES_MAX; i++)
		full.prefixes[i].len = KVL_REPORT_PREFIX_MAX;
	full.prefix_count = KVL_REPORT_PREFIXES_MAX + 1;
	assert_int_equal(kvl_report_encode(&full, &list[0], bytes), -EINVAL);
	full.prefix_count = KVL_REPORT_PREFIXES_MAX;
	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		full.figures.value[m] = 0;
	assert_int_equal(kvl_report_encode(&full, &list[0], bytes), -EMSGSIZE);
}

static void test_names(void **state)
{
	for (unsigned int a = 0; a < KVL_REPORT_FAULTS; a++)
		for (unsigned int b = 0; b < a; b++)
			assert_string_not_equal(kvl_report_fault_name(a), kvl_report_fault_name(b));
}

#define TEST(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),
		TEST(test_absent_stays_absent),
		TEST(test_forged),
		TEST(test_cut_short),
		TEST(test_keys),
		TEST(test_signature_vector),
		TEST(test_time),
		TEST(test_our_clock_was_set_back),
		TEST(test_the_nodes_clock_was_set_back),
		TEST(test_bad_figures_are_taken_out),
		TEST(test_absurd),
		TEST(test_malformed),
		TEST(test_encode_refuses),
		TEST(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
