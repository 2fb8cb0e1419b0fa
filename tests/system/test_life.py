"""Start, stop, and what is left behind: one instance a socket, stale sockets, signals, flags and the config file."""

import os
import signal
import socket
import stat
import subprocess
import threading
import time

import scenes
import wire


def test_starts_and_stops(t):
    daemon = t.daemon()
    client = t.client()
    assert client.about["version"] == 1 and client.about["device"], client.about
    assert client.request("ping")["worker_ns"] > 0
    path = daemon.url[len("ipc://"):]
    assert daemon.terminate() == 0
    assert not os.path.exists(path) and not os.path.exists(path + ".lock"), "the socket or its lock outlives its daemon"
    assert client.closed_within(1)
test_starts_and_stops.modes = ("plain", "validation", "asan", "tsan")


def test_interrupt_stops(t):
    daemon = t.daemon()
    daemon.process.send_signal(signal.SIGINT)
    assert daemon.wait_exit() == 0


def test_healthy_log_is_short(t):
    daemon = t.daemon()
    client = t.client()
    for _ in range(50):
        client.request("ping")
    daemon.terminate()
    lines = [line for line in daemon.log().splitlines() if line.strip()]
    assert 1 <= len(lines) <= 8, "\n".join(lines)
    assert not [line for line in lines if line.startswith(("<3>", "<4>"))], "\n".join(lines)


def test_second_instance_is_refused(t):
    first = t.daemon()
    client = t.client()
    for _ in range(8):
        second = t.daemon(url=first.url, wait=False)
        second.expected_exit = 1
        assert not second.wait_ready(), "two daemons on one socket"
        assert second.wait_exit() == 1
        said = second.log()
        assert "visd.sock" in said, said
    client.request("ping")
    t.client().request("ping")


def test_failed_start_leaves_nothing(t):
    """When one of several URLs cannot be listened on, the sockets of the others go, and nothing that was there before."""
    first = t.daemon()
    before = set(os.listdir(t.tmp))
    for bad in (first.url, f"ipc://{t.tmp}/missing/visd.sock", "tcp://127.0.0.1:notaport"):
        done = run_visd(t, "--device", "cpu", "--listen", f"ipc://{t.tmp}/a.sock", "--listen", f"ipc://{t.tmp}/b.sock", "--listen", bad)
        assert done.returncode == 1, f"{bad}: exit {done.returncode}: {done.stderr}"
        assert len([line for line in done.stderr.splitlines() if ": err: " in line]) == 1, done.stderr
        assert set(os.listdir(t.tmp)) == before, f"{bad}: left behind: {set(os.listdir(t.tmp)) - before}"
    t.client(first).request("ping")
test_failed_start_leaves_nothing.modes = ("plain", "asan")


def test_stale_socket_is_replaced(t):
    first = t.daemon()
    first.kill()
    assert os.path.exists(f"{t.tmp}/visd.sock"), "a killed daemon leaves its socket"
    t.daemon()
    t.client().request("ping")


def test_foreign_live_socket_is_left_alone(t):
    path = f"{t.tmp}/visd.sock"
    other = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    other.bind(path)
    other.listen(8)
    daemon = t.daemon(wait=False)
    daemon.expected_exit = 1
    assert not daemon.wait_ready()
    assert daemon.wait_exit() == 1
    again = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    again.connect(path)
    other.close()


def test_foreign_file_is_left_alone(t):
    path = f"{t.tmp}/visd.sock"
    with open(path, "w") as file:
        file.write("mine")
    daemon = t.daemon(wait=False)
    daemon.expected_exit = 1
    assert not daemon.wait_ready()
    assert open(path).read() == "mine"


def test_kill_and_restart(t):
    daemon = t.daemon()
    client = t.client()
    epoch = client.about["epoch"]
    scene = scenes.Scene()
    scene.add(scenes.cube(), scenes.move(0, 0, -5))
    number = scene.load(client)
    view = client.view_open(number)
    assert view.cull(scenes.camera()).ids == [0]
    daemon.kill()
    assert client.closed_within(2)
    t.daemon()
    again = t.client()
    assert again.about["epoch"] != epoch, "an epoch is used twice"
    number = scene.load(again)
    assert again.view_open(number).cull(scenes.camera()).ids == [0]


def test_terminate_under_load(t):
    """What was in flight is answered, or the connection is closed; the end comes in bounded time."""
    scene = scenes.random_scene(3)
    cameras = scenes.random_cameras(4, 4)
    for _ in range(5):
        daemon = t.daemon()
        setup = t.client()
        number = scene.load(setup)
        stopped = []

        def hammer():
            client = wire.Client(daemon.url)
            view = client.view_open(number)
            try:
                for i in range(100000):
                    view.cull(cameras[i % 4])
            except (wire.Closed, BrokenPipeError, ConnectionError):
                stopped.append("closed")
            except wire.Refused as refused:
                stopped.append(refused.name)
            except AssertionError:
                stopped.append("result")

        threads = [threading.Thread(target=hammer) for _ in range(3)]
        for thread in threads:
            thread.start()
        view = setup.view_open(number)
        for i in range(20):
            view.cull(cameras[i % 4])
        assert daemon.terminate() == 0
        for thread in threads:
            thread.join(wire.PATIENCE)
        assert len(stopped) == 3 and set(stopped) <= {"closed", "stopping", "result"}, stopped
