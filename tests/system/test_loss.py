"""A device that is lost: what is answered meanwhile, what comes back, and how often it is tried. A layer under the daemon loses it."""

import os
import select

import wire
from scenes import Scene, camera, cube, move, random_cameras, random_scene

READY, LOST, NONE = 0, 2, 3


class Fragile:
    """A daemon whose device can be lost, and a subscriber that hears how the device is."""

    def __init__(self, t, **more):
        self.fault = f"{t.tmp}/fault"
        self.daemon = t.daemon(env={"VK_LAYER_PATH": f"{t.tools}/fault", "VK_INSTANCE_LAYERS": "VK_LAYER_VISD_fault", "VISD_FAULT": self.fault}, **more)
        self.events = wire.Subscriber(self.daemon.url)
        assert self.heard() == READY

    def heard(self):
        """The next that is said of the device."""
        event = self.events.event("device")[1]
        assert (event["device"] == "") == (event["state"] != READY) == (event["why"] != ""), event
        return event["state"]

    def lose(self, view, c):
        """The next submission loses the device; the answers of the frames that were sent until it is known to be lost."""
        open(f"{self.fault}.lose", "w").close()
        answers = []
        while os.path.exists(f"{self.fault}.lose"):
            answers.append(view.cull(c))
        assert answers[-1].all and answers[-1].grade == "all" and answers[-1].degraded and "lost" in answers[-1].why, answers[-1].fields
        return answers


def back(view, c):
    """The first answer that is of the device again; until then all is listed, and why is said."""
    while True:
        result = view.cull(c)
        if not result.all:
            return result
        assert result.grade == "all" and result.degraded and result.why, result.fields


def test_lost_and_back(t):
    """Three clients see all meanwhile, and then, without sending anything again, what they saw before."""
    fragile = Fragile(t)
    scene = random_scene(11, 400)
    first = t.client()
    number = scene.load(first)
    cameras = random_cameras(11, 6)
    views = [(first if i == 0 else t.client()).view_open(number) for i in range(3)]
    before = [[view.cull(c).set for c in cameras] for view in views]
    parked = first.view_open(number)
    parked.cull(cameras[0])
    ticket = parked.send(cameras[0], wait=True)
    for _ in range(2):
        fragile.lose(views[0], cameras[0])
        assert fragile.heard() == LOST
        assert views[1].cull(cameras[0]).grade in ("all", "conservative")
        assert first.request("ping")["t"] == "pong"
        assert fragile.heard() == READY
        assert fragile.daemon.status() == f"Serving on {fragile.daemon.url} with {first.about['device']}"
        assert t.client().about["device"] == first.about["device"]
        for view, lists in zip(views, before):
            back(view, cameras[0])
            assert [view.cull(c).set for c in cameras] == lists, "another list than before the loss"
    assert not select.select([first.sock], [], [], 0)[0], "a camera that waits was answered though nothing has changed"
    extra = Scene()
    extra.add(cube(500), move(0, 0, 0), id=1 << 20)
    first.batch(number, extra.items())
    assert 1 << 20 in parked.receive(ticket).set
    log = [line for line in fragile.daemon.log().splitlines() if ": worker: " in line]
    assert sum("was lost" in line for line in log) == 2 and sum("it is back on" in line for line in log) == 2, log
    assert len(log) <= 8, log  # and not a line for each scene and frame
test_lost_and_back.modes = ("plain", "asan", "tsan")


