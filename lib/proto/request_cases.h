/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/request_test.h"

/* Shorthands for the tables only. */
#define K10   "0123456789"
#define K50   K10 K10 K10 K10 K10
#define K250  K50 K50 K50 K50 K50
#define R     KVL_KIND_READ
#define W     KVL_KIND_WRITE
#define IDEM  KVL_REQ_IDEMPOTENT
#define Q     KVL_REQ_QUIET
#define B64   KVL_REQ_KEY_BASE64
#define PROXY KVL_REQ_PROXY
#define GOOD  KVL_REQUEST_OK

static const struct request_case good_cases[] = {
	{"get", TEXT("get foo\r\n"), GOOD, KVL_OP_GET, R, IDEM, "foo", 0},
	{"one-byte key, bare LF", TEXT("get k\n"), GOOD, KVL_OP_GET, R, IDEM, "k", 0},
	{"doubled and trailing spaces", TEXT("get   foo  \r\n"), GOOD, KVL_OP_GET, R, IDEM, "foo",
		0},
	{"tab is part of a key", TEXT("get a\tb\r\n"), GOOD, KVL_OP_GET, R, IDEM, "a\tb", 0},
	{"bytes >= 0x7f are too", TEXT("get \x7f\x80\xff\r\n"), GOOD, KVL_OP_GET, R, IDEM,
		"\x7f\x80\xff", 0},
	{"key of 250", TEXT("get " K250 "\r\n"), GOOD, KVL_OP_GET, R, IDEM, K250, 0},
	{"gets", TEXT("gets foo\r\n"), GOOD, KVL_OP_GETS, KVL_KIND_TOKEN, 0, "foo", 0},
	{"gat", TEXT("gat 0 foo\r\n"), GOOD, KVL_OP_GAT, W, 0, "foo", 0},
	{"gats, negative", TEXT("gats -1 foo\r\n"), GOOD, KVL_OP_GATS, W, 0, "foo", 0},
	{"gat at INT_MAX", TEXT("gat 2147483647 k\r\n"), GOOD, KVL_OP_GAT, W, 0, "k", 0},
	{"gat at INT_MIN", TEXT("gat -2147483648 k\r\n"), GOOD, KVL_OP_GAT, W, 0, "k", 0},

	{"set", TEXT("set foo 0 0 3\r\nbar\r\n"), GOOD, KVL_OP_SET, W, 0, "foo", 3},
	{"set of nothing", TEXT("set foo 0 0 0\r\n\r\n"), GOOD, KVL_OP_SET, W, 0, "foo", 0},
	{"set, bare LF behind the line", TEXT("set foo 0 0 3\nbar\r\n"), GOOD, KVL_OP_SET, W, 0,
		"foo", 3},
	{"set noreply", TEXT("set foo 1 2 3 noreply\r\nbar\r\n"), GOOD, KVL_OP_SET, W, Q, "foo", 3},
	{"value with line ends and NUL", TEXT("set foo 0 0 6\r\n\r\n\0\r\nx\r\n"), GOOD, KVL_OP_SET,
		W, 0, "foo", 6},
	{"value that looks like a command", TEXT("set f 0 0 7\r\nget a\r\n\r\n"), GOOD, KVL_OP_SET,
		W, 0, "f", 7},
	{"flags wrap at 2^32", TEXT("set f 4294967296 -1 1\r\nx\r\n"), GOOD, KVL_OP_SET, W, 0, "f",
		1},
	{"exptime beyond 32 bits", TEXT("set f 0 4294967296 1\r\nx\r\n"), GOOD, KVL_OP_SET, W, 0,
		"f", 1},
	{"leading zeros", TEXT("set f 00 00 01\r\nx\r\n"), GOOD, KVL_OP_SET, W, 0, "f", 1},
	{"add", TEXT("add foo 0 0 3\r\nbar\r\n"), GOOD, KVL_OP_ADD, W, 0, "foo", 3},
	{"replace", TEXT("replace foo 0 0 3\r\nbar\r\n"), GOOD, KVL_OP_REPLACE, W, 0, "foo", 3},
	{"append", TEXT("append foo 0 0 3\r\nbar\r\n"), GOOD, KVL_OP_APPEND, W, 0, "foo", 3},
	{"prepend", TEXT("prepend foo 0 0 3 noreply\r\nbar\r\n"), GOOD, KVL_OP_PREPEND, W, Q, "foo",
		3},
	{"cas", TEXT("cas foo 0 0 3 18446744073709551615\r\nbar\r\n"), GOOD, KVL_OP_CAS, W, 0,
		"foo", 3},
	{"cas noreply", TEXT("cas foo 0 0 3 7 noreply\r\nbar\r\n"), GOOD, KVL_OP_CAS, W, Q, "foo",
		3},

	{"incr", TEXT("incr n 1\r\n"), GOOD, KVL_OP_INCR, W, 0, "n", 0},
	{"incr at 2^64-1", TEXT("incr n 18446744073709551615\r\n"), GOOD, KVL_OP_INCR, W, 0, "n",
		0},
	{"decr noreply", TEXT("decr n 5 noreply\r\n"), GOOD, KVL_OP_DECR, W, Q, "n", 0},
	{"touch", TEXT("touch k 100\r\n"), GOOD, KVL_OP_TOUCH, W, 0, "k", 0},
	{"touch noreply", TEXT("touch k -1 noreply\r\n"), GOOD, KVL_OP_TOUCH, W, Q, "k", 0},
	{"delete", TEXT("delete k\r\n"), GOOD, KVL_OP_DELETE, W, 0, "k", 0},
	{"delete 0", TEXT("delete k 0\r\n"), GOOD, KVL_OP_DELETE, W, 0, "k", 0},
	{"delete noreply", TEXT("delete k noreply\r\n"), GOOD, KVL_OP_DELETE, W, Q, "k", 0},
	{"delete 0 noreply", TEXT("delete k 0 noreply\r\n"), GOOD, KVL_OP_DELETE, W, Q, "k", 0},

	{"mg without flags", TEXT("mg foo\r\n"), GOOD, KVL_OP_MG, R, IDEM, "foo", 0},
	{"shortest request", TEXT("mg k\n"), GOOD, KVL_OP_MG, R, IDEM, "k", 0},
	{"mg v", TEXT("mg foo v\r\n"), GOOD, KVL_OP_MG, R, IDEM, "foo", 0},
	{"mg quiet, opaque", TEXT("mg foo v t f k O123 q s h l u\r\n"), GOOD, KVL_OP_MG, R,
		IDEM | Q, "foo", 0},
	{"mg with a token", TEXT("mg foo v c\r\n"), GOOD, KVL_OP_MG, KVL_KIND_TOKEN, 0, "foo", 0},
	{"mg that touches, with a token", TEXT("mg foo v c T0\r\n"), GOOD, KVL_OP_MG, W, 0, "foo",
		0},
	{"mg with hints", TEXT("mg foo v Pany/thing Lhere\r\n"), KVL_REQUEST_PROXY_TOKEN, KVL_OP_MG,
		R, IDEM | PROXY, "foo", 0},
	{"ms with a hint", TEXT("ms foo 1 q Lx\r\nP\r\n"), KVL_REQUEST_PROXY_TOKEN, KVL_OP_MS, W,
		Q | PROXY, "foo", 1},
	{"mg vivify", TEXT("mg foo v N30\r\n"), GOOD, KVL_OP_MG, W, 0, "foo", 0},
	{"mg recache", TEXT("mg foo R30 v\r\n"), GOOD, KVL_OP_MG, W, 0, "foo", 0},
	{"mg touch", TEXT("mg foo T-1\r\n"), GOOD, KVL_OP_MG, W, 0, "foo", 0},
	{"mg compare", TEXT("mg foo v C18446744073709551615\r\n"), GOOD, KVL_OP_MG, R, IDEM, "foo",
		0},
	{"mg base64", TEXT("mg Zm9v b v\r\n"), GOOD, KVL_OP_MG, R, IDEM | B64, "foo", 0},
	{"mg base64, one pad", TEXT("mg Zm8= v b\r\n"), GOOD, KVL_OP_MG, R, IDEM | B64, "fo", 0},
	{"mg base64, two pads", TEXT("mg Zg== b k\r\n"), GOOD, KVL_OP_MG, R, IDEM | B64, "f", 0},
	{"mg base64, high bits", TEXT("mg +/+/ b\r\n"), GOOD, KVL_OP_MG, R, IDEM | B64,
		"\xfb\xff\xbf", 0},
	{"opaque of 31", TEXT("mg foo O" K10 K10 K10 "1\r\n"), GOOD, KVL_OP_MG, R, IDEM, "foo", 0},
	{"empty opaque", TEXT("mg foo O\r\n"), GOOD, KVL_OP_MG, R, IDEM, "foo", 0},
	{"19 tokens, good", TEXT("mg k P c C1 f h k l O q s t v E1 N1 R1 T1 u\r\n"),
		KVL_REQUEST_PROXY_TOKEN, KVL_OP_MG, W, Q | PROXY, "k", 0},
	{"ms", TEXT("ms foo 3\r\nbar\r\n"), GOOD, KVL_OP_MS, W, 0, "foo", 3},
	{"ms all", TEXT("ms Zm9v 3 b c C1 F4294967295 I k O1 q s T0 MS N0\r\nbar\r\n"), GOOD,
		KVL_OP_MS, W, Q | B64, "foo", 3},
	{"ms versioned", TEXT("ms foo 3 E77 T0\r\nbar\r\n"), GOOD, KVL_OP_MS, W, IDEM, "foo", 3},
	{"ms compare", TEXT("ms foo 3 E77 C1\r\nbar\r\n"), GOOD, KVL_OP_MS, W, 0, "foo", 3},
	{"ms append", TEXT("ms foo 3 MA E77\r\nbar\r\n"), GOOD, KVL_OP_MS, W, 0, "foo", 3},
	{"ms add", TEXT("ms foo 3 ME\r\nbar\r\n"), GOOD, KVL_OP_MS, W, 0, "foo", 3},
	{"ms prepend", TEXT("ms foo 3 MP\r\nbar\r\n"), GOOD, KVL_OP_MS, W, 0, "foo", 3},
	{"ms replace", TEXT("ms foo 3 MR\r\nbar\r\n"), GOOD, KVL_OP_MS, W, 0, "foo", 3},
	{"ms bare LF", TEXT("ms foo 2\nab\r\n"), GOOD, KVL_OP_MS, W, 0, "foo", 2},
	{"md", TEXT("md foo\r\n"), GOOD, KVL_OP_MD, W, 0, "foo", 0},
	{"md quiet", TEXT("md foo q I T30 k O5 C9\r\n"), GOOD, KVL_OP_MD, W, Q, "foo", 0},
	{"md tombstone", TEXT("md foo x E9\r\n"), GOOD, KVL_OP_MD, W, IDEM, "foo", 0},
	{"ma", TEXT("ma foo\r\n"), GOOD, KVL_OP_MA, W, 0, "foo", 0},
	{"ma all", TEXT("ma foo N0 J5 D18446744073709551615 T0 MI O1 q t c v k C0 E1\r\n"), GOOD,
		KVL_OP_MA, W, Q, "foo", 0},
	{"ma modes", TEXT("ma foo M-\r\n"), GOOD, KVL_OP_MA, W, 0, "foo", 0},
	{"me", TEXT("me foo\r\n"), GOOD, KVL_OP_ME, R, IDEM, "foo", 0},
};
