"""Views: several in a request, several in flight, superseded cameras, waiting cameras, deltas."""

import select

import scenes
import wire
from scenes import DOUBLE, SINGLE, Scene, camera, cube, move, plate
from wire import pack

SUPERSEDED = 9


def setting(t, seed=50, objects=150):
    t.daemon()
    client = t.client()
    scene = scenes.random_scene(seed, objects)
    return client, scene, scene.load(client)


def test_four_panes_in_a_request(t):
    client, scene, number = setting(t)
    cameras = scenes.random_cameras(51, 4)
    alone = [client.view_open(number).cull(c).set for c in cameras]
    views = [client.view_open(number) for _ in cameras]
    for _ in range(3):
        reply = client.request("frames", frames=[v.next_frame(c) for v, c in zip(views, cameras)])
        results = [wire.Result(r).check() for r in reply["results"]]
        assert [r.view for r in results] == [v.view for v in views]
        assert len({r.revision for r in results}) == 1
        truth = scene.truth(t, cameras)
        for result, one, (_, robust) in zip(results, alone, truth):
            assert not robust - result.set and result.set <= one | result.set
test_four_panes_in_a_request.modes = ("plain", "validation", "asan", "tsan")


def test_two_eyes(t):
    """FAULTS A5 55, 57: each eye's own frustum, asymmetric."""
    t.daemon()
    client = t.client()
    scene = Scene()
    mesh = scene.mesh(cube((0.02, 3, 0.02), SINGLE))
    import math
    for i in range(41):
        a = math.radians(-60 + 3 * i)
        scene.add(mesh, move(10 * math.sin(a), 0, -10 * math.cos(a)))
    number = scene.load(client)
    views = [client.view_open(number) for _ in range(2)]
    eyes = []
    for x, left, right in ((-0.032, -1.4, 0.7), (0.032, -0.7, 1.4)):
        c = camera((x, 0, 0), width=800, height=800)
        c["proj"] = scenes.frustum(left, right, -1, 1, 0.1, 1000)
        eyes.append(c)
    truth = scene.truth(t, eyes)
    reply = client.request("frames", frames=[v.next_frame(c) for v, c in zip(views, eyes)])
    for result, (visible, robust) in zip(reply["results"], truth):
        assert not robust - wire.Result(result).set
        assert len(wire.Result(result).ids) <= len(visible) + 2


def test_superseded(t):
    """Of many cameras of one view in flight each gets one answer, in any case the last its list; the others a list or 'superseded'."""
    client, scene, number = setting(t, objects=400)
    view = client.view_open(number)
    c = camera((0, 0, 30), (0, 0, 0), width=1600, height=900)
    superseded = 0
    for _ in range(5):
        tickets = [view.send(c) for _ in range(30)]
        results = [view.receive(ticket) for ticket in tickets]
        assert results[-1].err == 0
        for i, result in enumerate(results):
            assert result.err in (0, SUPERSEDED), result.fields
            superseded += result.err == SUPERSEDED
            assert result.frame == view.frame - 29 + i
            if result.err:
                assert not result.ids and not result.all
    assert superseded > 0, "nothing was ever superseded: the test proves nothing"
    t.table(f"superseded: {superseded} of 150 cameras in flight")
test_superseded.modes = ("plain", "tsan")


def test_views_do_not_supersede_each_other(t):
    client, scene, number = setting(t)
    views = [client.view_open(number) for _ in range(16)]
    c = scenes.random_cameras(52, 1)[0]
    tickets = [(view, view.send(c)) for view in views]
    lists = [view.receive(ticket).check() for view, ticket in tickets]
    assert all(r.err == 0 and r.set == lists[0].set for r in lists)


def test_waiting_camera(t):
    """Answered when the answer for it changes, and not before."""
    t.daemon()
    client, editor = t.client(), t.client()
    scene = Scene()
    scene.add(plate(4, 4, DOUBLE), move(0, 0, -5), id=1)
    scene.add(cube(0.5, SINGLE), move(0, 0, -8), id=2)
    number = scene.load(client)
    view = client.view_open(number)
    c = camera(width=320, height=180)
    first = view.cull(c)
    assert first.set == {1}
    ticket = view.send(c, wait=True)
    for _ in range(5):
        editor.request("ping")
    assert not select.select([client.sock], [], [], 0.3)[0], "a waiting camera is answered though nothing changed"
    editor.batch(number, [{"k": "object_set", "ids": pack("Q", [1]), "flags": pack("I", [1])}])
    result = view.receive(ticket)
    assert result.err == 0 and result.set == {2}, result.fields


