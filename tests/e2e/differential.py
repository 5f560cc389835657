# SPDX-License-Identifier: BSD-3-Clause
"""One corpus of requests to a memcached directly and to its like behind kvlane: byte for byte the
same replies, but for what LISTED says, each with its reason and with the very reply of the router.

differential.py REFERENCE ROUTER [own-tokens]

With own-tokens cas tokens are not compared: behind the router are several nodes, and each counts by
itself.
"""
import re
import struct
import sys

from kvclient import *

# Requests whose replies differ, and why. Only the bytes of the replies are compared for STREAM:
# their bytes are the same, and so is their order, but not what is one message.
STREAM = "memcached answers each key of a retrieval with a message of its own, kvlane all with one"
HEADER = "memcached sends frames of total 0 for quiet commands and leading misses of a batch, kvlane nothing"
LEVEL = "the router answers itself, and says what it is"
ADMIN = "the router refuses what changes a node's state"
STRICT = "memcached 1.6.18 and 1.6.45 take it differently: the router refuses it"
POISON = "memcached would swallow other clients' datagrams: the reference is not even asked"
AFTER = "behind a storage command with a fault nothing runs: it may be the value"

CORPUS = []  # (reason or None, request, the router's replies)


def raw(text):
    return text.encode("latin-1") if isinstance(text, str) else text


def same(*requests):
    CORPUS.extend((None, raw(r), []) for r in requests)


def listed(why, request, *replies):
    """replies: the router's, or none: the reference's bytes as one stream."""
    CORPUS.append((why, raw(request), [raw(r) for r in replies]))


K250 = "k" * 250
BAD_CHUNK, FORMAT, REFUSED = ("CLIENT_ERROR bad data chunk\r\n", "CLIENT_ERROR bad command line format\r\n",
                              "SERVER_ERROR command refused by the router\r\n")


def err(opcode, status, text, opaque=0):
    return struct.pack(">BBHBBHIIQ", 0x81, opcode, 0, 0, 0, status, len(text), opaque, 0) + text.encode()


def ok(opcode, body=b""):
    return struct.pack(">BBHBBHIIQ", 0x81, opcode, 0, 0, 0, 0, len(body), 0, 0) + body


