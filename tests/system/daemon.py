"""A real daemon on a private socket, started and stopped as a service manager would."""

import glob
import json
import os
import re
import select
import signal
import socket
import subprocess
import time

import wire

SANITIZER = re.compile(r"(ERROR|WARNING): (Address|Thread|Leak|Memory)Sanitizer|runtime error:|Sanitizer:DEADLYSIGNAL")


def lavapipe():
    """The driver file of Mesa's software device, or None."""
    for folder in ("/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d"):
        for path in sorted(glob.glob(folder + "/lvp_icd*.json")):
            return path
    return None


def sanitizer_env(build, here):
    """What sanitized programs need around a driver that is unloaded before the leak check looks at it."""
    env = {}
    kind = "asan" if build.endswith("asan") else "tsan" if build.endswith("tsan") else None
    if kind:
        env["NODEVICE_SELECT"] = "1"  # without Mesa's layer, which leaks
    if kind == "asan":
        env["ASAN_OPTIONS"] = "allocator_may_return_null=1:abort_on_error=0:exitcode=99"
        env["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1:exitcode=99"
        env["LSAN_OPTIONS"] = f"suppressions={here}/lsan.supp:print_suppressions=0"
        preload = [subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()]
        icd = lavapipe()
        if icd:
            preload.append(json.load(open(icd))["ICD"]["library_path"])
        env["LD_PRELOAD"] = ":".join(preload)
    elif kind == "tsan":
        env["TSAN_OPTIONS"] = f"suppressions={here}/tsan.supp:exitcode=99:halt_on_error=0:second_deadlock_stack=1"
    return env


class Daemon:
    def __init__(self, build, folder, *flags, url=None, env=None, wait=True, validate=False, level="info", device="cpu"):
        here = os.path.dirname(os.path.abspath(__file__))
        self.build, self.folder = build, folder
        self.url = url or f"ipc://{folder}/visd.sock"
        self.log_path = f"{folder}/visd-{time.monotonic_ns()}.log"
        self.expected_exit = 0
        self.validated = validate
        self.notify_path = f"{folder}/notify-{time.monotonic_ns()}"
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(self.notify_path)
        self.notify.settimeout(wire.PATIENCE)
        command = [f"{build}/bin/visd", "--listen", self.url, "--device", device, "--state-dir", "none", "--log-level", level]
        command += ["--validate"] if validate else []
        command += flags
        environment = dict(os.environ)
        environment.pop("LD_PRELOAD", None)
        if lavapipe() and "VK_DRIVER_FILES" not in environment and "VK_ICD_FILENAMES" not in environment:
            environment["VK_ICD_FILENAMES"] = environment["VK_DRIVER_FILES"] = lavapipe()
        environment.update(sanitizer_env(build, here))
        environment["NOTIFY_SOCKET"] = self.notify_path
        environment.update(env or {})
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=open(self.log_path, "wb"),
                                        stderr=subprocess.STDOUT, env=environment)
        self.pid = self.process.pid
        if wait and not self.wait_ready():
            raise AssertionError(f"the daemon did not become ready:\n{self.log()}")

    def wait_ready(self, seconds=wire.PATIENCE):
        """Until it says READY=1 (True) or has ended (False)."""
        pidfd = os.pidfd_open(self.pid)
        try:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                ready = select.select([self.notify, pidfd], [], [], end - time.monotonic())[0]
                if self.notify in ready and b"READY=1" in self.notify.recv(4096):
                    return True
                if pidfd in ready:
                    return False
        finally:
            os.close(pidfd)
        raise wire.Late(f"the daemon said nothing for {seconds} s:\n{self.log()}")

    def status(self):
        """The next that it says for people of how it is; what came with READY=1 or before it is taken by wait_ready."""
        while True:
            for line in self.notify.recv(4096).decode().splitlines():
                if line.startswith("STATUS="):
                    return line.removeprefix("STATUS=")

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()

    def alive(self):
        return self.process.poll() is None

    def wait_exit(self, seconds=wire.PATIENCE):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise wire.Late(f"the daemon did not end within {seconds} s:\n{self.log()}") from None

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)
        return self.wait_exit()

    def kill(self):
        self.process.kill()
        self.expected_exit = -signal.SIGKILL
        return self.wait_exit()

    def rss(self):
        with open(f"/proc/{self.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def fds(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def finish(self):
        """Stops it if it runs, and checks how it went: exit code, sanitizers, validation."""
        if self.alive():
            self.terminate()
        self.notify.close()
        code, log = self.process.returncode, self.log()
        found = SANITIZER.search(log)
        assert not found, f"a sanitizer reports:\n{log[max(0, found.start() - 200):found.start() + 4000]}"
        assert code == self.expected_exit, f"the daemon's exit code is {code}, not {self.expected_exit}:\n{log[-3000:]}"
        if self.validated:
            said = [line for line in log.splitlines() if "worker: validation:" in line]
            assert not said, "validation says:\n" + "\n".join(said[:10])
