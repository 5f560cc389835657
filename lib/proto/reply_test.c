/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "lib/proto/reply.h"
#include "lib/proto/request_test.h"

/* A datagram of its exact size in its own block. */
static int reply_read(const char *datagram, size_t len, struct kvl_reply *reply)
{
	uint8_t *payload = malloc(len + 1);
	int rc;

	memcpy(payload + 1, datagram, len);
	rc = kvl_reply_parse(payload + 1, len, reply);
	free(payload);
	return rc;
}

#define FRAME "\x12\x34\0\0\0\1\0\0"

static const struct {
	const char *text;
	size_t len;
	enum kvl_reply_kind kind;
} texts[] = {
	{TEXT(FRAME "VALUE k 0 1\r\nx\r\nEND\r\n"), KVL_REPLY_HIT},
	{TEXT(FRAME "VA 1\r\nx\r\n"), KVL_REPLY_HIT},
	{TEXT(FRAME "ME k exp=-1\r\n"), KVL_REPLY_HIT},
	{TEXT(FRAME "END\r\n"), KVL_REPLY_MISS},
	{TEXT(FRAME "EN\r\n"), KVL_REPLY_MISS},
	{TEXT(FRAME "EN O1\r\n"), KVL_REPLY_MISS},
	{TEXT(FRAME "NF\r\n"), KVL_REPLY_MISS},
	{TEXT(FRAME "NOT_FOUND\r\n"), KVL_REPLY_MISS},
	{TEXT("\x12\x34\0\0\0\0\0\0"), KVL_REPLY_MISS},
	{TEXT(FRAME "STORED\r\n"), KVL_REPLY_OK},
	{TEXT(FRAME "DELETED\r\n"), KVL_REPLY_OK},
	{TEXT(FRAME "TOUCHED\r\n"), KVL_REPLY_OK},
	{TEXT(FRAME "OK\r\n"), KVL_REPLY_OK},
	{TEXT(FRAME "HD\r\n"), KVL_REPLY_OK},
	{TEXT(FRAME "HD c5\r\n"), KVL_REPLY_OK},
	{TEXT(FRAME "NOT_STORED\r\n"), KVL_REPLY_NOT},
	{TEXT(FRAME "EXISTS\r\n"), KVL_REPLY_NOT},
	{TEXT(FRAME "NS\r\n"), KVL_REPLY_NOT},
	{TEXT(FRAME "EX\r\n"), KVL_REPLY_NOT},
	{TEXT(FRAME "ERROR\r\n"), KVL_REPLY_ERROR},
	{TEXT(FRAME "CLIENT_ERROR bad data chunk\r\n"), KVL_REPLY_ERROR},
	{TEXT(FRAME "SERVER_ERROR object too large for cache\r\n"), KVL_REPLY_ERROR},
	{TEXT(FRAME "SERVER_ERROR out of memory storing object\r\n"), KVL_REPLY_REJECT},
	{TEXT(FRAME "SERVER_ERROR"), KVL_REPLY_REJECT},
	{TEXT(FRAME "5\r\n"), KVL_REPLY_OTHER},
	{TEXT(FRAME "12345\r\n"), KVL_REPLY_OTHER},
	{TEXT(FRAME "VERSION 1.6.18\r\n"), KVL_REPLY_OTHER},
	{TEXT(FRAME "MN\r\n"), KVL_REPLY_OTHER},
	{TEXT(FRAME "STAT pid 1\r\n"), KVL_REPLY_OTHER},
	{TEXT(FRAME "HDx\r\n"), KVL_REPLY_OTHER},
	{TEXT(FRAME "STORES\r\n"), KVL_REPLY_OTHER},
	{TEXT(FRAME "NOT_HERE\r\n"), KVL_REPLY_OTHER},
	{TEXT(FRAME "E"), KVL_REPLY_OTHER},
	{TEXT(FRAME "\0\0\0\0"), KVL_REPLY_OTHER},
	/* the first of three is told by its words, the others not at all */
	{TEXT("\x12\x34\0\0\0\3\0\0VALUE k 0 3000\r\n"), KVL_REPLY_HIT},
	{TEXT("\x12\x34\0\1\0\3\0\0END\r\n"), KVL_REPLY_OTHER},
	{TEXT("\x12\x34\0\2\0\3\0\0END\r\n"), KVL_REPLY_OTHER},
	{TEXT("\x12\x34\0\0\0\0\0\0END\r\n"), KVL_REPLY_OTHER},
};

static void text_replies(void **state)
{
	struct kvl_reply reply;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(reply_read(texts[i].text, texts[i].len, &reply), 0);
		if (reply.kind != texts[i].kind)
			fail_msg("%s: %d, not %d", texts[i].text + KVL_FRAME_LEN, reply.kind,
				texts[i].kind);
		assert_int_equal(reply.id, 0x1234);
	}
}

static enum kvl_reply_kind binary_kind(uint8_t opcode, uint8_t status)
{
	char datagram[] = FRAME "\x81\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	struct kvl_reply reply;

	datagram[9] = opcode;
	datagram[15] = status;
	assert_int_equal(reply_read(datagram, sizeof(datagram) - 1, &reply), 0);
	return reply.kind;
}

static void binary_replies(void **state)
{
	struct kvl_reply reply;

	assert_int_equal(binary_kind(0x00, 0), KVL_REPLY_HIT);
	assert_int_equal(binary_kind(0x1d, 0), KVL_REPLY_HIT);
	assert_int_equal(binary_kind(0x01, 0), KVL_REPLY_OK);
	assert_int_equal(binary_kind(0x0a, 0), KVL_REPLY_OTHER);
	assert_int_equal(binary_kind(0x00, 1), KVL_REPLY_MISS);
	assert_int_equal(binary_kind(0x01, 2), KVL_REPLY_NOT);
	assert_int_equal(binary_kind(0x02, 5), KVL_REPLY_NOT);
	assert_int_equal(binary_kind(0x01, 3), KVL_REPLY_ERROR);
	assert_int_equal(binary_kind(0x01, 4), KVL_REPLY_ERROR);
	assert_int_equal(binary_kind(0x77, 0x81), KVL_REPLY_ERROR);
	assert_int_equal(binary_kind(0x01, 0x82), KVL_REPLY_REJECT);
	assert_int_equal(binary_kind(0x01, 0x84), KVL_REPLY_REJECT);
	assert_int_equal(binary_kind(0x01, 0x85), KVL_REPLY_REJECT);
	assert_int_equal(binary_kind(0x01, 0x86), KVL_REPLY_REJECT);
	assert_int_equal(reply_read(TEXT(FRAME "\x81\0\0"), &reply), 0);
	assert_int_equal(reply.kind, KVL_REPLY_OTHER);
}

static void not_a_reply(void **state)
{
	struct kvl_reply reply;

	for (size_t len = 0; len <= KVL_FRAME_LEN; len++)
		assert_int_equal(reply_read(FRAME, len, &reply), -EINVAL);
	assert_int_equal(reply_read(TEXT("\0\1\0\1\0\1\0\0END\r\n"), &reply), -EINVAL);
	assert_int_equal(reply_read(TEXT("\0\1\0\2\0\1\0\0END\r\n"), &reply), -EINVAL);
	assert_int_equal(reply_read(TEXT("\0\1\0\1\0\0\0\0"), &reply), -EINVAL);
	assert_int_equal(reply_read(TEXT("\0\1\0\1\0\0\0\0END\r\n"), &reply), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_replies),
		cmocka_unit_test(binary_replies),
		cmocka_unit_test(not_a_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