def corpus():
    # Storage: every verb on what is there and what is not, flags, expiry, sizes around a datagram.
    for verb in ("set", "add", "replace", "append", "prepend"):
        for key in ("a", "new-" + verb):
            same("%s %s 5 0 3\r\nabc\r\n" % (verb, key), "get %s\r\n" % key, "gets %s\r\n" % key)
        same("%s a 0 0 1 noreply\r\nx\r\n" % verb, "get a\r\n", "%s a 0 0\r\n" % verb, "%s a\r\n" % verb, verb + "\r\n")
        same("%s a x 0 0\r\n" % verb, "%s a 0 x 0\r\n" % verb, "%s a 0 0 x\r\n" % verb)
    for size in (0, 1, 2, 100, 249, 250, 251, 1300, 1340, 1350, 1355, 1358, 1359, 1360, 1361, 1362, 1365, 1370, 1380):
        same("set size 0 0 %d\r\n%s\r\n" % (size, "v" * size), "get size\r\n", "gets size\r\n", "mg size v\r\n",
             "mg size s v t f k\r\n")
    for chunk in range(6):  # up to 6000 bytes: several datagrams
        same("%s grow 0 0 1000\r\n%s\r\n" % ("append" if chunk else "set", chr(97 + chunk) * 1000), "get grow\r\n",
             "mg grow v\r\n")
    for key in ("k", "ab", "a\tb", "\x7f", "\x80\xff", "\x01\x02", "{tag}x", "x:y:z", K250[:249], K250, "noreply", "0"):
        same("set %s 1 0 2\r\nhi\r\n" % key, "get %s\r\n" % key, "get  %s \r\n" % key, "get %s\n" % key,
             "touch %s 0\r\n" % key, "gat 0 %s\r\n" % key, "mg %s v k\r\n" % key)
    same("delete %s\r\n" % K250, "get %s\r\n" % K250, "delete k\r\n", "delete k\r\n", "delete ab 0\r\n",
         "delete ab noreply\r\n", "delete ab 0 noreply\r\n")
    for verb in ("get", "gets", "delete", "mg", "md", "ma", "me"):
        same("%s %s\r\n" % (verb, K250 + "x"))
    same("incr %sx 1\r\n" % K250, "touch %sx 1\r\n" % K250, "gat 0 %sx\r\n" % K250)
    for flags in (0, 1, 65535, 4294967295, 4294967296):
        same("set flags %d 0 1\r\nx\r\n" % flags, "get flags\r\n", "mg flags f\r\n")
    for exptime in (0, 1000, -1, 4294967295):
        same("set exp 0 %d 1\r\nx\r\n" % exptime, "get exp\r\n", "mg exp v\r\n")
    same("set odd 0 0 4\r\n\r\n\r\n\r\n", "get odd\r\n", "set odd 0 0 5\r\na\0b\rc\r\n", "get odd\r\n",
         "set odd 0 0 7\r\nget a\r\n\r\n", "get odd\r\n", "set odd 0 0 1\nx\r\n", "get odd\r\n")

    # Numbers.
    same("set n 0 0 2\r\n10\r\n")
    for delta in ("1", "0", "18446744073709551615", "x", "-1", "", "1 noreply", "18446744073709551616"):
        same("incr n %s\r\n" % delta, "decr n %s\r\n" % delta, "get n\r\n")
    same("incr nokey 1\r\n", "decr nokey 1\r\n", "incr a 1\r\n", "incr\r\n", "incr n\r\n", "decr n 99999\r\n", "get n\r\n")
    for exptime in ("0", "100", "-1", "x", "", "2147483647"):
        same("set t 0 0 1\r\nt\r\n", "touch t %s\r\n" % exptime, "get t\r\n", "set t 0 0 1\r\nt\r\n",
             "gat %s t\r\n" % exptime, "gats %s t\r\n" % exptime)
    same("touch nokey 0\r\n", "gat 0 nokey\r\n", "touch\r\n", "gat\r\n", "gats\r\n", "touch t 0 noreply\r\n")

    # Compare and swap: the same sequence gives both the same numbers.
    same("set c 0 0 1\r\nx\r\n", "gets c\r\n", "cas c 0 0 1 1\r\ny\r\n", "cas nokey 0 0 1 1\r\ny\r\n",
         "cas c 0 0 1 x\r\n", "cas c 0 0 1 99999 noreply\r\ny\r\n", "get c\r\n")

    # Meta: every flag and mode.
    same("ms m 2 T0 F7\r\nhi\r\n", "mg m\r\n", "mg m v\r\n", "mg m s v t f c k O123\r\n", "mg m h t v\r\n", "mg nokey v\r\n",
         "mg nokey v k O9\r\n", "mg m q v\r\n", "mg nokey q v\r\n", "mg m v N30\r\n", "mg viv v N30 t\r\n", "mg viv v\r\n",
         "mg m T100 t\r\n", "mg m R200 t\r\n", "mg bTE= b v k\r\n", "ms bTE= 2 b k O1\r\nok\r\n", "mg m1 v\r\n",
         "ms m 1 c k O5\r\nz\r\n", "ms m 1 q\r\nz\r\n", "ms m 1 C1\r\nz\r\n", "ms nokey 1 C1\r\nz\r\n", "ms m 0\r\n\r\n",
         "mg m v\r\n", "ms m 1 T-1\r\nz\r\n", "mg m v\r\n")
    for mode in "EAPRS":
        same("ms mode 2 M%s\r\nmm\r\n" % mode, "mg mode v\r\n")
    same("ms mode 2 I C5\r\nst\r\n", "mg mode v c\r\n", "md mode I T30\r\n", "mg mode v\r\n", "md mode\r\n", "md mode\r\n",
         "md mode q\r\n", "md nokey k O7\r\n", "ms mode 1\r\nx\r\n", "md mode q\r\n", "md mode C5\r\n")
    same("ma cnt\r\n", "ma cnt N0 J13 v\r\n", "ma cnt v\r\n", "ma cnt D5 v t c k O1\r\n", "ma cnt MD v\r\n", "ma cnt M- D100 v\r\n",
         "ma cnt MI v\r\n", "ma cnt M+ q\r\n", "ma cnt q v\r\n", "ma nokey q\r\n", "ma a\r\n", "ma cnt C1 v\r\n", "ma cnt T50 v t\r\n")
    same("me nokey\r\n", "mg\r\n", "ms\r\n", "md\r\n", "ma\r\n")
    same("ms m x\r\n", "ms m -3\r\n", "mg m O%s\r\n" % ("o" * 31))
    listed("the router takes the hint off", "mg a v Pproxy Lhint\r\n")
    same("mg a v\r\n")

    # Wrong lines.
    same("bogus\r\n", "\r\n", "get\r\n", "GET a\r\n", "get\ta\r\n", "gett a\r\n", "gets\r\n", "delete\r\n", "xget a\r\n",
         "incr\r\n", "set a 0 0 -1\r\n", "set %sx 0 0 noreply\r\n" % K250, "mz m\r\n")

    # Keyless.
    same("mn\r\n", "verbosity\r\n", "verbosity x\r\n", "verbosity 1\r\n", "verbosity 1 noreply\r\n", "verbosity 1 2 3\r\n",
         "stats bogus\r\n")
    version = "VERSION 1.6.18-kvlane-0.1.0\r\n"
    listed(LEVEL, "version\r\n", version)
    listed(LEVEL, "stats items\r\n", "END\r\n")
    listed(LEVEL, "stats sizes\r\n", "END\r\n")
    for line in ("stats reset", "flush_all", "flush_all 10", "cache_memlimit 64", "lru_crawler crawl all", "slabs reassign 1 2",
                 "lru tune 10 25 0.1 2.0", "shutdown", "watch", "lru_crawler metadump all", "misbehave"):
        listed(ADMIN, line + "\r\n", REFUSED)
    listed(ADMIN, "flush_all noreply\r\n")

    # Several keys.
    listed(STREAM, "get a size\r\n")
    for keys in ("a a", "nokey a", "a nokey", "nokey nokey2", "a grow c", "grow grow", "a c a c nokey a", K250 + " a", "a  c "):
        listed(STREAM, "get %s\r\n" % keys)
        listed(STREAM, "gets %s\r\n" % keys)
        listed(STREAM, "gat 0 %s\r\n" % keys)
    same("get a %sx\r\n" % K250)

    # Several commands: the same messages in the same order.
    same("get a\r\nget c\r\n", "get a\r\nget nokey\r\n", "set b1 0 0 1\r\nx\r\nget b1\r\n", "get a\nget c\n",
         "set b2 0 0 1 noreply\r\nx\r\nget b2\r\n", "incr n 1\r\nincr n 1\r\nget n\r\n", "bogus\r\nget a\r\n", "get\r\nget a\r\n",
         "delete b1\r\ndelete b1\r\n", "mg a v\r\nmg c v\r\nmn\r\n", "mg nokey v q\r\nmg a v q\r\nmn\r\n",
         "ms b3 1 q\r\nx\r\nmg b3 v\r\n", "md nokey q\r\nmn\r\n", "ma n q\r\nma n v\r\n", "get a\r\nmn\r\n", "get a\r\nge", "get a\r\n\r\n",
         "touch a 0\r\ntouch nokey 0\r\n", "get grow\r\nget a\r\n", "add b4 0 0 1\r\nx\r\nadd b4 0 0 1\r\ny\r\n",
         "verbosity 1\r\nget a\r\n", "get %sx\r\nget a\r\n" % K250, "append b4 0 0 1\r\nz\r\nget b4\r\n", "gets c\r\ngets c\r\n")
    listed(HEADER, "get nokey a\r\nget c\r\n")
    listed(AFTER, "set k 0 0 x\r\nget a\r\n", FORMAT)
    listed(AFTER, "cas c 0 0 1\r\ny\r\n", "ERROR\r\n")
    listed(ADMIN, "get nokey\r\nflush_all\r\nget nokey\r\n", "END\r\n", REFUSED, "END\r\n")

    # Binary.
    ext = struct.pack(">II", 3, 0)
    for op in (SET, ADD, REPLACE):
        same(packet(op, "ba", ext, "value", opaque=7), packet(GET, "ba"), packet(op, "bn%d" % op, ext, ""))
        same(packet(op, "ba", ext, "v", cas=12345))
    for size in (0, 1, 1360, 1363, 1364, 1365, 1370, 1400):
        same(packet(SET, "bsize", ext, "b" * size), packet(GET, "bsize"), packet(GETK, "bsize"))
    for op in (APPEND, PREPEND):
        same(packet(op, "ba", b"", "more"), packet(GET, "ba"), packet(op, "nokey", b"", "x"))
    for op in (GET, GETK, GETQ, GETKQ):
        same(packet(op, "ba"), packet(op, "nokey"))
    for op in (GAT, GATQ, GATK, GATKQ, TOUCH):
        same(packet(op, "ba", struct.pack(">I", 0)), packet(op, "nokey", struct.pack(">I", 0)))
    for op in (INCR, DECR, 0x15, 0x16):
        same(packet(op, "bcnt", struct.pack(">QQI", 2, 50, 0)), packet(op, "ba", struct.pack(">QQI", 2, 50, 0)),
             packet(op, "nokey", struct.pack(">QQI", 2, 50, 0xffffffff)))
    for op in (SETQ, 0x12, 0x13):
        same(packet(op, "bq", ext, "q"), packet(GET, "bq"), packet(op, "bq", ext, "q", cas=999))
    same(packet(DELETE, "bq"), packet(DELETE, "bq"), packet(0x14, "bq"), packet(0x19, "ba", b"", "z"),
         packet(0x1a, "ba", b"", "z"), packet(GET, "ba"))
    same(packet(SET, "with space\r\n", ext, "odd"), packet(GET, "with space\r\n"), packet(NOOP), packet(0x77), packet(0x20), packet(0xff))
    same(packet(GETK, "ba", opaque=1) + packet(GETK, "nokey", opaque=2) + packet(NOOP, opaque=3),
         packet(GETKQ, "ba", opaque=1) + packet(GETKQ, "nokey", opaque=2) + packet(NOOP, opaque=3),
         packet(SET, "bb", ext, "1") + packet(GET, "bb") + packet(DELETE, "bb") + packet(GET, "bb"),
         packet(GET, "ba") + b"\x80\0\0\1", packet(GET, "ba") + b"junk",
         packet(0x77) + packet(GET, "ba"))
    listed(HEADER, packet(GETKQ, "nokey", opaque=1) + packet(GETKQ, "ba", opaque=2) + packet(NOOP, opaque=3))
    listed(HEADER, packet(SETQ, "bb", ext, "1") + packet(GET, "bb"))
    listed(LEVEL, packet(VERSION), ok(VERSION, b"1.6.18-kvlane-0.1.0"))
    listed(LEVEL, packet(STAT, "items"), ok(STAT))
    listed(ADMIN, packet(FLUSH), err(FLUSH, 0x81, REFUSED.strip()))
    listed(ADMIN, packet(0x18), err(0x18, 0x81, REFUSED.strip()))

    # What memcached closes a connection for. Over UDP it never opens one again: from here on it
    # runs no more than one command of a datagram, so these come last.
    for op in (SET, ADD, REPLACE):
        same(packet(op, "ba", b"", "value"), packet(op, "", ext, "value"))
    for op in (APPEND, PREPEND):
        same(packet(op, "ba", ext, "x"))
    for op in (GET, GETK, GETQ, GETKQ):
        same(packet(op), packet(op, "k" * 251), packet(op, "ba", ext))
    for op in (GAT, GATQ, GATK, GATKQ, TOUCH):
        same(packet(op, "", struct.pack(">I", 0)))
    for op in (INCR, DECR, 0x15, 0x16):
        same(packet(op, "bcnt", ext), packet(op, "bcnt"))
    same(packet(DELETE, "bq", ext), packet(NOOP, "x"), packet(VERSION, "x"), packet(STAT, "", ext),
         packet(GET, "ba") + packet(GET) + packet(GET, "ba"), packet(QUIT), packet(0x17), "quit\r\n", "quit now\r\n", "get a\r\n")

    # What must not reach a memcached.
    for text in ("set p 0 0 40\r\nshort", "set p 0 0 40\r\nshort\r\n", "append p 0 0 9\r\nx\r\n", "ms p 40\r\nshort\r\n",
                 "set p 0 0 3\r\nabcd\r\n", "set p 0 0 3\r\nabcde", "cas p 0 0 10 1\r\nx\r\n"):
        listed(POISON, text, BAD_CHUNK)
    listed(POISON, "set p 0 0 2097152\r\nshort\r\n", "SERVER_ERROR object too large for cache\r\n")
    listed(POISON, "get a", "ERROR\r\n")
    listed(POISON, packet(SET, "p", ext, "short", body=60), err(SET, 4, "Invalid arguments"))
    listed(POISON, packet(SET, "p", ext, "short", body=70000), err(SET, 3, "Too large."))
    listed(POISON, packet(0x77, "body"), err(0x77, 0x81, "Unknown command"))
    listed(POISON, packet(GET, "p", body=0), err(GET, 0x81, "Unknown command"))
    listed(POISON, packet(TOUCH, "p", struct.pack(">I", 0), "tail"), err(TOUCH, 4, "Invalid arguments"))

    # Where the versions of memcached differ.
    for text, reply in (("incr n 1 2\r\n", "ERROR\r\n"), ("decr n 1 2\r\n", "ERROR\r\n"), ("gat 0\r\n", "ERROR\r\n"),
                        ("HEAD / HTTP/1.1\r\n", "ERROR\r\n"), ("set a 0 0 9999999999999\r\n", FORMAT),
                        ("delete a b\r\n", FORMAT), ("delete a 0 noreply x\r\n", FORMAT), (" get a\r\n", "ERROR\r\n"), ("get a\0b\r\n", FORMAT), ("delete a 1\r\n", FORMAT), ("set a 0 +0 1\r\nx\r\n", FORMAT),
                        ("get a\rb\r\n", FORMAT), ("me bTE= b\r\n", "CLIENT_ERROR invalid flag\r\n"),
                        ("mg a v v\r\n", "CLIENT_ERROR duplicate flag\r\n"), ("mg a !\r\n", "CLIENT_ERROR invalid flag\r\n"),
                        ("mg a O%s\r\n" % ("o" * 32), "CLIENT_ERROR opaque token too long\r\n")):
        listed(STRICT, text, reply)


