"""Scenes after faults that people reported of systems like this one, by row: numbers and bounds (A4), views (A5), see-through and masks
(A6), a viewer's states (A7), small things (A8), counts and ids (B2).

Conventions as in test_faults_frames.py."""

import math

import scenes
import wire
from bench import Bench, rectangle
from scenes import DOUBLE, SINGLE, Scene, camera, cube, move, multiply, plate, scale, sphere, turn
from wire import pack


def test_a4_38_bounds_that_change(t):
    b = Bench(t)
    scene = Scene()
    scene.add(box=[-50, 0, -5, -49, 1, -4], id=1)
    b.open(scene)
    c = camera()
    assert b.views[0].cull(c).set == set()
    b.client.batch(b.number, [{"k": "object_set", "ids": pack("Q", [1]), "boxes": pack("d", [0, 0, -5, 1, 1, -4])}])
    assert b.views[0].cull(c).set == {1}
    b.client.batch(b.number, [{"k": "object_set", "ids": pack("Q", [1]), "boxes": pack("d", [-50, 0, -5, -49, 1, -4])}])
    assert b.views[0].cull(c).set == set()
    b.client.batch(b.number, [{"k": "object_set", "ids": pack("Q", [1]), "flags": pack("I", [0x80])}])
    assert b.views[0].cull(c).set == {1}


