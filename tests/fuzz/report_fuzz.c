/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports: whatever comes is decoded or refused; what was decoded is in range, and survives encoding
 * and decoding again. The signature is right for a part of the inputs (first byte odd), or no input
 * would come past it.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/wire/report.h"
#include "lib/wire/report.pb-c.h"
#include "tests/fuzz/fuzz.h"

static const struct kvl_report_key key = {.id = 1, .secret = "0123456789abcdef", .len = 16};
static const struct kvl_report_keys keys = {&key, 1};

static void check_figures(const struct kvl_report *report)
{
	assert(report->node[0] != '\0' && memchr(report->node, 0, sizeof(report->node)) != NULL);
	assert(report->figures.time_ms != 0);
	assert(report->prefix_count <= KVL_REPORT_PREFIXES_MAX);
	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		assert(isnan(report->figures.value[m])
			|| kvl_metric_check(m, report->figures.value[m]) == KVL_METRIC_OK);
}

static void check_again(struct kvl_report *report)
{
	uint8_t bytes[KVL_REPORT_BYTES_MAX];
	struct kvl_report again;
	int len;

	check_figures(report);
	report->rejected = 0;
	len = kvl_report_encode(report, &key, bytes);
	if (len < 0)
		return; /* may be longer than it came: flags that were left out */
	assert(kvl_report_decode(bytes, (size_t)len, &keys, &again) == KVL_REPORT_OK);
	assert(strcmp(again.node, report->node) == 0);
	assert(again.figures.flags == report->figures.flags);
	assert(again.prefix_count == report->prefix_count);
}

static size_t sign(const uint8_t *data, size_t size, uint8_t *out)
{
	Kvl__SignedReport envelope = KVL__SIGNED_REPORT__INIT;
	uint8_t mac[KVL_REPORT_MAC_BYTES];

	kvl_report_sign(&key, data, size, mac);
	envelope.version = KVL_REPORT_VERSION;
	envelope.key_id = key.id;
	envelope.report = (ProtobufCBinaryData){size, (uint8_t *)data};
	envelope.mac = (ProtobufCBinaryData){sizeof(mac), mac};
	return kvl__signed_report__pack(&envelope, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[KVL_REPORT_BYTES_MAX + 64];
	struct kvl_report report;

	if (size == 0)
		return 0;
	if (kvl_report_from_json((const char *)data, size, &report) == KVL_REPORT_OK)
		check_again(&report);
	if (data[0] % 2 == 0 || size > KVL_REPORT_BYTES_MAX) {
		if (kvl_report_decode(data + 1, size - 1, &keys, &report) == KVL_REPORT_OK)
			check_again(&report);
	} else if (kvl_report_decode(bytes, sign(data + 1, size - 1, bytes), &keys, &report)
		   == KVL_REPORT_OK) {
		check_again(&report);
	}
	return 0;
}
