/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/model/addr.h"

static void test_addr_round_trip(void **state)
{
	static const struct {
		const char *text, *canonical;
		bool v4;
	} cases[] = {
		{"10.1.2.3", "10.1.2.3", true},
		{"255.255.255.255", "255.255.255.255", true},
		{"0.0.0.0", "0.0.0.0", true},
		{"::", "::", false},
		{"2001:DB8:0:0::1", "2001:db8::1", false},
		{"::ffff:10.1.2.3", "10.1.2.3", true},
	};
	struct kvl_addr a;
	char buf[KVL_ADDR_STRLEN];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(kvl_addr_parse(cases[i].text, &a), 0);
		assert_string_equal(kvl_addr_format(&a, buf), cases[i].canonical);
		assert_int_equal(kvl_addr_is_v4(&a), cases[i].v4);
	}
}

static void test_addr_v4_bytes(void **state)
{
	static const uint8_t want[16] = {
		[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 1, [14] = 2, [15] = 3};
	struct kvl_addr a, b;
	uint32_t be;

	assert_int_equal(kvl_addr_parse("10.1.2.3", &a), 0);
	assert_memory_equal(a.bytes, want, 16);
	be = kvl_addr_v4(&a);
	assert_memory_equal(&be, want + 12, 4);
	b = kvl_addr_from_v4(be);
	assert_true(kvl_addr_eq(&a, &b));
	b.bytes[15]++;
	assert_false(kvl_addr_eq(&a, &b));
}

static void test_addr_refused(void **state)
{
	static const char *const bad[] = {"", "10.1.2", "10.1.2.256", "10.1.2.3 ", " 10.1.2.3",
		"010.1.2.3", "10.1.2.3/24", "localhost", "1::2::3", "fe80::1%eth0", "12345::"};
	struct kvl_addr a, before;

	memset(&before, 0xa5, sizeof(before));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		a = before;
		assert_int_equal(kvl_addr_parse(bad[i], &a), -EINVAL);
		assert_memory_equal(&a, &before, sizeof(a));
	}
}

static void test_mac(void **state)
{
	static const char *const bad[] = {"", "02:00:00:00:00", "02:00:00:00:00:0", "2:0:0:0:0:1",
		"02:00:00:00:00:0g", "02-00-00-00-00-01",
		"02:00:00:00:00:01:", "02:00:00:00:00:01 ", "0200.0000.0001"};
	static const uint8_t want[6] = {0x02, 0xaB, 0xcD, 0xeF, 0x90, 0x01};
	uint8_t mac[6], before[6];

	assert_int_equal(kvl_mac_parse("02:aB:Cd:EF:90:01", mac), 0);
	assert_memory_equal(mac, want, 6);
	memcpy(before, mac, 6);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(kvl_mac_parse(bad[i], mac), -EINVAL);
		assert_memory_equal(mac, before, 6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addr_round_trip),
		cmocka_unit_test(test_addr_v4_bytes),
		cmocka_unit_test(test_addr_refused),
		cmocka_unit_test(test_mac),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
