/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/request_test.h"
#include "lib/proto/scan.h"

/* The obvious way. */
static const uint8_t *scan_slow(const uint8_t *p, const uint8_t *end)
{
	while (p<end && * p> SCAN_STOP_MAX)
		p++;
	return p;
}

/* Both scans find what the obvious one does, for each length, start and stop byte around 0x20. */
static void scans_agree(void **state)
{
	static const uint8_t stops[] = {0x00, 0x01, 0x1f, 0x20, 0x21, 0x7f, 0x80, 0xa0, 0xff};

	for (size_t len = 1; len <= 70; len++) {
		uint8_t *block = malloc(len);

		for (size_t at = 0; at < len * sizeof(stops); at++) {
			memset(block, at % 2 ? 'k' : 0xff, len);
			block[at / sizeof(stops)] = stops[at % sizeof(stops)];
			for (const uint8_t *p = block; p <= block + len; p++) {
				const uint8_t *want = scan_slow(p, block + len);

				assert_ptr_equal(scan_stop(block, p, block + len), want);
				assert_ptr_equal(scan_stop_portable(p, block + len), want);
				if (len >= 16)
					assert_int_equal(scan_clear(p, block + len - p),
						want == block + len);
			}
		}
		free(block);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scans_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