def test_waiting_camera_whose_answer_is_lost(t):
    """It is answered, the connection breaks, and it is sent again: it hears of the change. Before any change it goes on waiting."""
    t.daemon()
    client, editor = t.client(), t.client()
    scene = Scene()
    scene.add(plate(4, 4, DOUBLE), move(0, 0, -5), id=1)
    scene.add(cube(0.5, SINGLE), move(0, 0, -8), id=2)
    number = scene.load(client)
    view = client.view_open(number)
    c = camera(width=320, height=180)
    assert view.cull(c).set == {1}

    def send_again():
        view.client.reset()
        editor.request("ping")  # the daemon has seen what came before
        view.client = wire.Client(t.daemons[-1].url, client=client.client)
        view.frame -= 1
        return view.send(c, wait=True)

    view.send(c, wait=True)
    view.client.request("ping")
    ticket = send_again()
    view.client.request("ping")
    assert ticket[0] not in view.client.waiting, "a waiting camera is answered though nothing changed"
    editor.batch(number, [{"k": "object_set", "ids": pack("Q", [1]), "flags": pack("I", [1])}])
    assert select.select([view.client.sock], [], [], wire.PATIENCE)[0], "the change is not told"
    result = view.receive(send_again())
    assert result.err == 0 and result.set == {2}, result.fields
test_waiting_camera_whose_answer_is_lost.modes = ("plain", "asan", "tsan")


def test_deltas(t):
    """Lists put together from deltas are the lists; a base that is not known brings a full list."""
    client, scene, number = setting(t, objects=300)
    view = client.view_open(number)
    full = client.view_open(number)
    held, base, deltas = None, None, 0
    for step in range(60):
        c = camera((12 * (1 - step / 30), 3, 12), (0, 0, 0), width=240, height=160)
        fields = {"base": base} if base else {}
        reply = client.request("frames", frames=[view.next_frame(c, **fields)])["results"][0]
        result = wire.Result(reply)
        if "base" in reply:
            deltas += 1
            assert reply["base"] == base
            removed = wire.unpack("I", reply["removed32"]) if "removed32" in reply else wire.unpack("Q", reply.get("removed64", b""))
            assert set(removed) <= held and not set(result.ids) & held, "a delta that does not fit its base"
            held = held - set(removed) | result.set
        else:
            held = result.set
        assert len(held) == result.count and wire.digest(held) == result.digest, f"step {step}"
        base = {"epoch": result.epoch, "view": result.view, "frame": result.frame}
        robust = scene.truth(t, [c])[0][1] if step % 10 == 0 else set()
        assert not robust - held
    assert deltas > 30, f"only {deltas} of 60 answers were deltas"
    for wrong in ({**base, "epoch": base["epoch"] ^ 1}, {**base, "frame": 1}, {**base, "view": full.view}):
        c = camera((1, 3, 12), (0, 0, 0), width=240, height=160)
        reply = client.request("frames", frames=[view.next_frame(c, base=wrong)])["results"][0]
        assert "base" not in reply, f"a delta to {wrong}"
        wire.Result(reply).check()


def test_many_views(t):
    client, scene, number = setting(t, objects=50)
    limit = int(next(row["value"] for row in client.about["limits"] if row["name"] == "client_views"))
    views = [client.view_open(number) for _ in range(limit)]
    try:
        client.view_open(number)
        raise AssertionError("more views than the limit")
    except wire.Refused as refused:
        assert refused.name == "quota", refused
    c = scenes.random_cameras(53, 1)[0]
    lists = [view.cull(c).set for view in views]
    assert all(got == lists[0] for got in lists)
    views[5].close()
    client.view_open(number)


def test_views_end_with_their_client(t):
    client, scene, number = setting(t, objects=50)
    for _ in range(30):
        other = wire.Client(t.daemons[-1].url)
        for _ in range(100):
            other.view_open(number)
        other.reset()
    end = wire.time.monotonic() + 10
    while True:
        try:
            client.view_open(number).close()
            break
        except wire.Refused as refused:
            assert refused.name == "quota" and wire.time.monotonic() < end, refused


def test_same_key_same_view(t):
    client, scene, number = setting(t, objects=20)
    a = client.request("view_open", scene=number, client=client.client, key=5)
    b = client.request("view_open", scene=number, client=client.client, key=5)
    assert a["view"] == b["view"]


