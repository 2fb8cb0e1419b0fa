#!/usr/bin/python3
"""Runs the system tests: real daemons, real sockets, a software device.

    run.py --build DIR [--mode MODE] [-j N] [NAME...]      NAME: a part of test names; -l lists them

Modes choose what runs, and how: plain (all), validation (Vulkan's layers watch), asan, tsan, models. A test is a function
test_* of a file test_*.py, with one argument; its attribute 'modes' says where else it runs, 'seconds' how long it may take. Each runs in
a process of its own. Last line: N passed, N failed, N skipped.
"""

import argparse
import glob
import importlib
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
SLOWER = {"asan": 4, "tsan": 8, "validation": 3}  # by how much a mode may take longer


class Skip(Exception):
    pass


class Test:
    """What a test is given: a folder, daemons that are stopped and checked after it, the build, the mode."""

    def __init__(self, build, tools, mode):
        self.build, self.tools, self.mode = build, tools, mode
        self.tables = []
        self.tmp = tempfile.mkdtemp(prefix="visd-test-")
        self.daemons = []
        self.clients = []

    def daemon(self, *flags, **more):
        from daemon import Daemon
        more.setdefault("validate", self.mode == "validation")
        daemon = Daemon(self.build, self.tmp, *flags, **more)
        self.daemons.append(daemon)
        return daemon

    def client(self, daemon=None, **more):
        from wire import Client
        daemon = daemon or self.daemons[-1]
        client = Client(daemon.url, **more)
        self.clients.append(client)
        return client

    def visctl(self, *arguments, check=True, url=None, timeout=300):
        from daemon import sanitizer_env
        done = subprocess.run([f"{self.build}/bin/visctl", "--connect", url or self.daemons[-1].url, *map(str, arguments)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
                              env={**os.environ, **sanitizer_env(self.build, HERE)})
        if check and done.returncode != 0:
            raise AssertionError(f"visctl {' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr[-2000:]}")
        return done

    def table(self, line):
        """A line that is shown even when all is well."""
        self.tables.append(f"TABLE {line}")

    def skip(self, why):
        raise Skip(why)

    def finish(self):
        for client in self.clients:
            client.close()
        try:
            for daemon in self.daemons:
                daemon.finish()
        finally:
            for daemon in self.daemons:
                if daemon.alive():
                    daemon.process.kill()
                    daemon.process.wait()


def find(mode, names):
    for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
        module = importlib.import_module(os.path.basename(path)[:-3])
        for name, function in list(vars(module).items()):
            if not name.startswith("test_") or not callable(function) or function.__module__ != module.__name__:
                continue
            full = f"{module.__name__[5:]}/{name[5:]}"
            modes = getattr(function, "modes", ("plain",))
            if mode in modes and (not names or any(part in full for part in names)):
                yield full, function


def on_alarm(signum, frame):
    raise TimeoutError("the test took too long")


TESTS = []  # (name, function); filled before the processes that run them are forked


def run_one(task):
    """Runs a test; returns passed, failed or skipped, and what there is to say."""
    build, tools, mode, number = task
    name, function = TESTS[number]
    test = Test(build, tools, mode)
    slower = SLOWER.get(mode, 1)
    start = time.monotonic()
    signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(getattr(function, "seconds", 60) * slower)
    try:
        try:
            function(test)
        finally:
            signal.alarm(60 * slower)
            test.finish()
        return "passed", test.tables + [f"passed  {name} ({time.monotonic() - start:.1f} s)"]
    except Skip as why:
        return "skipped", [f"SKIPPED {name}: {why}"]
    except Exception:
        said = [f"FAILED {name} ({time.monotonic() - start:.1f} s)", traceback.format_exc()]
        return "failed", test.tables + said + [f"--- the log of {daemon.pid}:\n{daemon.log()[-2000:]}" for daemon in test.daemons]
    finally:
        signal.alarm(0)
        shutil.rmtree(test.tmp, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/check")
    parser.add_argument("--tools", help="a build whose oracle to use; default: the same")
    parser.add_argument("--mode", default="plain", choices=["plain", "validation", "asan", "tsan", "models"])
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("-l", "--list", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    os.environ["VISD_TEST_PATIENCE"] = str(SLOWER.get(args.mode, 1))
    build, tools = os.path.abspath(args.build), os.path.abspath(args.tools or args.build)
    TESTS.extend(find(args.mode, args.names))
    if not TESTS:
        sys.exit(f"run.py: no test of mode {args.mode} has such a name: {' '.join(args.names)}; -l lists them")
    if args.list:
        print("\n".join(name for name, _ in TESTS))
        return 0
    if not os.path.exists(f"{build}/bin/visd"):
        sys.exit(f"run.py: there is no {build}/bin/visd; ./dev test build-check makes build/check")
    TESTS.sort(key=lambda test: -getattr(test[1], "seconds", 60))  # long ones first
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with multiprocessing.get_context("fork").Pool(args.jobs, maxtasksperchild=1) as pool:
        for how, said in pool.imap_unordered(run_one, [(build, tools, args.mode, i) for i in range(len(TESTS))], 1):
            counts[how] += 1
            print("\n".join(said), flush=True)
    print(", ".join(f"{count} {how}" for how, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