def test_a4_40_groups_that_fill_and_move(t):
    b = Bench(t)
    scene = Scene()
    mesh = scene.mesh(cube(0.5, SINGLE))
    b.open(scene)
    c = camera(far=5000)
    b.client.batch(b.number, [{"k": "group_put", "groups": pack("Q", [1])}])
    assert b.views[0].cull(c).set == set()
    ids = [scene.add(mesh, move(i % 10 - 4.5, i // 10 - 4.5, -20)) for i in range(100)]
    item = scene.object_item(ids)
    item["groups"] = pack("Q", [1] * 100)
    b.client.batch(b.number, [item])
    assert b.views[0].cull(c).set == set(ids)
    b.client.batch(b.number, [{"k": "group_put", "groups": pack("Q", [1]), "transforms": pack("d", move(0, 0, -1000))}])
    assert b.views[0].cull(c).set == set(ids)
    b.client.batch(b.number, [{"k": "group_put", "groups": pack("Q", [1]), "transforms": pack("d", move(0, 0, 1000))}])
    assert b.views[0].cull(c).set == set()


def test_a4_42_mirrored(t):
    b = Bench(t)
    for signs in ((-1, 1, 1), (-1, -1, 1), (-1, -1, -1), (1, -1, 1)):
        transform = multiply(move(0, 0, -20), multiply(turn((0, 1, 0), 30), scale(*signs)))
        scene = Scene()
        mesh = scene.mesh(scenes.Mesh([x + (5 if i % 3 == 0 else 0) for i, x in enumerate(cube(1).positions)], cube(1).indices,
                                      [(0, 36, SINGLE, 0)]))
        scene.add(mesh, transform, id=1)
        centre = [transform[4 * r] * 5 + transform[4 * r + 3] for r in range(3)]
        if signs == (-1, 1, 1):
            assert max(abs(a - e) for a, e in zip(centre, (-4.33, 0, -17.5))) < 0.01
        # A mask at z = -10 hides all but a window around where a point falls.
        for shift, listed in ((0, True), (-2 * centre[0], False)):
            x, y = (centre[0] + shift) * 10 / -centre[2], centre[1] * 10 / -centre[2]
            masked = Scene()
            masked.meshes, masked.objects, masked.next = list(scene.meshes), dict(scene.objects), scene.next
            for n, (x0, x1, y0, y1) in enumerate(((-40, x - 1, -40, 40), (x + 1, 40, -40, 40), (x - 1, x + 1, -40, y - 1),
                                                  (x - 1, x + 1, y + 1, 40))):
                masked.add(rectangle(x0, x1, y0, y1), move(0, 0, -10), id=10 + n)
            b.open(masked)
            b.expect([1] if listed else [], [] if listed else [1], what=f"signs {signs}, {'its' if listed else 'the other'} place")


def test_a4_44_scale(t):
    b = Bench(t)
    scene = Scene()
    ball = sphere(0.5, 12)
    ball.positions = [x - (2 if i % 3 == 2 else 0) for i, x in enumerate(ball.positions)]
    scene.add(ball, scale(10), id=1)
    scene.add(plate(16, 16, DOUBLE), move(0, 0, -10), id=2)
    b.open(scene)
    b.expect([2], [1])
    scene = Scene()
    scene.add(plate(1, 1, DOUBLE), multiply(move(0, 0, -5), scale(4, 2, 1)), id=1)
    scene.add(cube(1.5, SINGLE), move(1, 0, -6.75), id=2)
    b.open(scene)
    b.expect([1], [2])


def test_a4_46_tiny_box_large_scale(t):
    b = Bench(t)
    scene = Scene()
    scene.add(cube(0.002, SINGLE), multiply(move(100, 20, -300), scale(5000)), id=1)
    b.open(scene)
    for i in range(0, 3600, 12):
        a = math.radians(i / 10)
        eye = (100 + 2000 * math.sin(a), 20, -300 + 2000 * math.cos(a))
        assert b.views[0].cull(camera(eye, (100, 20, -300), width=960, height=540, far=5000)).set == {1}, i


def test_a4_50_no_camera_yet(t):
    b = Bench(t)
    scene = Scene()
    scene.add(cube(1), move(-5, 0, -9))
    b.open(scene)
    try:
        b.client.request("frames", frames=[{"view": b.views[0].view, "frame": 1}])
        raise AssertionError("a frame without a camera is answered")
    except wire.Refused as refused:
        assert "camera" in refused.text, refused


def bounds_are(row, low, high):
    """A scene's bounds, which may have been rounded outwards."""
    got = wire.unpack("d", row["min"]) + wire.unpack("d", row["max"])
    return all(abs(a - e) <= 1e-6 * max(1, abs(e)) for a, e in zip(got, low + high))


def test_a4_51_unbounded(t):
    b = Bench(t)
    biggest = 3.4028234663852886e38
    scene = Scene()
    scene.add(box=[-biggest] * 3 + [biggest] * 3, id=1)
    scene.add(box=[-1e30] * 3 + [1e30] * 3, id=2)
    scene.add(box=[-1, -1, -9, 1, 1, -8], id=3)
    b.open(scene)
    b.client.batch(b.number, [{"k": "object_add", "ids": pack("Q", [4])}])
    for yaw in (0, 90, 180):
        got = b.views[0].cull(camera(yaw=yaw)).set
        assert {1, 2, 4} <= got, yaw
    row = b.client.scene_row(b.number)
    assert bounds_are(row, [-1, -1, -9], [1, 1, -8]), row
    for row in b.client.stats().values():
        assert math.isfinite(row)


def test_a4_52_loose_vertices_count(t):
    b = Bench(t)
    mesh = sphere(1, 6)
    mesh.positions += [20, 0, 0]
    scene = Scene()
    scene.add(mesh, move(0, 0, -5), id=1)
    b.open(scene)
    assert b.views[0].cull(camera((20, 0, 0), (20, 0, -5), fovy=20)).set == {1}


def test_a5_60_views_without_history(t):
    b = Bench(t)
    scene = scenes.random_scene(60, 200)
    b.open(scene)
    cameras = scenes.random_cameras(60, 10)
    truth = scene.truth(t, cameras)
    steady = [b.views[0].cull(cameras[0]).set for _ in range(3)][-1]
    rss = None
    for i in range(400):
        once = b.client.view_open(b.number)
        got = once.cull(cameras[i % 10]).set
        assert not truth[i % 10][1] - got
        once.close()
        if i % 50 == 0:
            assert b.views[0].cull(cameras[0]).set == steady
        if i == 100:
            rss = b.daemon.rss()
    assert b.daemon.rss() < rss + (8 << 20), f"memory grew by {(b.daemon.rss() - rss) >> 10} KiB"


def test_a6_61_see_through(t):
    b = Bench(t)
    scene = Scene()
    scene.add(plate(9, 9, DOUBLE), move(0, 0, -2), id=1)
    scene.add(cube(1, SINGLE), move(0, 0, -4), id=2)
    b.open(scene)
    c = camera(width=640, height=360)
    for flag in (0, 0x2, 0, 0x4, 0, 0x8, 0, 0x10, 0):
        b.client.batch(b.number, [{"k": "object_set", "ids": pack("Q", [1]), "flags": pack("I", [flag])}])
        for _ in range(2):
            assert b.views[0].cull(c).set == ({1, 2} if flag else {1}), hex(flag)


def test_a6_64_occluder_only_and_hidden(t):
    b = Bench(t)
    scene = Scene()
    scene.add(plate(9, 9, DOUBLE), move(0, 0, -2), id=1, flags="occluder_only")
    scene.add(cube(1, SINGLE), move(0, 0, -4), id=2)
    b.open(scene)
    c = camera(width=640, height=360)
    assert b.views[0].cull(c).set == set()
    b.client.batch(b.number, [{"k": "object_set", "ids": pack("Q", [1]), "flags": pack("I", [1])}])
    assert b.views[0].cull(c).set == {2}


def test_a7_66_sections(t):
    b = Bench(t)
    scene = Scene()
    scene.add(cube(4, DOUBLE), id=1)
    scene.add(cube(0.3, SINGLE), move(0, 0, -1), id=2)
    scene.add(cube(0.3, SINGLE), move(0, 0, 1.2), id=3)
    b.open(scene)
    front, back = camera((0, 0, 12), (0, 0, 0)), camera((0, 0, -12), (0, 0, 0))
    for c, planes, listed, absent in ((front, [], [1], [2, 3]), (front, [[0, 0, -1, 0]], [1, 2], [3]), (back, [[0, 0, 1, 0]], [1, 3], [2]),
                                      (front, [], [1], [2, 3])):
        for _ in range(2):
            got = b.views[0].cull({**c, "clip_planes": planes}).set
            assert set(listed) <= got and not set(absent) & got, f"{planes}: {got}"


def test_a7_69_helpers(t):
    b = Bench(t)
    scene = Scene()
    scene.add(plate(10, 10, DOUBLE), move(0, 0, -2), id=1000, flags="helper")
    mesh = scene.mesh(cube(0.2, SINGLE))
    for i in range(50):
        scene.add(mesh, move(i % 10 - 4.5, i // 10 - 2, -9), id=i)
    b.open(scene)
    b.expect(range(50))


def test_a7_73_hidden_counts_nowhere(t):
    b = Bench(t)
    scene = Scene()
    scene.add(cube(1), move(1e6, 0, 0), id=1, flags="hidden")
    scene.add(plate(9, 9, DOUBLE), move(0, 0, -2), id=2, flags="hidden")
    scene.add(cube(1, SINGLE), move(0, 0, -4), id=3)
    b.open(scene)
    assert b.views[0].cull(camera()).set == {3}
    row = b.client.scene_row(b.number)
    assert bounds_are(row, [-0.5, -0.5, -4.5], [0.5, 0.5, -3.5]), row
    b.client.batch(b.number, [{"k": "object_set", "ids": pack("Q", [1, 2]), "flags": pack("I", [0, 0])}])
    assert b.views[0].cull(camera()).set == {2}
    assert bounds_are(b.client.scene_row(b.number), [-4.5, -4.5, -4.5], [1e6 + 0.5, 4.5, 0.5])


def test_a7_76_counts(t):
    b = Bench(t)
    scene = Scene()
    mesh = scene.mesh(cube(0.2, SINGLE))
    scene.add(plate(3, 3, DOUBLE), move(-3, 0, -5), id=1000, flags="occluder_only")
    for i in range(60):
        scene.add(mesh, move(-3.6 + 0.3 * (i % 5), -0.6 + 0.1 * (i // 5), -6), id=i)
    for i in range(40):
        scene.add(mesh, move(1 + 0.3 * (i % 8), -0.6 + 0.3 * (i // 8), -6), id=60 + i, flags="hidden" if i < 5 else ())
    b.open(scene)
    for i in range(2):
        got = b.views[0].cull(camera())
    assert len(got.ids) == 35 and got.set == set(range(65, 100))
    assert got.stats["occluded"] == 60 and got.stats["hidden"] == 5, got.stats


def test_a8_78_small_features_in_ortho(t):
    b = Bench(t)
    scene = Scene()
    mesh = scene.mesh(cube(0.05, SINGLE))
    for i, z in enumerate((1, 90, 900)):
        scene.add(mesh, move(i - 1, 0, -z), id=i)
    b.open(scene)
    for threshold, listed in ((4, {0, 1, 2}), (6, set())):
        for got in b.lists(ortho_height=10, min_pixels=threshold, sizes=((1920, 1080),)):
            assert got == listed, f"{threshold} pixels: {got}"


def test_a8_79_large_things_are_not_small(t):
    b = Bench(t)
    scene = Scene()
    scene.add(cube(3, SINGLE), id=1)
    b.open(scene)
    assert b.views[0].cull(camera((8, 8, 8), (0, 0, 0), min_pixels=2)).set == {1}
    assert b.views[0].cull(camera((0, 0, 1.4), (0, 0, -5), min_pixels=2)).set == {1}
    assert b.views[0].cull(camera((0, 0, 1.55), (0, 0, 5), min_pixels=2)).set <= {1}


def test_a8_80_no_threshold_unless_asked(t):
    b = Bench(t)
    scene = Scene()
    mesh = scene.mesh(cube(1, SINGLE))
    for i in range(10000):
        scene.add(mesh, multiply(move(0.08 * (i % 100) - 4, 0.04 * (i // 100) - 2, -10), scale(0.5 * 2 * 10 * math.tan(math.pi / 6) / 1080)))
    b.open(scene)
    assert len(b.views[0].cull(camera()).ids) == 10000
    got = b.views[0].cull(camera(min_pixels=1))
    assert got.ids == [] and got.stats["dropped_small"] == 10000, got.stats


def test_b2_99_past_the_work_group_limits(t):
    b = Bench(t)
    for count in (65535, 65536, 65537):
        add_far(b.client, f"many {count}", count)
    number = add_far(b.client, "most", 4194241)
    assert b.client.scene_row(number)["objects"] == 4194241
test_b2_99_past_the_work_group_limits.seconds = 200


def add_far(client, name, count):
    """So many boxes behind the camera, the last one alone in view; checks that it is listed."""
    number = client.scene_create(name)
    for first in range(0, count, 250000):
        rows = min(250000, count - first)
        item = {"k": "object_add", "ids": pack("Q", range(first, first + rows)), "boxes": pack("d", [0, 0, 5, 1, 1, 6]) * rows}
        if first + rows == count:
            item["boxes"] = item["boxes"][:-48] + pack("d", [0, 0, -6, 1, 1, -5])
        client.batch(number, [item])
    view = client.view_open(number)
    for i in range(2):
        got = view.cull(camera(width=320, height=180))
        assert got.ids == [count - 1], f"{count} objects: {len(got.ids)} listed"
        assert got.stats["tested"] == count
    view.close()
    return number


def test_b2_101_lists_that_grow(t):
    b = Bench(t)
    scene = Scene()
    mesh = scene.mesh(cube(0.01, SINGLE))
    b.open(scene)
    total = 0
    for count in (1, 10, 1000, 1023, 1024, 1025, 30000):
        ids = [scene.add(mesh, move(0.02 * (i % 200) - 2, 0.02 * (i // 200 % 200) - 2, -5)) for i in range(count)]
        b.client.batch(b.number, [scene.object_item(ids)])
        total += count
        assert len(b.views[0].cull(camera(width=320, height=180), method="frustum").ids) == total


def test_b2_102_ids_of_all_widths(t):
    b = Bench(t)
    ids = [0, 1, 0xFFFFFFFF, 1 << 32, (1 << 32) + 1, (1 << 53) + 1, (1 << 63), (1 << 64) - 1]
    scene = Scene()
    mesh = scene.mesh(cube(0.2, SINGLE))
    for n, i in enumerate(ids[:3]):
        scene.add(mesh, move(0.5 * n - 2, 0, -5), id=i)
    b.open(scene)
    assert b.client.scene_row(b.number)["ids32"] is True
    got = b.views[0].cull(camera())
    assert got.set == set(ids[:3]) and "ids32" in got.fields
    for n, i in enumerate(ids[3:]):
        scene.add(mesh, move(0.5 * n - 0.5, 0.5, -5), id=i)
    try:
        b.client.batch(b.number, [scene.object_item(ids[3:])])
    except wire.Refused as refused:
        assert refused.name == "bad_value" and refused.reply["id"] == (1 << 64) - 1, refused  # all ones stands for none
        b.client.batch(b.number, [scene.object_item(ids[3:-1])])
        ids = ids[:-1]
    got = b.views[0].cull(camera())
    assert got.set == set(ids) and "ids64" in got.fields
    assert set(b.client.object_ids(b.number)) == set(ids)