def test_frames_must_rise(t):
    """An older number was overtaken; the newest may come again, its answer lost, but not with another camera."""
    client, scene, number = setting(t, objects=20)
    view, other = client.view_open(number), client.view_open(number)
    c = camera(width=64, height=64)
    view.cull(c)
    last = view.cull(c)
    view.frame = 0
    late = view.receive(view.send(c))
    assert late.err != 0 and "numbers must rise" in late.text, late.fields
    assert view.cull(c).ids == last.ids  # number 2 again
    again = client.request("view_open", scene=number, client=client.client, key=client.view_key - 1)
    assert again["view"] == view.view and again["last_frame"] == 2, again
    frames = [{"view": v, "frame": n, "camera": wire.camera_map(camera(width=32, height=64))} for v, n in ((other.view, 1), (view.view, 2))]
    try:
        client.request("frames", frames=frames)
        raise AssertionError("one number names two cameras")
    except wire.Refused as refused:
        assert refused.name == "conflict" and "frames[1]" in refused.text, refused
    assert client.request("view_open", scene=number, client=client.client, key=client.view_key)["last_frame"] == 0, "a refused request left a trace"


def test_large_pictures(t):
    """What a reply cannot carry is refused by name, before any work is done for it."""
    client, scene, number = setting(t, objects=20)
    view = client.view_open(number)
    view.cull(camera(width=8192, height=4100))
    jobs = client.stats()["jobs"]
    try:
        client.request("snapshot", view=view.view, what=2)
        raise AssertionError("a picture too large to be sent")
    except wire.Refused as refused:
        assert refused.name == "too_big" and str(8192 * 4100 * 8) in refused.text, refused
    assert client.stats()["jobs"] == jobs, "the worker was asked for it all the same"
    assert client.request("snapshot", view=view.view, what=1, level=4)["width"] == 512


def test_view_overrides(t):
    """Hide, isolate, x-ray and pin in one view leave other views alone, or are refused by name until they are served."""
    t.daemon()
    client = t.client()
    scene = Scene()
    scene.add(plate(4, 4, DOUBLE), move(0, 0, -5), id=1)
    scene.add(cube(0.5, SINGLE), move(0, 0, -8), id=2)
    number = scene.load(client)
    view, other = client.view_open(number), client.view_open(number)
    c = camera(width=320, height=180)
    for field, listed in (("hide", {2}), ("xray", {1, 2})):
        try:
            view.set(**{field: pack("Q", [1])})
        except wire.Refused as refused:
            assert refused.name == "not_supported", refused
            continue
        assert view.cull(c).set == listed and other.cull(c).set == {1}
        view.set(**{field: b""})
        assert view.cull(c).set == {1}


def test_snapshots(t):
    client, scene, number = setting(t, objects=80)
    view = client.view_open(number)
    c = camera((0, 0, 20), (0, 0, 0), width=97, height=61)
    view.cull(c)
    result = view.cull(c)
    depth = client.request("snapshot", view=view.view, what=0)
    assert (depth["width"], depth["height"], depth["kind"]) == (97, 61, 0)
    pixels = wire.unpack("f", depth["data"])
    assert len(pixels) == 97 * 61 and all(0 <= p <= 1 for p in pixels) and any(p > 0 for p in pixels)
    level = client.request("snapshot", view=view.view, what=1, level=3)
    assert (level["width"], level["height"]) == (13, 8), "a level has ceil(size / 2^k) texels"
    coarse = wire.unpack("f", level["data"])
    for y in range(8):
        for x in range(13):
            inside = [pixels[97 * j + i] for j in range(8 * y, min(61, 8 * y + 8)) for i in range(8 * x, min(97, 8 * x + 8))]
            assert coarse[13 * y + x] <= min(inside), f"texel ({x}, {y}) is nearer than what it covers"
    for what in (2, 3):
        image = client.request("snapshot", view=view.view, what=what)
        assert (image["width"], image["height"]) == (97, 61)
        if image["kind"] == 2:
            ids = set(wire.unpack("Q", image["data"])) - {wire.NONE}
            assert ids <= result.set | set(scene.objects)
    for bad in ({"what": 1, "level": 40}, {"what": 9}):
        try:
            client.request("snapshot", view=view.view, **bad)
            raise AssertionError(f"{bad} is answered")
        except wire.Refused as refused:
            assert refused.name in ("bad_value", "not_found", "bad_message"), refused
    fresh = client.view_open(number)
    try:
        client.request("snapshot", view=fresh.view, what=0)
        raise AssertionError("a picture of no frame")
    except wire.Refused as refused:
        assert refused.name in ("not_found", "conflict", "bad_value"), refused
test_snapshots.modes = ("plain", "validation", "asan")