def test_commits_survive_a_loss(t):
    """What was acknowledged before, while and after the device was lost is there when it is back; scenes that were closed are not."""
    fragile = Fragile(t)
    client = t.client()
    scene, gone = Scene(), client.scene_create("gone")
    for i in range(3):
        scene.add(cube(), move(3 * i, 0, -10))
    number = scene.load(client)
    view, idle = client.view_open(number), client.view_open(gone)
    c = camera((0, 0, 30), (0, 0, -10), width=64, height=64)
    view.cull(c)
    idle.cull(c)
    open(f"{fragile.fault}.lose", "w").close()
    for i in range(3, 400):
        more = Scene()
        more.add(cube(), move(i % 20 - 10, i // 20 - 10, -10), id=1000 + i)
        client.batch(number, more.items())
        if i == 200:
            client.request("scene_remove", scene=gone)
        if i % 10 == 0:
            view.cull(c)
    assert not os.path.exists(f"{fragile.fault}.lose"), "nothing was submitted: the test proves nothing"
    assert (fragile.heard(), fragile.heard()) == (LOST, READY)
    back(view, c)
    ids = client.object_ids(number)
    assert len(ids) == 400 and view.cull(c, method="frustum").set == set(ids)
    assert {row["name"] for row in client.request("scene_list")["rows"]} == {"s"}
    assert "scene 's'" not in fragile.daemon.log(), "a loss is told once, not for each scene"
test_commits_survive_a_loss.modes = ("plain", "asan", "tsan")


def test_lost_again_and_again(t):
    """Three deaths in a minute step down to the CPU device, three more make a pause: no loop of crashes, and a clear word."""
    fragile = Fragile(t, device="auto")
    client = t.client()
    scene = random_scene(12, 100)
    view = client.view_open(scene.load(client))
    c = random_cameras(12, 1)[0]
    before = view.cull(c).set
    for death in range(1, 7):
        fragile.lose(view, c)
        assert fragile.heard() == LOST
        if death < 6:
            assert fragile.heard() == READY
            assert ("the CPU device serves" in fragile.daemon.log()) == (death >= 3), f"after {death} deaths"
            assert back(view, c).set == before
    assert fragile.heard() == NONE
    assert client.stats()["device_losses"] == 6
    result = view.cull(c)
    assert result.all and "left alone for a minute" in result.why, result.fields
    assert client.request("ping")["worker_ns"] == 0 and t.client().about["device"] == ""
    fresh = client.view_open(client.scene_create("fresh"))
    assert fresh.cull(c).all
    assert fragile.daemon.terminate() == 0
test_lost_again_and_again.modes = ("plain", "asan", "tsan")


def test_no_device_comes_back(t):
    """What replaces the lost one cannot be opened: that counts as deaths, and is said."""
    fragile = Fragile(t)
    client = t.client()
    view = client.view_open(random_scene(13, 50).load(client))
    c = random_cameras(13, 1)[0]
    view.cull(c)
    open(f"{fragile.fault}.none", "w").close()
    fragile.lose(view, c)
    assert (fragile.heard(), fragile.heard()) == (LOST, NONE)
    assert "could not be opened" in fragile.daemon.log()
    assert view.cull(c).all


def test_back_at_the_second_try(t):
    """A driver that is still resetting refuses the first time; the worker that starts then does its work."""
    fragile = Fragile(t)
    client = t.client()
    view = client.view_open(random_scene(15, 50).load(client))
    c = random_cameras(15, 1)[0]
    before = view.cull(c).set
    open(f"{fragile.fault}.once", "w").close()
    fragile.lose(view, c)
    assert (fragile.heard(), fragile.heard()) == (LOST, READY)
    assert not os.path.exists(f"{fragile.fault}.once") and "could not be opened" in fragile.daemon.log()
    assert back(view, c).set == before
    assert client.request("ping")["worker_ns"] > 0
test_back_at_the_second_try.modes = ("plain", "asan", "tsan")


def test_stop_while_the_device_is_away(t):
    for _ in range(3):
        fragile = Fragile(t)
        client = t.client()
        view = client.view_open(random_scene(14, 50).load(client))
        c = random_cameras(14, 1)[0]
        view.cull(c)
        fragile.lose(view, c)
        assert fragile.daemon.terminate() == 0
test_stop_while_the_device_is_away.modes = ("plain", "asan", "tsan")
