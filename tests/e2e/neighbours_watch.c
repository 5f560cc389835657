/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches the addresses given as arguments and prints a line for each hop at the start and after
 * each change, then an empty line. neighbours.sh reads them. SIGUSR1: none of them answers, look
 * again. Ends on SIGTERM and SIGINT.
 */
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>

#include "ctrl/core/neighbours.h"

#define ADDRS_MAX 8192

static struct kvl_neighbours *neighbours;
static struct kvl_addr addrs[ADDRS_MAX];
static size_t count;

static void print_hop(const struct kvl_addr *addr)
{
	char text[KVL_ADDR_STRLEN], source[KVL_ADDR_STRLEN], name[IF_NAMESIZE] = "-";
	struct kvl_hop hop;
	enum kvl_hop_status status = kvl_neighbours_hop(neighbours, addr, &hop);

	if_indextoname((unsigned int)hop.ifindex, name);
	printf("%s: %s, %s, %02x:%02x:%02x:%02x:%02x:%02x, %s, from %s\n",
		kvl_addr_format(addr, text), kvl_hop_status_text(status), name, hop.mac[0],
		hop.mac[1], hop.mac[2], hop.mac[3], hop.mac[4], hop.mac[5],
		hop.on_link ? "on-link" : "gateway", kvl_addr_format(&hop.source, source));
}

static void print_all(void *ctx)
{
	for (size_t i = 0; i < count; i++)
		print_hop(&addrs[i]);
	puts("");
	fflush(stdout);
}

static void on_silence(evutil_socket_t fd, short what, void *ctx)
{
	for (size_t i = 0; i < count; i++)
		kvl_neighbours_renew(neighbours, &addrs[i]);
}

static void on_signal(evutil_socket_t fd, short what, void *ctx)
{
	event_base_loopbreak(ctx);
}

int main(int argc, char **argv)
{
	struct event_base *base = event_base_new();
	struct event *term = evsignal_new(base, SIGTERM, on_signal, base);
	struct event *intr = evsignal_new(base, SIGINT, on_signal, base);
	struct event *silence = evsignal_new(base, SIGUSR1, on_silence, NULL);

	for (int i = 1; i < argc && count < ADDRS_MAX; i++) {
		if (kvl_addr_parse(argv[i], &addrs[count++]) < 0) {
			fprintf(stderr, "%s: not an address\n", argv[i]);
			return 2;
		}
	}
	neighbours = kvl_neighbours_new(base, print_all, NULL);
	if (neighbours == NULL || kvl_neighbours_watch(neighbours, addrs, count) < 0) {
		perror("neighbours");
		return 1;
	}
	print_all(NULL);
	event_add(term, NULL);
	event_add(intr, NULL);
	event_add(silence, NULL);
	event_base_dispatch(base);
	kvl_neighbours_free(neighbours);
	event_free(term);
	event_free(intr);
	event_free(silence);
	event_base_free(base);
	return 0;
}
