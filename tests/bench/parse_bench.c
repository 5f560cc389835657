/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "lib/proto/reply.h"
#include "lib/proto/request.h"

/*
 * Cycles (TSC) per parse, best and median of many rounds. A round parses the next burst of 32 out
 * of a pool whose keys differ in content and length, so that branches are not learnt by heart;
 * the pool fits in the L2 cache, as datagrams do after the pipeline's prefetch.
 */
#define BURST  32
#define POOL   1024
#define STRIDE 320
#define ROUNDS 20000

static uint8_t memory[POOL][STRIDE];
static size_t lengths[POOL];

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Formats in no order; keys of key_min..key_max bytes. */
static void pool_fill(const char *const *formats, unsigned n, unsigned key_min, unsigned key_max)
{
	srand(1);
	for (unsigned i = 0; i < POOL; i++) {
		char key[256];

		memset(key, 'a' + i % 26, sizeof(key));
		key[key_min + rand() % (key_max - key_min + 1)] = '\0';
		memcpy(memory[i], "\0\1\0\0\0\1\0\0", 8);
		lengths[i] = 8 + sprintf((char *)memory[i] + 8, formats[rand() % n], key);
	}
}

static uint64_t request_round(unsigned first)
{
	struct kvl_request req;
	unsigned bad = 0;
	uint64_t start = __rdtsc();

	for (unsigned i = 0; i < BURST; i++) {
		bad += kvl_request_parse(memory[first + i], lengths[first + i], &req);
		bad += req.key_len == 0;
	}
	uint64_t spent = __rdtsc() - start;

	if (bad != 0)
		abort();
	return spent;
}

static uint64_t reply_round(unsigned first)
{
	struct kvl_reply reply;
	int bad = 0;
	uint64_t start = __rdtsc();

	for (unsigned i = 0; i < BURST; i++)
		bad |= kvl_reply_parse(memory[first + i], lengths[first + i], &reply);
	uint64_t spent = __rdtsc() - start;

	if (bad != 0)
		abort();
	return spent;
}

static void measure(const char *name, uint64_t (*round)(unsigned first))
{
	static uint64_t spent[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		spent[i] = round(i * BURST % POOL);
	qsort(spent, ROUNDS, sizeof(spent[0]), compare);
	printf("%-28s best %5.1f  median %5.1f\n", name, (double)spent[0] / BURST,
		(double)spent[ROUNDS / 2] / BURST);
}

static void measure_one(const char *name, const char *format, unsigned key_min, unsigned key_max,
	uint64_t (*round)(unsigned first))
{
	char title[64];

	snprintf(title, sizeof(title), "%s, key %u-%u", name, key_min, key_max);
	pool_fill(&format, 1, key_min, key_max);
	measure(title, round);
}

int main(void)
{
	static const unsigned keys[][2] = {{6, 6}, {20, 20}, {1, 60}, {200, 200}};
	static const char *const mix[] = {"get %s\r\n", "get %s\r\n", "get %s\r\n", "mg %s v\r\n",
		"set %s 0 0 10\r\n0123456789\r\n", "delete %s\r\n", "incr %s 1\r\n"};

	for (unsigned i = 0; i < 4; i++) {
		unsigned low = keys[i][0], high = keys[i][1];

		measure_one("get", "get %s\r\n", low, high, request_round);
		measure_one("mg v", "mg %s v\r\n", low, high, request_round);
		measure_one("mg 6 flags", "mg %s v t f c k O123\r\n", low, high, request_round);
		measure_one("set 10 bytes", "set %s 0 0 10\r\n0123456789\r\n", low, high,
			request_round);
		measure_one(
			"ms 10 bytes", "ms %s 10 T0\r\n0123456789\r\n", low, high, request_round);
	}
	measure_one("delete", "delete %s\r\n", 20, 20, request_round);
	measure_one("incr", "incr %s 1\r\n", 20, 20, request_round);
	measure_one("reply VALUE", "VALUE %s 0 1\r\nx\r\nEND\r\n", 20, 20, reply_round);
	pool_fill(mix, 7, 1, 60);
	measure("mixed commands, key 1-60", request_round);
	return 0;
}
