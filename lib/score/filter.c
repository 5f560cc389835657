/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/score/filter.h"

#define COOLDOWN_SHARE 3 /* at most 1/3 of a pool */

enum kvl_filter kvl_filter_node(const struct kvl_filter_node *node, unsigned int class)
{
	bool write = class & KVL_CLASS_WRITE;

	if (!node->reachable)
		return KVL_FILTER_UNREACHABLE;
	if (node->health == KVL_HEALTH_DOWN)
		return KVL_FILTER_DOWN;
	if (node->ejected)
		return KVL_FILTER_EJECTED;
	if (node->draining)
		return KVL_FILTER_DRAINING;
	if (node->health == KVL_HEALTH_COOLDOWN)
		return KVL_FILTER_COOLDOWN;
	if (write && (node->flags & KVL_FACT_READ_ONLY))
		return KVL_FILTER_READ_ONLY;
	if (write && (node->flags & KVL_FACT_RECOVERING))
		return KVL_FILTER_RECOVERING;
	return KVL_FILTER_IN;
}

enum kvl_filter kvl_filter_request(const struct kvl_filter_node *node, unsigned int class,
	const struct kvl_filter_request *request)
{
	enum kvl_filter own = kvl_filter_node(node, class);

	if (own != KVL_FILTER_IN)
		return own;
	if (request->strong && (node->flags & KVL_FACT_RECOVERING))
		return KVL_FILTER_RECOVERING;
	if (node->version_lag > request->lag_allowed)
		return KVL_FILTER_LAG;
	if (request->placing && request->host_taken)
		return KVL_FILTER_HOST_TAKEN;
	if (request->placing && request->zone_taken)
		return KVL_FILTER_ZONE_TAKEN;
	if (request->quota_spent)
		return KVL_FILTER_QUOTA;
	return request->tried ? KVL_FILTER_TRIED : KVL_FILTER_IN;
}

static size_t count_of(const enum kvl_filter *reasons, size_t count, enum kvl_filter reason)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += reasons[i] == reason;
	return n;
}

static size_t cooling_from(
	const enum kvl_filter *reasons, const double *scores, size_t count, double least)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += reasons[i] == KVL_FILTER_COOLDOWN && scores[i] >= least;
	return n;
}

static size_t let_in_from(
	enum kvl_filter *reasons, const double *scores, size_t count, double least, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < count && n < most; i++)
		if (reasons[i] == KVL_FILTER_COOLDOWN && scores[i] >= least) {
			reasons[i] = KVL_FILTER_IN;
			n++;
		}
	return n;
}

/*
 * Lets in the `wanted` best-scored of those in cooldown. By halving the range of scores until it
 * holds the last one wanted: no memory, and linear also when 4096 nodes are cooling.
 */
static size_t let_in_best(
	enum kvl_filter *reasons, const double *scores, size_t count, size_t wanted)
{
	double low = 0, high = 1.5;
	size_t in;

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (cooling_from(reasons, scores, count, middle) >= wanted)
			low = middle;
		else
			high = middle;
	}
	in = let_in_from(reasons, scores, count, high, wanted);
	return in + let_in_from(reasons, scores, count, low, wanted - in);
}

static size_t fail_open(enum kvl_filter *reasons, size_t count)
{
	size_t let_in = 0;

	if (count_of(reasons, count, KVL_FILTER_IN) > 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (reasons[i] == KVL_FILTER_DOWN) {
			reasons[i] = KVL_FILTER_IN;
			let_in++;
		}
	return let_in;
}

size_t kvl_filter_spare(enum kvl_filter *reasons, const double *scores, size_t count, size_t row)
{
	size_t out = count - count_of(reasons, count, KVL_FILTER_IN);
	size_t cooling = count_of(reasons, count, KVL_FILTER_COOLDOWN);
	size_t places = row < count ? row : count, wanted;

	/* So many too many: of the row's places, and of the pool's third. */
	wanted = out >= places ? out - places + 1 : 0;
	if (cooling > count / COOLDOWN_SHARE && cooling - count / COOLDOWN_SHARE > wanted)
		wanted = cooling - count / COOLDOWN_SHARE;
	if (wanted > cooling)
		wanted = cooling;
	return let_in_best(reasons, scores, count, wanted) + fail_open(reasons, count);
}

const char *kvl_filter_name(enum kvl_filter reason)
{
	static const char *const names[KVL_FILTER_COUNT] = {
		[KVL_FILTER_IN] = "in",
		[KVL_FILTER_UNREACHABLE] = "unreachable",
		[KVL_FILTER_DOWN] = "down",
		[KVL_FILTER_EJECTED] = "ejected",
		[KVL_FILTER_DRAINING] = "draining",
		[KVL_FILTER_COOLDOWN] = "cooldown",
		[KVL_FILTER_READ_ONLY] = "read_only",
		[KVL_FILTER_RECOVERING] = "recovering",
		[KVL_FILTER_LAG] = "lag",
		[KVL_FILTER_HOST_TAKEN] = "host_taken",
		[KVL_FILTER_ZONE_TAKEN] = "zone_taken",
		[KVL_FILTER_QUOTA] = "quota",
		[KVL_FILTER_TRIED] = "tried",
	};

	return reason < KVL_FILTER_COUNT ? names[reason] : "unknown";
}
