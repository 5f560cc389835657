/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/test_split.h"
#include "lib/proto/binary_test.h"
#include "lib/proto/local.h"

/* Several commands in a datagram: their order, those that ask for silence, and bad ones among them. */

static void commands_are_answered_in_order(void **state)
{
	ask("get a\r\nset b 0 0 1\r\ny\r\nbogus\r\nversion\r\ndelete c\r\nget d\r\n");
	assert_int_equal(asked_count, 4);
	reply("get d\r\n", "VALUE d 0 1\r\nw\r\nEND\r\n");
	reply("delete c\r\n", "NOT_FOUND\r\n");
	reply("set b 0 0 1\r\ny\r\n", "STORED\r\n");
	reply("get a\r\n", "END\r\n");
	client_gets("END\r\n");
	client_gets("STORED\r\n");
	client_gets("ERROR\r\n");
	client_gets("VERSION " KVL_LOCAL_VERSION "\r\n");
	client_gets("NOT_FOUND\r\n");
	client_gets("VALUE d 0 1\r\nw\r\nEND\r\n");
	all_is_done();
}

/* noreply and q are taken off, so that the end of the command is known; the client sees nothing. */
static void quiet_commands_stay_quiet(void **state)
{
	ask("set a 0 0 1 noreply\r\nx\r\nms b 1 q T0\r\ny\r\nmg c v q Pxy\r\nmg d q v\r\nmd e "
	    "q\r\nmn\r\n");
	assert_int_equal(asked_count, 5);
	reply("set a 0 0 1        \r\nx\r\n", "SERVER_ERROR out of memory\r\n");
	reply("ms b 1   T0\r\ny\r\n", "HD\r\n");
	reply("mg c v      \r\n", "EN\r\n");
	reply("mg d   v\r\n", "VA 1\r\nz\r\n");
	reply("md e  \r\n", "NF\r\n");
	client_gets("VA 1\r\nz\r\n");
	client_gets("NF\r\n");
	client_gets("MN\r\n");
	all_is_done();
}

static void all_quiet_is_silence(void **state)
{
	ask("set a 0 0 1 noreply\r\nx\r\nset b 0 0 1 noreply\r\ny\r\n");
	reply_datagram(&asked[0], "STORED\r\n", 8, 0, 1);
	reply_datagram(&asked[1], "STORED\r\n", 8, 0, 1);
	all_is_done();
}

/* A later command on a key waits for an earlier one that changes it; others do not. */
static void order_is_kept_on_a_key(void **state)
{
	ask("set a 0 0 1\r\n1\r\nget b\r\nget a\r\nget c\r\n");
	assert_int_equal(asked_count, 2);
	reply("get b\r\n", "END\r\n");
	client_gets_nothing();
	reply("set a 0 0 1\r\n1\r\n", "STORED\r\n");
	client_gets("STORED\r\n");
	client_gets("END\r\n");
	asked_take();
	assert_int_equal(asked_count, 2);
	reply("get a\r\n", "VALUE a 0 1\r\n1\r\nEND\r\n");
	reply("get c\r\n", "END\r\n");
	client_gets("VALUE a 0 1\r\n1\r\nEND\r\n");
	client_gets("END\r\n");
	all_is_done();
}

/* One time for all of it: behind the service's timeout nothing new is asked. */
static void waves_have_one_deadline(void **state)
{
	ask("incr a 1\r\nincr a 1\r\nincr a 1\r\nget a\r\nmg a v\r\n");
	assert_int_equal(asked_count, 1);
	world_wait(0, WORLD_TIMEOUT + 2);
	client_gets("SERVER_ERROR node did not answer\r\n");
	client_gets("SERVER_ERROR node did not answer\r\n");
	client_gets("SERVER_ERROR node did not answer\r\n");
	client_gets("END\r\n");
	client_gets("EN\r\n");
	assert_int_equal(COUNTER(unanswered), 5);
	all_is_done();
}

/* Its value's length is not to be trusted, so nothing behind it is run. */
static void a_fault_in_storage_ends_the_datagram(void **state)
{
	ask("get a\r\nset b 0 0 40\r\nflush_all\r\nget c\r\n");
	assert_int_equal(asked_count, 1);
	reply("get a\r\n", "END\r\n");
	client_gets("END\r\n");
	client_gets("CLIENT_ERROR bad data chunk\r\n");
	all_is_done();
	ask("flush_all noreply\r\nget\r\nget a\r\n");
	assert_int_equal(asked_count, 1);
	reply("get a\r\n", "END\r\n");
	client_gets("ERROR\r\n");
	client_gets("END\r\n");
	all_is_done();
	ask("get a\r\nflush_all\r\nget b\r\nget c");
	assert_int_equal(asked_count, 2);
	reply("get a\r\n", "END\r\n");
	reply("get b\r\n", "END\r\n");
	client_gets("END\r\n");
	client_gets("SERVER_ERROR command refused by the router\r\n");
	client_gets("END\r\n");
	all_is_done();
}

