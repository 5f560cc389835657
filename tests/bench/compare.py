#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""compare.py: kvlaned against testpmd's `io` and `5tswap`, on the same port.

One net_pcap port that gives the same 4096 requests again and again and writes to /dev/null; one
forwarding core, bursts of 32, 8192 mbufs. The three programs take turns, so that a slow minute of
the machine meets all of them. Cycles are TSC cycles that the forwarding thread was running
(/proc/.../schedstat), so time that the scheduler gave to other processes does not count.
"""
import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gets_pcap  # noqa: E402

CONFIG = """\
router:
  workers: 1
  control_socket: {folder}/kvlane.sock
  poll: busy
  mbufs: 8192
# Nobody answers probes here: the first one comes late, and a hundred may fail.
health: {{probe_interval_ms: 60000, probe_timeout_ms: 1000, timeouts_to_down: 100}}
ports:
  - {{name: wire, device: "{device}"}}
services:
  - {{name: cache, address: {vip}, port: {port}, mode: dsr}}
nodes:
"""
NODE = ('  - {{id: n{i}, address: 10.2.0.{i}, zone: z{i}, '
        'nexthop: {{mac: "02:00:00:00:02:{i:02x}", port: wire}}}}\n')
NODES = 10
START_SECONDS = 20


class Failure(Exception):
    pass


def wait_for(what, function):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        try:
            return function()
        except (OSError, StopIteration, ValueError):
            time.sleep(0.05)
    raise Failure(f"{what}: not within {START_SECONDS} s")


class Kvlaned:
    """Counts by its control socket."""

    def __init__(self, args, folder, device):
        config = os.path.join(folder, "kvlane.yaml")
        with open(config, "w", encoding="ascii") as out:
            out.write(CONFIG.format(folder=folder, device=device, vip=gets_pcap.VIP,
                                    port=gets_pcap.PORT))
            out.writelines(NODE.format(i=i) for i in range(1, NODES + 1))
        self.path = os.path.join(folder, "kvlane.sock")
        # A network of its own: nothing of it leaves the machine.
        self.command = ["unshare", "-n", os.path.join(args.build, "ctrl/kvlaned"), "-c", config]

    def connect(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(self.path)
        self.lines = self.socket.makefile("rw")

    def packets(self):
        self.lines.write('{"v":1,"id":1,"method":"stats"}\n')
        self.lines.flush()
        stats = json.loads(self.lines.readline())["result"]
        if stats["dropped"] or stats["requests"] < stats["out"]:
            raise Failure(f"kvlaned does not forward all: {stats}")
        return stats["out"]

    def close(self):
        self.lines.close()
        self.socket.close()

    def clean(self):
        """It cleans up by itself."""


class Testpmd:
    """Counts by DPDK's telemetry socket."""

    def __init__(self, args, device, mode, cpus):
        self.prefix = f"kvlbench{os.getpid()}"
        memory = ["--in-memory"] if args.huge else ["--no-huge", "--no-shconf", "-m", "512"]
        self.command = [
            "unshare", "-n", args.testpmd, f"--lcores=0@{cpus[0]},1@{cpus[1]}", "--no-pci",
            f"--file-prefix={self.prefix}", *memory, f"--vdev={device}", "--", "--nb-cores=1",
            "--port-topology=loop", f"--forward-mode={mode}", "--burst=32",
            "--total-num-mbufs=8192", "--no-flush-rx", "--stats-period=3600"]

    def connect(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(f"/var/run/dpdk/{self.prefix}/dpdk_telemetry.v2")
        self.socket.recv(4096)

    def packets(self):
        self.socket.send(b"/ethdev/stats,0")
        return json.loads(self.socket.recv(65536))["/ethdev/stats"]["opackets"]

    def close(self):
        self.socket.close()

    def clean(self):
        shutil.rmtree(f"/var/run/dpdk/{self.prefix}", ignore_errors=True)


def worker_schedstat(pid):
    """Path of the forwarding thread's schedstat; its first figure is nanoseconds run."""
    tasks = f"/proc/{pid}/task"
    for task in os.listdir(tasks):
        with open(f"{tasks}/{task}/comm", encoding="ascii") as comm:
            if comm.read().startswith(("rte-worker", "lcore-worker", "dpdk-worker")):
                return f"{tasks}/{task}/schedstat"
    raise StopIteration


def sample(program, schedstat):
    with open(schedstat, encoding="ascii") as f:
        return time.monotonic(), int(f.read().split()[0]), program.packets()


def flowing(program):
    if program.packets() == 0:
        raise ValueError
    return True


def measure(program, seconds, log):
    """One run. Returns (packets a second, nanoseconds of the forwarding thread a packet)."""
    with subprocess.Popen(program.command, stdin=subprocess.PIPE, stdout=log, stderr=log) as child:
        try:
            # unshare(1) becomes the program, so the pid is its own.
            wait_for("control socket", lambda: program.connect())
            schedstat = wait_for("forwarding thread", lambda: worker_schedstat(child.pid))
            wait_for("packets", lambda: flowing(program))
            time.sleep(0.5)
            before = sample(program, schedstat)
            time.sleep(seconds)
            after = sample(program, schedstat)
            program.close()
        finally:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
            program.clean()
    elapsed, run, packets = (b - a for a, b in zip(before, after))
    if packets == 0:
        raise Failure("no packets in the window")
    return packets / elapsed, run / packets


def hugepages_free():
    with open("/proc/meminfo", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("HugePages_Free"))


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("BUILD", "build"))
    parser.add_argument("--testpmd", default="dpdk-testpmd")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--tsc-hz", type=float, required=True)
    parser.add_argument("--json", default="/dev/null")
    args = parser.parse_args()
    args.huge = hugepages_free() >= 200
    return args