class Peer:
    """One of the two servers. A fence is answered by its node behind all that the node was sent
    before; with several nodes there are as many fences as it takes for each to get some."""

    def __init__(self, address, fences=1):
        self.client = Client(address, timeout=2.0)
        self.fences = fences

    def fence(self):
        return {self.client.send("mg fence%d\r\n" % i) for i in range(self.fences)}

    def datagrams(self, request, enough):
        """Replies to a request until enough(bytes so far), then until a fence says there are none."""
        c = self.client
        ident, fence, got = c.send(request), None, []
        while True:
            if fence is None and enough(b"".join(d[8:] for d in got)):
                fence = self.fence()
            try:
                data = c.sock.recv(65536)
            except TimeoutError:
                if fence is not None:
                    raise SystemExit("%r: the fence is not answered" % request[:80])
                fence = self.fence()  # fewer than wanted: see what there is
                continue
            if data[:2] == struct.pack(">H", ident):
                got.append(data)
            elif fence is not None:
                fence.discard(struct.unpack(">H", data[:2])[0])
                if not fence:
                    return got


def messages(datagrams):
    out, part = [], []
    for d in datagrams:
        sequence, total = struct.unpack(">HH", d[2:6])
        assert sequence == len(part), "datagrams out of order"
        part.append(d[8:])
        if len(part) >= total:
            out.append(b"".join(part))
            part = []
    return out


