/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "lib/score/weights.h"
#include "tests/bench/figures.h"
#include "tests/bench/frames.h"
#include "tests/bench/parts.h"
#include "tests/bench/world.h"

/*
 * What a packet costs the data plane, in TSC cycles, without I/O: 4096 mbufs go through
 * kvl_pipeline() in bursts of 32 to rewritten mbufs in the transmit buffers. Each burst is timed,
 * and a round is the sum; what it needs and leaves (frames, slots) is seen to outside the timer.
 */
#define ROUNDS_MAX 10000

static unsigned int rounds = 300;
static uint64_t clock_cycles;

enum case_flag {
	REPLIES = 1 << 0, /* what is timed are the replies to the requests */
	COLD = 1 << 1,    /* frames come from memory, as without direct cache access */
	GUARDED = 1 << 2, /* policies of the service, see world.h */
	RULED = 1 << 3,
	CHOOSY = 1 << 4,
};

struct bench_case {
	const char *name;
	struct frames_kind frames;
	unsigned int nodes, vnodes, replication;
	unsigned int flags;
	uint8_t choice; /* N=3: enum kvl_choice */
};

/* Cycles that reading the clock twice takes by itself. */
static uint64_t clock_cost(void)
{
	uint64_t best = UINT64_MAX;

	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t start = rte_rdtsc_precise();

		best = RTE_MIN(best, rte_rdtsc_precise() - start);
	}
	return best;
}

/* Every mbuf through the pipeline; none may be lost. Returns the cycles it took. */
static uint64_t round_run(uint8_t lane, bool cold)
{
	uint64_t spent = 0;
	unsigned int passed = 0;

	for (unsigned int i = 0; i < BENCH_MBUFS; i += KVL_BURST) {
		struct rte_mbuf **burst = &bench_mbufs[i];
		uint64_t start;

		frames_receive(burst, KVL_BURST, cold);
		start = rte_rdtsc_precise();
		kvl_pipeline(bench_worker, bench_root, burst, KVL_BURST, lane);
		spent += rte_rdtsc_precise() - start - clock_cycles;
		passed += bench_sent();
	}
	if (passed != BENCH_MBUFS) {
		fprintf(stderr, "%u of %u packets passed\n", passed, BENCH_MBUFS);
		abort();
	}
	return spent;
}

/* The slots that the nat requests in the mbufs took are given back, in their order, as if answered. */
static void slots_return(void)
{
	struct kvl_pending *pending = &bench_worker->pending;
	uint16_t generation;

	for (unsigned int i = 0; i < BENCH_MBUFS; i++) {
		const struct kvl_frame *frame;
		struct kvl_pulse *pulse;
		struct kvl_packet p;
		uint32_t slot;

		kvl_packet_begin(&p, bench_mbufs[i], 0);
		frame = (const void *)kvl_packet_payload(&p);
		slot = kvl_pending_slot(pending, rte_be_to_cpu_16(kvl_packet_udp(&p)->src_port),
			rte_be_to_cpu_16(frame->id), &generation);

		pulse = &bench_worker->pulses[pending->slots[slot].node];
		kvl_pulse_left(pulse);
		kvl_pulse_latency(pulse, 1000, bench_worker->tick);
		kvl_pending_answered(pending, slot);
	}
}

/* A millisecond a round: 4 million packets/s, and the wheel meets each slot once a timeout. */
static void time_pass(void)
{
	bench_worker->tick++;
	bench_worker->now += bench_worker->tsc_per_tick;
	while (kvl_expire(bench_worker, bench_root) != 0)
		;
}

static uint64_t case_round(const struct bench_case *c, unsigned int round)
{
	uint64_t spent;

	frames_requests(&c->frames, round);
	spent = round_run(0, c->flags & COLD);
	if (c->flags & REPLIES) {
		frames_replies();
		spent = round_run(1, c->flags & COLD);
	} else if (bench_worker->pending.free_count != bench_worker->pending.size) {
		slots_return();
	}
	time_pass();
	return spent;
}

static void case_run(const struct bench_case *c, FILE *json, const char *only)
{
	static uint64_t spent[ROUNDS_MAX];
	char name[96];

	snprintf(name, sizeof(name), "%s, %ux%u, %u keys", c->name, c->nodes, c->vnodes,
		c->frames.keys);
	if (strstr(name, only) == NULL)
		return;
	bench_policy = (c->flags & GUARDED ? KVL_POLICY_GUARD : 0)
		       | (c->flags & RULED ? KVL_POLICY_RULES : 0)
		       | (c->flags & CHOOSY ? KVL_POLICY_CHOICE : 0);
	bench_choice = c->choice;
	bench_topology(c->nodes, c->vnodes, c->replication);
	for (unsigned int i = 0; i < 10; i++)
		case_round(c, i);
	for (unsigned int i = 0; i < rounds; i++)
		spent[i] = case_round(c, 10 + i);
	figures_report(json, name, figures_of(spent, rounds, BENCH_MBUFS));
}