test_terminate_under_load.modes = ("plain", "asan", "tsan")


def test_terminate_with_much_on_the_device(t):
    """Sixteen views with seconds of work before them: the end comes in the stated two seconds all the same."""
    daemon, client = t.daemon(), t.client()
    scene = scenes.Scene()
    sphere = scene.mesh(scenes.sphere(steps=40))
    for i in range(10000):
        scene.add(sphere, scenes.move(i % 100 - 50, i // 100 - 50, -60 - i % 7))
    number = scene.load(client)
    for view in [client.view_open(number) for _ in range(16)]:
        for _ in range(4):
            view.send(scenes.camera())
    client.request("scene_list")  # all that was sent before it has been read
    since = time.monotonic()
    assert daemon.terminate() == 0
    assert time.monotonic() - since < 2.5 * max(1, wire.PATIENCE / 30), "the daemon took its time to end"


def run_visd(t, *arguments, **env):
    return subprocess.run([f"{t.build}/bin/visd", *arguments], capture_output=True, text=True, timeout=wire.PATIENCE,
                          stdin=subprocess.DEVNULL, env={**os.environ, **env})


def test_bad_flags_are_refused(t):
    for arguments in (["--nonsense"], ["--listen"], ["--listen", "nowhere"], ["--device", "toaster"], ["--worker", "goblin"],
                      ["--log-level", "shouting"], ["stray"], ["--config", f"{t.tmp}/missing.conf"]):
        done = run_visd(t, *arguments)
        assert done.returncode == 2, f"{arguments}: exit {done.returncode}"
        assert len(done.stderr.splitlines()) == 1 and "--help" in done.stderr, f"{arguments}: {done.stderr!r}"


def test_help_and_version(t):
    done = run_visd(t, "--help")
    assert done.returncode == 0 and "--listen" in done.stdout
    assert run_visd(t, "--version").returncode == 0


def test_config_file(t):
    path = f"{t.tmp}/visd.conf"
    with open(path, "w") as file:
        file.write(f"# a comment\n\nlisten = ipc://{t.tmp}/other.sock\nlog-level = debug\n")
    daemon = t.daemon("--config", path, url=f"ipc://{t.tmp}/visd.sock")
    t.client()
    assert daemon.alive()
    for line in ("nonsense = 1", "device = toaster", "listen", "device ="):
        with open(path, "w") as file:
            file.write(line + "\n")
        done = run_visd(t, "--config", path)
        assert done.returncode in (1, 2) and "visd.conf:1" in done.stderr, f"{line}: {done.stderr!r}"


def test_no_device_is_said_clearly(t):
    done = run_visd(t, "--listen", f"ipc://{t.tmp}/visd.sock", "--device", "99")
    assert done.returncode == 1, f"exit {done.returncode}: {done.stderr}"
    assert "99" in done.stderr or "device" in done.stderr, done.stderr
    with open(f"{t.tmp}/none.json", "w") as file:
        file.write("{}")
    none = f"{t.tmp}/none.json"
    done = run_visd(t, "--listen", f"ipc://{t.tmp}/visd.sock", VK_ICD_FILENAMES=none, VK_DRIVER_FILES=none)
    assert done.returncode == 1, f"exit {done.returncode}: {done.stderr}"
    assert "Vulkan" in done.stderr and "mesa-vulkan-drivers" in done.stderr, done.stderr


def test_several_urls(t):
    tcp = socket.socket()
    tcp.bind(("127.0.0.1", 0))
    port = tcp.getsockname()[1]
    tcp.close()
    t.daemon("--listen", f"ipc://{t.tmp}/b.sock", "--listen", f"tcp://127.0.0.1:{port}")
    for url in (f"ipc://{t.tmp}/visd.sock", f"ipc://{t.tmp}/b.sock", f"tcp://127.0.0.1:{port}"):
        client = wire.Client(url)
        client.request("ping")
        client.close()


def test_socket_mode(t):
    for mask in (0o000, 0o022, 0o077):
        for mode in (0o600, 0o660):
            before = os.umask(mask)
            try:
                daemon = t.daemon("--socket-mode", f"{mode:04o}")
            finally:
                os.umask(before)
            got = stat.S_IMODE(os.stat(daemon.url[len("ipc://"):]).st_mode)
            assert got == mode, f"umask {mask:o}: {got:o}, not {mode:o}"
            daemon.terminate()


def test_idle_costs_nothing(t):
    daemon = t.daemon()
    client = t.client()
    scene = scenes.random_scene(5)
    view = client.view_open(scene.load(client))
    view.cull(scenes.random_cameras(1, 1)[0])
    before = daemon.cpu_seconds()
    assert not client.closed_within(3)  # three seconds in which nothing is asked
    assert daemon.cpu_seconds() - before <= 0.05, "an idle daemon works"