def all_runs(args, folder):
    """name -> list of (packets a second, cycles a packet)"""
    capture = os.path.join(folder, "gets.pcap")
    gets_pcap.write(capture)
    device = f"net_pcap0,rx_pcap={capture},infinite_rx=1,tx_pcap=/dev/null"
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Failure("two CPUs are needed: one forwards, one controls")
    programs = {
        "testpmd io": Testpmd(args, device, "io", cpus),
        "testpmd 5tswap": Testpmd(args, device, "5tswap", cpus),
        "kvlaned dsr": Kvlaned(args, folder, device),
    }
    results = {name: [] for name in programs}
    for _ in range(args.runs):
        for name, program in programs.items():
            path = os.path.join(folder, "log")
            with open(path, "wb") as log:
                try:
                    rate, nanoseconds = measure(program, args.seconds, log)
                except Exception:
                    with open(path, encoding="utf-8", errors="replace") as text:
                        sys.stderr.write(text.read())
                    raise
            results[name].append((rate, nanoseconds * args.tsc_hz / 1e9))
    return results


def summary(results):
    out = {}
    for name, runs in results.items():
        cycles = [run[1] for run in runs]
        out[name] = {"packets_per_second": round(statistics.median(run[0] for run in runs)),
                     "cycles": round(statistics.median(cycles), 1),
                     "cycles_min": round(min(cycles), 1), "cycles_max": round(max(cycles), 1)}
    io = out["testpmd io"]["cycles"]
    for figures in out.values():
        figures["cycles_over_io"] = round(figures["cycles"] - io, 1)
    out["ratio kvlaned/5tswap"] = round(
        out["kvlaned dsr"]["cycles"] / out["testpmd 5tswap"]["cycles"], 3)
    return out


def report(figures):
    print(f"\n{'whole program, one net_pcap port':<34} {'Mpps':>6} {'cycles':>8}  min - max"
          "        over io")
    for name, f in figures.items():
        if isinstance(f, dict):
            print(f"{name:<34} {f['packets_per_second'] / 1e6:6.2f} {f['cycles']:8.1f}  "
                  f"{f['cycles_min']:.1f} - {f['cycles_max']:.1f} {f['cycles_over_io']:10.1f}")
    print(f"ratio kvlaned/5tswap {figures['ratio kvlaned/5tswap']:.3f}")


def main():
    args = options()
    with tempfile.TemporaryDirectory(prefix="kvlbench.") as folder:
        figures = summary(all_runs(args, folder))
    report(figures)
    with open(args.json, "w", encoding="ascii") as out:
        json.dump(figures, out, indent=1)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"compare.py: {failure}")
