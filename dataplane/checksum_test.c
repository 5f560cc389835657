/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/checksum.h"

/* RFC 1071, whole. */
static uint16_t checksum_whole(const uint16_t *words, unsigned int count)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < count; i++)
		sum += words[i];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void incremental_equals_whole(void **state)
{
	uint16_t words[10];

	srandom(1);
	for (unsigned int round = 0; round < 100000; round++) {
		uint16_t before, n16 = random();
		uint32_t n32 = random() ^ (uint32_t)random() << 16, o32;
		kvl_csum_delta delta;

		for (unsigned int i = 0; i < 10; i++)
			words[i] = round % 3 == 0 ? 0xffff * (random() & 1) : random();
		words[0] |= 1; /* all-zero data has two representations of 0 */
		if (round % 7 == 0)
			n32 = 0xffffffff;
		before = checksum_whole(words, 10);
		memcpy(&o32, &words[2], 4);
		delta = kvl_csum_change32(o32, n32) + kvl_csum_change16(words[7], n16);
		memcpy(&words[2], &n32, 4);
		words[7] = n16;
		assert_int_equal(kvl_csum_apply(before, delta), checksum_whole(words, 10));
	}
}

static void udp_zero_means_none(void **state)
{
	assert_int_equal(kvl_csum_apply_udp(0, kvl_csum_change16(1, 2)), 0);
	/* 0x1234 changed to make the sum 0xffff: the checksum 0 is sent as 0xffff. */
	assert_int_equal(kvl_csum_apply_udp(0x0001, kvl_csum_change16(0, 1)), 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(incremental_equals_whole),
		cmocka_unit_test(udp_zero_means_none),
	};

	return cmocka_run_group_tests_name("dataplane/checksum", tests, NULL, NULL);
}
