/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/port/frames.h"

static const struct {
	const char *device;
	uint16_t mtu;
	const char *args;  /* NULL: refused */
	unsigned int room; /* at least, and not far above */
} cases[] = {
	{"0000:03:00.0", 0, "", 2176},
	{"0000:03:00.0", 9000, "", 128 + 9000 + 18},
	{"net_af_packet0", 1500, "", 2176},
	{"net_af_packet0", 1960, "", 2176},
	{"net_af_packet0", 1961, ",framesz=4096,blocksz=8192", 4096 + 128},
	{"net_af_packet0", 9000, ",framesz=10240,blocksz=20480", 10240 + 128},
	{"net_af_packet0,blocksz=81920", 9000, ",framesz=10240", 10240 + 128},
	{"net_af_packet0,blocksz=65536", 9000, NULL, 0},
	{"net_af_packet0,framesz=2048", 1500, "", 2176},
	{"net_af_packet0,framesz=2048", 1980, NULL, 0},
	{"net_af_packet0,framesz=16384", 9000, "", 16384 + 128},
	{"net_af_packet0,framesz=99999", 9000, NULL, 0},
	{"net_af_xdp0", 1500, "", 2176},
	{"net_af_xdp0", KVL_XDP_MTU_MAX, "", 128 + 256 + 3434 + 18},
	{"net_af_xdp0", KVL_XDP_MTU_MAX + 1, NULL, 0},
};

static void frames_follow_the_mtu(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kvl_port_config port = {.name = "p", .mtu = cases[i].mtu};
		struct kvl_frames frames;
		char error[256] = "";
		int rc;

		snprintf(port.device, sizeof(port.device), "%s", cases[i].device);
		rc = kvl_frames_plan(&port, &frames, error, sizeof(error));
		if ((rc == 0) != (cases[i].args != NULL))
			fail_msg("%s, %u: %d %s", cases[i].device, cases[i].mtu, rc, error);
		if (rc < 0) {
			assert_int_equal(rc, -EINVAL);
			assert_non_null(strstr(error, "port p: "));
			continue;
		}
		assert_string_equal(frames.args, cases[i].args);
		assert_int_equal(frames.mtu, cases[i].mtu == 0 ? 1500 : cases[i].mtu);
		assert_in_range(frames.room, cases[i].room, cases[i].room + 64);
	}
}

static void an_interface_gives_its_own(void **state)
{
	struct kvl_port_config port = {.name = "p", .device = "net_af_packet0", .interface = "lo"};
	struct kvl_frames frames;
	char error[256];

	/* lo has 65536, which is more than any frame. */
	assert_int_equal(kvl_frames_plan(&port, &frames, error, sizeof(error)), 0);
	assert_int_equal(frames.mtu, KVL_MTU_MAX);
	/* One that is not there yet, or is the exception tap that will be made. */
	snprintf(port.interface, sizeof(port.interface), "kvl-none-such");
	assert_int_equal(kvl_frames_plan(&port, &frames, error, sizeof(error)), 0);
	assert_int_equal(frames.mtu, 1500);
	snprintf(port.interface, sizeof(port.interface), "lo");
	snprintf(port.exception, sizeof(port.exception), "lo");
	assert_int_equal(kvl_frames_plan(&port, &frames, error, sizeof(error)), 0);
	assert_int_equal(frames.mtu, 1500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_follow_the_mtu),
		cmocka_unit_test(an_interface_gives_its_own),
	};

	return cmocka_run_group_tests_name("port/frames", tests, NULL, NULL);
}
