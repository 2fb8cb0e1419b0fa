"""A daemon of one's own for demos and benchmarks: on a socket in a new folder, gone with the program that made it."""

import atexit
import glob
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

PATIENCE = 60  # seconds that a daemon may take to become ready


class Private:
    def __init__(self, build, *flags):
        self.build = os.path.abspath(build)
        self.folder = tempfile.mkdtemp(prefix="visd-")
        self.url = f"ipc://{self.folder}/visd.sock"
        self.process = None
        atexit.register(self.stop)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(1))
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(f"{self.folder}/notify")
        self.log = open(f"{self.folder}/visd.log", "w+b")
        # A session of its own, so that Ctrl-C reaches this program alone, which then stops the daemon in good order.
        self.process = subprocess.Popen(
            [f"{self.build}/bin/visd", "--listen", self.url, "--state-dir", "none", *flags], stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, start_new_session=True, env={**os.environ, "NOTIFY_SOCKET": f"{self.folder}/notify"})
        pidfd = os.pidfd_open(self.process.pid)
        ready = select.select([notify, pidfd], [], [], PATIENCE)[0]
        if notify not in ready or b"READY=1" not in notify.recv(4096):
            self.log.seek(0)
            sys.exit(f"the daemon did not start:\n{self.log.read().decode(errors='replace')}")
        os.close(pidfd)
        notify.close()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def visctl(self, *arguments, show=False):
        """Runs visctl; its standard output comes back, its progress goes to the terminal when show is set."""
        done = subprocess.run([f"{self.build}/bin/visctl", "--connect", self.url, *map(str, arguments)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=None if show else subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"visctl {' '.join(map(str, arguments))} failed: {(done.stderr or '').strip()}")
        return done.stdout


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def engine():
    """The assembly that Debian's assimp-testmodels brings, or None."""
    found = glob.glob("/usr/share/assimp/models/glTF2/2CylinderEngine-glTF-Binary/*.glb")
    return found[0] if found else None
