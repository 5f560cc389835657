/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "lib/proto/reply.h"
#include "lib/proto/request.h"

/*
 * Cycles (TSC) per parse, best and median of many rounds. A round parses a burst of 32 datagrams
 * that lie apart, as mbufs do, and differ in their keys; all are in the L1/L2 cache, as after the
 * pipeline's prefetch.
 */
#define BURST  32
#define STRIDE 2176
#define ROUNDS 20000

static uint8_t memory[BURST][STRIDE];
static size_t lengths[BURST];

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void burst_fill(const char *format, unsigned key_len)
{
	for (unsigned i = 0; i < BURST; i++) {
		char key[256];

		memset(key, 'a' + i % 26, sizeof(key));
		/* lengths differ a little, so that the branch predictor does not learn just one */
		key[key_len + i % 4] = '\0';
		memcpy(memory[i], "\0\1\0\0\0\1\0\0", 8);
		lengths[i] = 8 + sprintf((char *)memory[i] + 8, format, key);
	}
}

static uint64_t request_round(void)
{
	struct kvl_request req;
	unsigned bad = 0;
	uint64_t start = __rdtsc();

	for (unsigned i = 0; i < BURST; i++) {
		bad += kvl_request_parse(memory[i], lengths[i], &req);
		bad += req.key_len == 0;
	}
	uint64_t spent = __rdtsc() - start;

	if (bad != 0)
		abort();
	return spent;
}

static uint64_t reply_round(void)
{
	struct kvl_reply reply;
	int bad = 0;
	uint64_t start = __rdtsc();

	for (unsigned i = 0; i < BURST; i++)
		bad |= kvl_reply_parse(memory[i], lengths[i], &reply);
	uint64_t spent = __rdtsc() - start;

	if (bad != 0)
		abort();
	return spent;
}

static void measure(const char *name, const char *format, unsigned key_len, uint64_t (*round)(void))
{
	static uint64_t spent[ROUNDS];

	burst_fill(format, key_len);
	for (unsigned i = 0; i < ROUNDS; i++)
		spent[i] = round();
	qsort(spent, ROUNDS, sizeof(spent[0]), compare);
	printf("%-24s key %3u  best %5.1f  median %5.1f\n", name, key_len, (double)spent[0] / BURST,
		(double)spent[ROUNDS / 2] / BURST);
}

int main(void)
{
	static const unsigned keys[] = {6, 20, 40, 200};

	for (unsigned i = 0; i < 4; i++) {
		measure("get", "get %s\r\n", keys[i], request_round);
		measure("mg v", "mg %s v\r\n", keys[i], request_round);
		measure("mg 6 flags", "mg %s v t f c k O123\r\n", keys[i], request_round);
		measure("set 10 bytes", "set %s 0 0 10\r\n0123456789\r\n", keys[i], request_round);
		measure("ms 10 bytes", "ms %s 10 T0\r\n0123456789\r\n", keys[i], request_round);
	}
	measure("delete", "delete %s\r\n", 20, request_round);
	measure("incr", "incr %s 1\r\n", 20, request_round);
	measure("reply VALUE", "VALUE %s 0 1\r\nx\r\nEND\r\n", 20, reply_round);
	measure("reply STORED", "STORED\r\n%s", 0, reply_round);
	return 0;
}
