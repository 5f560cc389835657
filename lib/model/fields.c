/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Decimal digits only: no sign, no 0 in front (YAML 1.1 reads 010 as eight), no base. */
static int digits_parse(const char *text, uint64_t *out)
{
	uint64_t v = 0;

	if (*text == '\0' || (text[0] == '0' && text[1] != '\0'))
		return -EINVAL;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9' || __builtin_mul_overflow(v, 10, &v)
			|| __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v))
			return -EINVAL;
	}
	*out = v;
	return 0;
}

static void uint_store(void *to, size_t size, uint64_t v)
{
	if (size == sizeof(uint16_t))
		memcpy(to, &(uint16_t){(uint16_t)v}, size);
	else if (size == sizeof(uint32_t))
		memcpy(to, &(uint32_t){(uint32_t)v}, size);
	else
		memcpy(to, &v, sizeof(v));
}

int set_uint(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	uint64_t v;

	if (digits_parse(text, &v) < 0 || v < f->min || v > f->max) {
		snprintf(why, size, "must be %" PRIu64 "..%" PRIu64, f->min, f->max);
		return -EINVAL;
	}
	uint_store(to, f->size, v);
	return 0;
}

int set_power(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	uint64_t v;

	if (digits_parse(text, &v) < 0 || v < f->min || v > f->max || (v & (v - 1)) != 0) {
		snprintf(
			why, size, "must be a power of two, %" PRIu64 "..%" PRIu64, f->min, f->max);
		return -EINVAL;
	}
	uint_store(to, f->size, v);
	return 0;
}

static bool name_good(const char *text)
{
	for (; *text != '\0'; text++)
		if (!(*text >= 'a' && *text <= 'z') && !(*text >= 'A' && *text <= 'Z')
			&& !(*text >= '0' && *text <= '9') && strchr("._:-", *text) == NULL)
			return false;
	return true;
}

int set_name(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	const size_t n = strlen(text), max = f->max != 0 ? f->max : f->size - 1;

	if (n == 0 || n > max || !name_good(text)) {
		snprintf(why, size, "must be 1..%zu of A-Z a-z 0-9 . _ : -", max);
		return -EINVAL;
	}
	memcpy(to, text, n + 1);
	return 0;
}

int set_text(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	const size_t n = strlen(text);
	bool good = n > 0 && n < f->size;

	for (size_t i = 0; i < n; i++)
		good &= (unsigned char)text[i] >= ' ' && text[i] != 0x7f;
	if (!good) {
		snprintf(why, size, "must be 1..%zu bytes without control characters", f->size - 1);
		return -EINVAL;
	}
	memcpy(to, text, n + 1);
	return 0;
}

int set_choice(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	size_t n;

	for (const struct choice *c = f->choices; c->name != NULL; c++)
		if (strcmp(text, c->name) == 0) {
			memcpy(to, &c->value, sizeof(c->value));
			return 0;
		}
	n = (size_t)snprintf(why, size, "must be ");
	for (const struct choice *c = f->choices; c->name != NULL && n < size; c++)
		n += (size_t)snprintf(why + n, size - n, "%s%s",
			c == f->choices     ? ""
			: c[1].name != NULL ? ", "
					    : " or ",
			c->name);
	return -EINVAL;
}

/* What no host can have as its own address. */
static const char *address_special(const struct kvl_addr *a)
{
	static const struct kvl_addr unspecified, loopback = {.bytes = {[15] = 1}};
	const uint32_t v4 = kvl_addr_v4(a);

	if (kvl_addr_is_v4(a)) {
		const uint8_t *b = a->bytes + 12;

		return v4 == 0            ? "the unspecified"
		       : v4 == UINT32_MAX ? "the broadcast"
		       : b[0] == 127      ? "a loopback" /* this host's own, to itself */
		       : b[0] >> 4 == 0xe ? "a multicast"
					  : NULL;
	}
	return kvl_addr_eq(a, &unspecified) ? "the unspecified"
	       : kvl_addr_eq(a, &loopback)  ? "a loopback"
	       : a->bytes[0] == 0xff        ? "a multicast"
	       : a->bytes[0] == 0xfe && a->bytes[1] >> 6 == 2
		       ? "a link-local" /* means nothing without its interface */
		       : NULL;
}

int set_address(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	struct kvl_addr addr;
	const char *special;

	if (kvl_addr_parse(text, &addr) < 0) {
		snprintf(why, size, "must be a numeric IP address");
		return -EINVAL;
	}
	special = address_special(&addr);
	if (special != NULL) {
		snprintf(why, size, "must be a host's address, not %s one", special);
		return -EINVAL;
	}
	memcpy(to, &addr, sizeof(addr));
	return 0;
}

int set_listen(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	struct kvl_addr addr;
	const bool good = kvl_addr_parse(text, &addr) == 0;

	if (good && (kvl_addr_is_v4(&addr) ? addr.bytes[12] >> 4 < 0xe : addr.bytes[0] != 0xff)) {
		memcpy(to, &addr, sizeof(addr));
		return 0;
	}
	snprintf(why, size, "must be a numeric IP address of this host, or 0.0.0.0 for all");
	return -EINVAL;
}

int set_mac(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	static const uint8_t zero[6];
	uint8_t mac[6];

	if (kvl_mac_parse(text, mac) < 0 || (mac[0] & 1) != 0 || memcmp(mac, zero, 6) == 0) {
		snprintf(why, size, "must be a unicast MAC address, aa:bb:cc:dd:ee:ff");
		return -EINVAL;
	}
	memcpy(to, mac, sizeof(mac));
	return 0;
}
