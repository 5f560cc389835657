/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "lib/wire/report.h"

static const char purpose[] = "kvlane-report-1"; /* with its NUL */

#define HEAD_BYTES (sizeof(purpose) + 4)

int kvl_report_sign(const struct kvl_report_key *key, const void *bytes, size_t len,
	uint8_t mac[KVL_REPORT_MAC_BYTES])
{
	uint8_t message[HEAD_BYTES + KVL_REPORT_JSON_MAX];
	unsigned int mac_len = 0;

	if (key->len < KVL_REPORT_SECRET_MIN || key->len > KVL_REPORT_SECRET_MAX
		|| len > KVL_REPORT_JSON_MAX)
		return -EINVAL;
	memcpy(message, purpose, sizeof(purpose));
	for (unsigned int i = 0; i < 4; i++)
		message[sizeof(purpose) + i] = (uint8_t)(key->id >> (8 * i));
	if (len > 0)
		memcpy(message + HEAD_BYTES, bytes, len);
	if (HMAC(EVP_sha256(), key->secret, (int)key->len, message, HEAD_BYTES + len, mac, &mac_len)
			== NULL
		|| mac_len != KVL_REPORT_MAC_BYTES)
		return -EIO;
	return 0;
}

static const struct kvl_report_key *key_find(const struct kvl_report_keys *keys, uint32_t id)
{
	for (size_t i = 0; i < keys->count; i++)
		if (keys->list[i].id == id)
			return &keys->list[i];
	return NULL;
}

enum kvl_report_fault kvl_report_verify(const struct kvl_report_keys *keys, uint32_t key_id,
	const void *bytes, size_t len, const void *mac, size_t mac_len)
{
	const struct kvl_report_key *key = key_find(keys, key_id);
	uint8_t right[KVL_REPORT_MAC_BYTES];

	if (key == NULL)
		return KVL_REPORT_UNKNOWN_KEY;
	if (mac_len != sizeof(right) || kvl_report_sign(key, bytes, len, right) < 0
		|| CRYPTO_memcmp(right, mac, sizeof(right)) != 0)
		return KVL_REPORT_FORGED;
	return KVL_REPORT_OK;
}
