# SPDX-License-Identifier: BSD-3-Clause
"""routes.py SOCKET COUNT: asks the router where kvload's first COUNT keys go; prints JSON."""
import json
import socket
import sys


def routes(path, count):
    """{key: id of the node it goes to}"""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        f = s.makefile("rw")
        out = {}
        for i in range(count):
            key = "key:%08d" % i
            f.write(json.dumps({"v": 1, "id": i, "method": "route", "params": {"key": key}}) + "\n")
            f.flush()
            out[key] = json.loads(f.readline())["result"]["choice"]
        return out


def moved(before, after):
    """[(from, to)] of the keys that changed their node"""
    return [(before[k], after[k]) for k in before if before[k] != after[k]]


if __name__ == "__main__":
    json.dump(routes(sys.argv[1], int(sys.argv[2])), sys.stdout)