def without_tokens(message):
    """A cas token in a reply of each protocol becomes a letter, or zeros."""
    if message[:1] == b"\x81":
        return message[:16] + bytes(8) + message[24:]
    message = re.sub(rb"(VALUE \S+ \d+ \d+) \d+\r\n", rb"\1 T\r\n", message)
    return re.sub(rb"(?m)^((?:VA|HD|EN|NS|EX|NF)[^\r]*? c)\d+", rb"\1T", message)


def without_padding(message):
    """decr leaves spaces behind a shorter number when nothing else in memcached holds the item just
    then, its LRU crawler for one; else it makes a new one. Either is memcached's own."""
    return re.sub(rb"(VALUE \S+ \d+ )\d+((?: \d+| T)?\r\n\d+) +\r\n", rb"\1P\2\r\n",
                  re.sub(rb"(VALUE \S+ \d+ )(\d+)((?: \d+| T)?\r\n(\d+))\r\n",
                         lambda m: m[1] + (b"P" if int(m[2]) == len(m[4]) else m[2]) + m[3] + b"\r\n",
                         message))


def main():
    corpus()
    own_tokens = sys.argv[3:] == ["own-tokens"]
    reference, router = Peer(sys.argv[1]), Peer(sys.argv[2], 60 if own_tokens else 1)
    for p in (reference, router):
        p.client.sock.settimeout(2.0)
    bad = identical = reasoned = 0
    for why, request, replies in CORPUS:
        want = []
        if why not in (POISON, STRICT, ADMIN, LEVEL, AFTER):
            want = messages(reference.datagrams(request, lambda got: True))
        stream = why is not None and not replies
        if replies:
            want = replies
        total = sum(len(m) for m in want)
        got = messages(router.datagrams(request, lambda have: len(have) >= total))
        got, want = ([without_padding(raw(m)) for m in list] for list in (got, want))
        if own_tokens:
            got, want = ([without_tokens(raw(m)) for m in list] for list in (got, want))
        if stream:
            equal = b"".join(got) == b"".join(want) and b"" not in got
            if why is STREAM:
                equal = equal and len(got) == 1
        else:
            equal = got == want
        if not equal:
            bad += 1
            print("%r%s\n  wanted %r\n  got    %r" % (request[:100], " (%s)" % why if why else "", want[:4], got[:4]))
        elif why is None:
            identical += 1
        else:
            reasoned += 1
    print("%d requests: %d identical, %d in the list of differences, %d wrong" % (len(CORPUS), identical, reasoned, bad))
    sys.exit(bad != 0 or len(CORPUS) < 400)


main()
