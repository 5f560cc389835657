/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/model/config.h"

/* What depends on the disk, and files made to hurt. */
static char dir[] = "/tmp/kvlane-config-XXXXXX";
static struct kvl_diags diags;

#define MAIN                                                \
	"ports: [{name: p0, device: d, snat: 192.0.2.1}]\n" \
	"services: [{name: s, address: 192.0.2.9}]\n"

static const char *path_in(const char *name)
{
	static char path[2][128];
	static int which;

	which ^= 1;
	snprintf(path[which], sizeof(path[which]), "%s/%s", dir, name);
	return path[which];
}

static const char *file_write(const char *name, const char *text)
{
	const char *path = path_in(name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return path;
}

static void load_refused(const char *path, int error, const char *message)
{
	errno = 0;
	assert_null(kvl_config_load(path, &diags));
	assert_int_equal(errno, error);
	assert_int_equal(diags.count, 1);
	assert_int_equal(diags.errors, 1);
	if (strcmp(diags.list[0].text + strlen(dir) + 1, message) != 0)
		fail_msg("got  %s\nwant %s", diags.list[0].text, message);
}

static void test_topology(void **state)
{
	const char *path = file_write("main.yaml", MAIN "topology: sub.yaml\n");
	struct kvl_config *c;

	file_write("sub.yaml", "nodes: [{id: a, address: 10.0.0.1}, {id: b}]\n");
	c = kvl_config_load(path, &diags);
	assert_non_null(c);
	assert_string_equal(c->topology, path_in("sub.yaml"));
	assert_int_equal(c->node_count, 1);
	assert_int_equal(diags.count, 1);
	assert_string_equal(diags.list[0].text + strlen(dir),
		"/sub.yaml:1:37: nodes[1]: address is missing; node b is left out");
	kvl_config_free(c);
}

static void test_topology_refused(void **state)
{
	char absolute[256];

	file_write("main.yaml", MAIN "topology: nowhere.yaml\n");
	load_refused(path_in("main.yaml"), ENOENT, "nowhere.yaml: No such file or directory");
	snprintf(absolute, sizeof(absolute), MAIN "topology: %s\n", path_in("abs.yaml"));
	file_write("main.yaml", absolute);
	load_refused(path_in("main.yaml"), ENOENT, "abs.yaml: No such file or directory");
	/* Nothing but nodes may stand there; positions are that file's. */
	file_write("abs.yaml", "nodes: [{id: a, address: 10.0.0.1}]\nservices: []\n");
	load_refused(path_in("main.yaml"), EINVAL, "abs.yaml:2:1: services: unknown key");
	file_write("abs.yaml", "{}\n");
	load_refused(path_in("main.yaml"), EINVAL, "abs.yaml:1:1: nodes is missing");
	file_write("abs.yaml", "");
	load_refused(path_in("main.yaml"), EINVAL, "abs.yaml:1:1: the document is empty");
}

static void test_no_file(void **state)
{
	load_refused(path_in("gone.yaml"), ENOENT, "gone.yaml: No such file or directory");
	assert_int_equal(mkdir(path_in("d"), 0700), 0);
	load_refused(path_in("d"), EINVAL, "d: must be a regular file");
	/* Must not wait for a writer. */
	assert_int_equal(mkfifo(path_in("fifo"), 0600), 0);
	load_refused(path_in("fifo"), EINVAL, "fifo: must be a regular file");
}

static void test_huge_file(void **state)
{
	const char *path = file_write("huge.yaml", MAIN);

	assert_int_equal(truncate(path, (16 << 20) + 1), 0);
	load_refused(path, EFBIG, "huge.yaml: must be at most 16777216 bytes");
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* A file of `size` bytes: begin, then the same piece again and again. */
static void hostile(const char *begin, const char *piece, size_t size, const char *message)
{
	char *text = malloc(size);
	size_t n = strlen(begin), step = strlen(piece);
	double start = seconds();

	assert_non_null(text);
	memcpy(text, begin, n);
	for (; n + step <= size; n += step)
		memcpy(text + n, piece, step);
	assert_null(kvl_config_parse(text, n, "f", &diags));
	if (strcmp(diags.list[0].text, message) != 0)
		fail_msg("got  %s\nwant %s", diags.list[0].text, message);
	/* Generous for sanitizers; what it guards against takes minutes. */
	if (seconds() - start > 20)
		fail_msg("%s: took %.1f s", piece, seconds() - start);
	free(text);
}

static void test_hostile(void **state)
{
	const size_t size = 4 << 20;

	hostile("", "[", size, "f:1:17: nested too deeply");
	hostile("", "{a: ", size, "f:1:65: nested too deeply");
	hostile("", "- ", size, "f:1:33: nested too deeply");
	hostile("a: &a [x", ", *a", size, "f:1:799995: too many values");
	hostile("", "- &a x\n", size, "f:65:3: too many anchors");
	hostile("", "-\n", size, "f:200000:2: too many values");
	hostile("router:\n", " a: b\n", 64 * 1000, "f:2:2: router: more than 64 keys");
	hostile("ports: &a [*a]\n", "# cycle\n", 40, "f:1:8: ports[0]: must be a mapping");
}

static void test_too_many(void **state)
{
	static char text[4097 * 48 + 256];
	struct kvl_config *c;
	size_t n =
		(size_t)snprintf(text, sizeof(text), "router: {max_nodes: 4096}\n" MAIN "nodes:\n");

	for (int i = 0; i < 4097; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
			"- {id: n%d, address: 10.1.%d.%d}\n", i, i / 256, i % 256);
	assert_null(kvl_config_parse(text, n, "f", &diags));
	assert_string_equal(
		diags.list[0].text, "f:5:1: nodes: 4097 elements: must be at most 4096");
	/* One less is a configuration. */
	*strrchr(text, '-') = '\0';
	c = kvl_config_parse(text, strlen(text), "f", &diags);
	assert_non_null(c);
	assert_int_equal(c->node_count, 4096);
	kvl_config_free(c);
}

static int setup(void **state)
{
	return mkdtemp(dir) == NULL;
}

static int teardown(void **state)
{
	static const char *const names[] = {
		"main.yaml", "sub.yaml", "abs.yaml", "huge.yaml", "fifo", "d"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		remove(path_in(names[i]));
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_topology),
		cmocka_unit_test(test_topology_refused),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_huge_file),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