static size_t binary_add(uint8_t *out, uint8_t opcode, const char *key)
{
	return binary_write(&(struct binary_packet){opcode, key}, out);
}

/* getkq a, getkq b, noop: hits and the noop, in order. */
static void binary_batch(void **state)
{
	uint8_t batch[256], hit[64], noop[24];
	size_t len = 0;

	len += binary_add(batch, 0x0d, "a");
	len += binary_add(batch + len, 0x0d, "b");
	len += binary_add(batch + len, 0x0a, NULL);
	ask_bytes(batch, len);
	assert_int_equal(asked_count, 2);
	assert_int_equal(asked[0].len, 25);
	for (unsigned int i = 0; i < 2; i++) {
		if (asked[i].text[24] == 'a') {
			reply_datagram(&asked[i], "", 0, 0, -1);
		} else {
			binary_write(&(struct binary_packet){0x0d, "b", "value", 4}, hit);
			hit[0] = 0x81;
			reply_datagram(&asked[i], hit, 24 + 4 + 1 + 5, 0, 1);
		}
	}
	client_gets_datagram(hit, 24 + 4 + 1 + 5, 0, 1);
	binary_add(noop, 0x0a, NULL);
	noop[0] = 0x81;
	client_gets_datagram(noop, 24, 0, 1);
	all_is_done();
}

/* Misses for those whose node is silent, with the key where the opcode has it in its reply. */
static void binary_parts_unanswered(void **state)
{
	uint8_t batch[256], want[64];
	size_t len = 0;

	len += binary_add(batch, 0x00, "a");
	len += binary_add(batch + len, 0x0c, "b");
	len += binary_add(batch + len, 0x09, "c");
	len += binary_add(batch + len, 0x04, "d");
	ask_bytes(batch, len);
	assert_int_equal(asked_count, 4);
	world_wait(0, WORLD_TIMEOUT + 2);
	memcpy(want, "\x81\0\0\0\0\0\0\1\0\0\0\x09\xde\xad\xbe\xef\0\0\0\0\0\0\0\0Not found", 33);
	client_gets_datagram(want, 33, 0, 1);
	memcpy(want, "\x81\x0c\0\1\0\0\0\1\0\0\0\1\xde\xad\xbe\xef\0\0\0\0\0\0\0\0b", 25);
	client_gets_datagram(want, 25, 0, 1);
	memcpy(want,
		"\x81\4\0\0\0\0\0\x86\0\0\0\x20\xde\xad\xbe\xef\0\0\0\0\0\0\0\0"
		"SERVER_ERROR node did not answer",
		56);
	client_gets_datagram(want, 56, 0, 1);
	all_is_done();
}

/* As memcached: a protocol error drops the rest, an unknown opcode only its own body. */
static void binary_faults_in_a_batch(void **state)
{
	uint8_t batch[256];
	size_t len = binary_add(batch, 0x99, "key");

	len += binary_add(batch + len, 0x00, NULL);
	len += binary_add(batch + len, 0x00, "a");
	ask_bytes(batch, len);
	assert_int_equal(asked_count, 0);
	client_gets_datagram("\x81\x99\0\0\0\0\0\x81\0\0\0\x0f\xde\xad\xbe\xef\0\0\0\0\0\0\0\0"
			     "Unknown command",
		39, 0, 1);
	client_gets_datagram("\x81\0\0\0\0\0\0\4\0\0\0\x11\xde\xad\xbe\xef\0\0\0\0\0\0\0\0"
			     "Invalid arguments",
		41, 0, 1);
	all_is_done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(commands_are_answered_in_order, world_reset),
		cmocka_unit_test_setup(quiet_commands_stay_quiet, world_reset),
		cmocka_unit_test_setup(all_quiet_is_silence, world_reset),
		cmocka_unit_test_setup(order_is_kept_on_a_key, world_reset),
		cmocka_unit_test_setup(waves_have_one_deadline, world_reset),
		cmocka_unit_test_setup(a_fault_in_storage_ends_the_datagram, world_reset),
		cmocka_unit_test_setup(binary_batch, world_reset),
		cmocka_unit_test_setup(binary_parts_unanswered, world_reset),
		cmocka_unit_test_setup(binary_faults_in_a_batch, world_reset),
	};

	return cmocka_run_group_tests_name(
		"dataplane/split_commands", tests, world_begin, world_end);
}