#define SMALL 10, 160
#define LARGE 1000, 160
#define FEW   256
#define MANY  1000000

#define DSR(command, keys)                   \
	{                                    \
		BENCH_DSR_VIP, command, keys \
	}
#define NAT(command, keys)                   \
	{                                    \
		BENCH_NAT_VIP, command, keys \
	}

static const struct bench_case cases[] = {
	{"dsr get", DSR(FRAMES_GET, FEW), SMALL, 1, 0, 0},
	{"dsr get", DSR(FRAMES_GET, MANY), SMALL, 1, 0, 0},
	{"dsr get", DSR(FRAMES_GET, FEW), LARGE, 1, 0, 0},
	{"dsr get", DSR(FRAMES_GET, MANY), LARGE, 1, 0, 0},
	{"dsr get N=3", DSR(FRAMES_GET, FEW), SMALL, 3, 0, 0},
	{"dsr get N=3", DSR(FRAMES_GET, MANY), LARGE, 3, 0, 0},
	{"dsr get, cold frames", DSR(FRAMES_GET, FEW), SMALL, 1, COLD, 0},
	{"dsr set", DSR(FRAMES_SET, FEW), SMALL, 1, 0, 0},
	{"dsr set", DSR(FRAMES_SET, MANY), LARGE, 1, 0, 0},
	{"nat get", NAT(FRAMES_GET, FEW), SMALL, 1, 0, 0},
	{"nat get", NAT(FRAMES_GET, MANY), SMALL, 1, 0, 0},
	{"nat get", NAT(FRAMES_GET, FEW), LARGE, 1, 0, 0},
	{"nat get", NAT(FRAMES_GET, MANY), LARGE, 1, 0, 0},
	{"nat get, cold frames", NAT(FRAMES_GET, FEW), SMALL, 1, COLD, 0},
	{"nat set", NAT(FRAMES_SET, FEW), SMALL, 1, 0, 0},
	{"nat set", NAT(FRAMES_SET, MANY), LARGE, 1, 0, 0},
	{"nat reply", NAT(FRAMES_GET, FEW), SMALL, 1, REPLIES, 0},
	{"nat reply", NAT(FRAMES_GET, MANY), SMALL, 1, REPLIES, 0},
	{"nat reply", NAT(FRAMES_GET, FEW), LARGE, 1, REPLIES, 0},
	{"nat reply", NAT(FRAMES_GET, MANY), LARGE, 1, REPLIES, 0},
	/* What each choice costs: against "nat get", which takes the first of the row that is in. */
	{"nat get N=3, best", NAT(FRAMES_GET, FEW), SMALL, 3, 0, KVL_CHOOSE_BEST},
	{"nat get N=3, softmax", NAT(FRAMES_GET, FEW), SMALL, 3, 0, KVL_CHOOSE_SOFTMAX},
	{"nat get N=3, p2c", NAT(FRAMES_GET, FEW), SMALL, 3, 0, KVL_CHOOSE_P2C},
	{"nat get N=3, least", NAT(FRAMES_GET, FEW), SMALL, 3, 0, KVL_CHOOSE_LEAST},
	{"nat get, guarded", NAT(FRAMES_GET, FEW), SMALL, 1, GUARDED, 0},
	{"nat get, rules", NAT(FRAMES_GET, FEW), SMALL, 1, RULED, 0},
	{"nat get N=3, quota and lag", NAT(FRAMES_GET, FEW), SMALL, 3, CHOOSY, 0},
	{"nat reply, guarded", NAT(FRAMES_GET, FEW), SMALL, 1, REPLIES | GUARDED, 0},
	{"nat reply, cold frames", NAT(FRAMES_GET, FEW), SMALL, 1, REPLIES | COLD, 0},
};

static const char usage[] = "usage: pipeline_bench [-n ROUNDS] [-j FILE] [NAME]\n"
			    "  -n ROUNDS   of 4096 packets, a case (default 300)\n"
			    "  -j FILE     also write the figures there, as JSON\n"
			    "  NAME        only the cases whose name contains it\n";

int main(int argc, char **argv)
{
	const char *only = "", *path = NULL;
	FILE *json;
	int option;

	while ((option = getopt(argc, argv, "n:j:")) != -1) {
		if (option == 'n' && atoi(optarg) > 0 && atoi(optarg) <= ROUNDS_MAX) {
			rounds = atoi(optarg);
		} else if (option == 'j') {
			path = optarg;
		} else {
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind < argc)
		only = argv[optind];

	bench_begin();
	clock_cycles = clock_cost();
	json = figures_open(path, rte_get_tsc_hz());
	for (size_t i = 0; i < RTE_DIM(cases); i++)
		case_run(&cases[i], json, only);
	parts_run(json, only);
	figures_close(json);
	rte_eal_cleanup();
	return 0;
}
