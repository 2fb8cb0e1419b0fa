"""Scenes after faults that people reported of systems like this one, by row: planes and projections (A1), the pyramid (A2), history (A3).

Metres, the camera at the origin looking down -Z, 60 degrees, 1920 x 1080, near 0.1, far 1000, unless a row says otherwise. "Absent"
guards against passing by never culling. Each culling row runs under both depth conventions, at an odd size too, cold and warm."""

import math
import random

import scenes
import wire
from bench import Bench, rectangle
from scenes import DOUBLE, SINGLE, Scene, camera, cube, move, multiply, plate, sphere, turn
from wire import pack


def test_a1_1_camera_inside_an_occluder(t):
    b = Bench(t)
    for sides in (DOUBLE, SINGLE):
        scene = Scene()
        box = scene.add(cube(10, sides))
        scene.add(cube(1, SINGLE), move(0, 0, -3), id=1)
        scene.add(cube(1, SINGLE), move(6, 0, -20), id=2)
        b.open(scene)
        for yaw in range(0, 360, 5):
            result = b.views[0].cull(camera(yaw=yaw))
            assert box in result.set, yaw
            off = min(yaw, 360 - yaw)
            if off < 30:
                assert 1 in result.set, yaw
                assert (2 in result.set) == (sides == SINGLE), f"yaw {yaw}, sides {sides}"


def test_a1_3_near_distance_is_used(t):
    b = Bench(t)
    scene = Scene()
    scene.add(cube(1, SINGLE), move(0, 0, -0.56), id=1)
    scene.add(cube(0.05, SINGLE), move(0, 0, -3), id=2)
    b.open(scene)
    b.expect([1], [2], near=0.02)
    b.expect([1, 2], near=0.5)


def test_a1_5_floor_under_the_camera(t):
    b = Bench(t)
    scene = Scene()
    scene.add(plate(200, 200, DOUBLE), multiply(move(0, -1.7, 0), turn((1, 0, 0), -90)), id=1)
    b.open(scene)
    for pitch in range(-90, 29):
        assert b.views[0].cull(camera(pitch=pitch)).set == {1}, pitch
    assert b.views[0].cull(camera(pitch=60)).set == set()


def test_a1_7_large_bounds_at_the_side(t):
    b = Bench(t)
    scene = Scene()
    scene.add(sphere(500, 24), move(600, 0, -50), id=1)
    b.open(scene)
    b.expect([1])


def test_a1_8_orthographic(t):
    b = Bench(t)
    scene = Scene()
    scene.add(cube((10, 10, 0.1), SINGLE), move(0, 0, -5), id=1)
    scene.add(cube(1, SINGLE), move(0, 0, -2), id=2)
    scene.add(cube(1, SINGLE), move(0, 0, -8), id=3)
    b.open(scene)
    for height in (2, 12, 120, 1200):
        b.expect([2], [3] if height < 1200 else [], ortho_height=height, far=100, what=f"height {height}")
        if height > 2:
            b.expect([1], ortho_height=height, far=100, what=f"height {height}")
    b.expect([1, 2], [3], ortho_height=12, near=-50, far=100, what="negative near")


def test_a1_10_abutting_tiles(t):
    b = Bench(t)
    scene = Scene()
    mesh = scene.mesh(cube((3, 0.2, 3), SINGLE))
    for i in range(400):
        scene.add(mesh, move(3 * (i % 20) - 28.5, 0, 3 * (i // 20) - 28.5))
    b.open(scene)
    view, flat = b.views[0], b.client.view_open(b.number, method="frustum")
    for height in [10 + 5 * i for i in range(0, 79)]:
        eye = (0.3 * height % 7, 50, 60)
        c = camera(eye, (eye[0], 0, 0), width=960, height=540, ortho_height=height, far=500)
        missing = flat.cull(c).set - view.cull(c).set
        # Tiles in the frustum by their box may have no pixel on the picture: only those with their top in it count.
        for i in missing:
            x, z = 3 * (i % 20) - 28.5, 3 * (i // 20) - 28.5
            assert not on_screen(c, [(x + dx, 0.1, z + dz) for dx in (-1, 0, 1) for dz in (-1, 0, 1)]), f"tile {i} at height {height}"


def on_screen(c, points):
    """Whether any point projects well inside the picture."""
    for p in points:
        eye = [sum(c["view"][4 * k + r] * (p[k] if k < 3 else 1) for k in range(4)) for r in range(4)]
        clip = [sum(c["proj"][4 * k + r] * eye[k] for k in range(4)) for r in range(4)]
        if abs(clip[0]) < 0.98 * clip[3] and abs(clip[1]) < 0.98 * clip[3]:
            return True
    return False


def test_a1_12_off_centre_frusta(t):
    b = Bench(t)
    scene = Scene()
    mesh = scene.mesh(sphere(0.1, 6))
    points = [(-7 + 20 * i / 14, -7 + 20 * j / 14) for i in range(15) for j in range(15)]
    for x, y in points:
        scene.add(mesh, move(x, y, -10))
    b.open(scene)
    for sx in (1, -1):
        for sy in (1, -1):
            left, right = sorted((sx * -0.2, sx * 1.0))
            bottom, top = sorted((sy * -0.1, sy * 0.9))
            for depth in ("zero_to_one", "reversed", "neg_one_to_one"):
                c = {**camera(), "proj": scenes.frustum(left, right, bottom, top, 0.1, 1000, depth), "depth": depth}
                got = b.views[0].cull(c).set
                for i, (x, y) in enumerate(points):
                    inside = min(x - 10 * left, 10 * right - x, y - 10 * bottom, 10 * top - y)
                    if inside > -0.05:
                        assert i in got, f"({x:.2f}, {y:.2f}) is in {left}..{right}, {bottom}..{top}"
                    elif inside < -0.3:
                        assert i not in got, f"({x:.2f}, {y:.2f}) is not in {left}..{right}, {bottom}..{top}"


def test_a1_13_each_request_has_its_own_shape(t):
    b = Bench(t)
    for width, height in ((3840, 1080), (1000, 1000), (500, 2000)):
        scene = Scene()
        mesh = scene.mesh(cube(0.1, SINGLE))
        v, h = 30, math.degrees(math.atan(math.tan(math.radians(30)) * width / height))
        for x, y in ((h - 1, 0), (1 - h, 0), (0, v - 1), (0, 1 - v)):
            scene.add(mesh, move(10 * math.tan(math.radians(x)), 10 * math.tan(math.radians(y)), -10))
        b.open(scene)
        assert b.views[0].cull(camera(width=width, height=height)).set == {0, 1, 2, 3}, (width, height)
        b.views[0].cull(camera(width=640, height=480))
        assert b.views[0].cull(camera(width=width, height=height)).set == {0, 1, 2, 3}, (width, height)


def test_a2_15_every_width(t):
    b = Bench(t)
    for w in range(33, 131):
        # An orthographic view of one pixel a metre: the occluder covers all but the last 9 columns, the object the last 8.
        scene = Scene()
        scene.add(rectangle(0, w - 9, 0, w), move(0, 0, -5), id=1)
        scene.add(rectangle(w - 8, w, 0, w), move(0, 0, -8), id=2)
        scene.add(rectangle(2, 10, 2, 10), move(0, 0, -8), id=3)
        b.open(scene)
        c = camera(width=w, height=w, ortho_height=w, near=0, far=100)
        c["view"] = look_from(w / 2)
        for i in range(2):
            got = b.views[0].cull(c).set
            assert 2 in got and 1 in got, f"width {w}: {got}"
            assert 3 not in got, f"width {w}: what is wholly covered is listed"
        b.client.request("scene_remove", scene=b.number)


def look_from(half):
    return scenes.look((half, half, 0), (half, half, -1))


def test_a2_17_sliver_at_the_edge(t):
    b = Bench(t)
    for centimetres in range(0, 40, 4):
        scene = Scene()
        x = centimetres / 100
        scene.add(cube(10, SINGLE), move(-4.2 - x, 0, -5.6), id=1)
        scene.add(cube(10, SINGLE), move(0, 0, -16.1), id=2)
        b.open(scene)
        c = camera(width=640, height=360)
        visible, robust = scene.truth(t, [c])[0]
        for i in range(2):
            assert not robust - b.views[0].cull(c).set, centimetres


def test_a2_18_not_hidden_by_its_own_surface(t):
    b = Bench(t)
    for distance in (0.3, 1, 3, 10, 30, 100, 300, 900):
        scene = Scene()
        mesh = scene.mesh(cube(0.2, SINGLE))
        t30 = math.tan(math.radians(30)) * distance * 0.9
        places = [(x * t30 * 16 / 9, y * t30) for x in (-1, 0, 1) for y in (-1, 0, 1)]
        for x, y in places:
            scene.add(mesh, move(x, y, -distance))
        b.open(scene)
        b.expect(range(9), what=f"distance {distance}", near=0.05)


def holed_plate(size, radius, rings):
    """A plate with a round hole in its middle, finely cut."""
    p, indices, around = [], [], 96
    for r in range(rings + 1):
        f = r / rings
        for a in range(around):
            c, s = math.cos(2 * math.pi * a / around), math.sin(2 * math.pi * a / around)
            edge = size / 2 / max(abs(c), abs(s))
            d = radius + (edge - radius) * f
            p += [d * c, d * s, 0]
    for r in range(rings):
        for a in range(around):
            i, j = r * around + a, r * around + (a + 1) % around
            indices += [i, i + around, j + around, i, j + around, j]
    return scenes.Mesh(p, indices, [(0, len(indices), DOUBLE, 0)])


def test_a2_20_holes_stay_open(t):
    b = Bench(t)
    scene = Scene()
    scene.add(holed_plate(2, 0.15, 260), move(0, 0, -3), id=1)
    scene.add(cube(0.1, SINGLE), move(0, 0, -3.25), id=2)
    scene.add(cube(0.1, SINGLE), move(0.6, 0.6, -3.25), id=3)
    b.open(scene)
    b.expect([1, 2], [3])


def test_a2_21_direction_of_depth(t):
    b = Bench(t)
    scene = Scene()
    mesh = scene.mesh(cube((0.002, 4, 0.01), DOUBLE))
    for i in range(300):
        scene.add(mesh, move(0.004 * i - 0.6, 0, -2))
    scene.add(cube(1, SINGLE), move(0, 0, -4), id=1000)
    b.open(scene)
    lists = list(b.lists(sizes=((1920, 1080),), depths=("zero_to_one", "reversed", "neg_one_to_one")))
    assert all(1000 in got for got in lists)
    assert all(got == lists[0] for got in lists[1:]), "conventions give different lists"


def test_a2_23_smaller_picture_after_a_larger(t):
    b = Bench(t)
    scene = Scene()
    scene.add(plate(0.4, 0.4, DOUBLE), move(0, 0, -0.15), id=1)
    mesh = scene.mesh(cube(0.5, SINGLE))
    for i in range(200):
        scene.add(mesh, move(i % 20 - 9.5, i // 20 - 4.5, -20), id=100 + i)
    b.open(scene)
    view = b.views[0]
    view.cull(camera())
    small = camera((0, 0, -1), (0, 0, -2), width=1280, height=720)
    got = view.cull(small).set
    fresh = b.views[1].cull(small, fresh=True).set
    assert got == fresh == set(range(100, 300))


def test_a2_24_close_behind_a_wall(t):
    b = Bench(t)
    scene = Scene()
    scene.add(plate(200, 200, DOUBLE), id=1)
    scene.add(cube(24, SINGLE), move(0, 0, -12.5), id=2)
    b.open(scene)
    for distance in (5, 50, 500):
        b.expect([1], [2], eye=(0, 0, distance), at=(0, 0, 0), what=f"{distance} m")


def test_a3_26_churn(t):
    b = Bench(t)
    rng = random.Random(26)
    scene = Scene()
    mesh = scene.mesh(cube(0.2, SINGLE))

    def place():
        return move(rng.uniform(-4, 4), rng.uniform(-2, 2), rng.uniform(-20, -8))

    scene.add(mesh, move(0, 0, -3), id=0)
    for _ in range(1000):
        scene.add(mesh, place())
    b.open(scene)
    live = [i for i in scene.objects if i != 0]
    c = camera(width=320, height=180)
    for _ in range(300):
        gone = [live.pop(rng.randrange(len(live))) for _ in range(10)]
        fresh = [scene.add(mesh, place()) for _ in range(10)]
        live += fresh
        for i in gone:
            del scene.objects[i]
        b.client.batch(b.number, [{"k": "object_remove", "ids": pack("Q", gone)}, scene.object_item(fresh)])
        got = b.views[0].cull(c).set
        assert 0 in got
        assert not got - set(scene.objects), "an object is listed that is gone"


def test_a3_28_moved_into_the_open(t):
    b = Bench(t)
    scene = Scene()
    scene.add(plate(4, 4, DOUBLE), move(0, 0, -5), id=1)
    scene.add(cube(0.5, SINGLE), move(0, 0, -8), id=2)
    b.open(scene)
    c = camera(width=640, height=360)
    for _ in range(3):
        assert b.views[0].cull(c).set == {1}
    scene.objects[2]["transform"] = move(4.5, 0, -8)
    ticket = b.views[0].send(c)
    b.client.batch(b.number, [scene.object_item([2], "object_set")])
    b.views[0].receive(ticket)
    assert b.views[0].cull(c).set == {1, 2}


def test_a3_29_counts_that_alternate(t):
    b = Bench(t)
    scene = Scene()
    mesh = scene.mesh(cube(0.02, SINGLE))
    for i in range(10000):
        scene.add(mesh, move(0.05 * (i % 100) - 2.5, 0.05 * (i // 100) - 2.5, -6))
    for i in range(10):
        scene.add(mesh, move(0.5 * i, 0, 8), id=20000 + i)
    b.open(scene)
    both = camera(width=640, height=360), camera((0, 0, 0), (0, 0, 1), width=640, height=360)
    for i in range(60):
        got = b.views[0].cull(both[i % 2])
        assert got.set == (set(range(10000)) if i % 2 == 0 else {20000 + k for k in range(10)} & got.set)
        assert len(got.ids) == (10000 if i % 2 == 0 else len(got.set))


def test_a3_31_jumping_between_cameras(t):
    b = Bench(t)
    scene = scenes.random_scene(31, 300)
    b.open(scene)
    cameras = scenes.random_cameras(31, 2)
    first = {}
    for i in range(80):
        which = (i // 5) % 2
        got = b.views[0].cull(cameras[which])
        if i % 5 == 4:
            assert first.setdefault(which, got.set) == got.set, f"frame {i}"


def test_a3_32_jitter(t):
    b = Bench(t)
    scene = Scene()
    scene.add(plate(2, 4, DOUBLE), move(0, 0, -5), id=1)
    scene.add(plate(2.04, 4, DOUBLE), move(0, 0, -5.5), id=2)
    b.open(scene)
    base = camera(width=960, height=540)
    for i in range(48):
        c = {**base, "proj": list(base["proj"])}
        c["proj"][8] += (((i % 8) + 0.5) / 8 - 0.5) * 2 / 960
        c["proj"][9] += (((i * 3 % 8) + 0.5) / 8 - 0.5) * 2 / 540
        visible, _ = scene.truth(t, [c])[0] if i < 8 else ({1: 1, 2: 1}, None)
        if 2 in visible:
            assert 2 in b.views[0].cull(c).set, i


def test_a3_34_switching_methods(t):
    b = Bench(t)
    scene = scenes.random_scene(34, 200)
    b.open(scene)
    c = scenes.random_cameras(34, 1)[0]
    steady = {}
    for i in range(120):
        method = ("frustum", "hiz")[(i // 10) % 2]
        if i % 10 == 0:
            b.views[0].set(method=wire.METHODS.index(method))
        got = b.views[0].cull(c)
        assert got.method == method
        if i % 10 >= 3:
            assert steady.setdefault(method, got.set) == got.set
    assert steady["hiz"] <= steady["frustum"]
test_a3_34_switching_methods.modes = ("plain", "validation")


def test_a3_35_nothing_to_occlude_with(t):
    b = Bench(t)
    for mesh in (None, scenes.Mesh([0, 0, 0, 1, 0, 0, 0, 1, 0], [], [])):
        scene = Scene()
        for i in range(5):
            scene.add(mesh if mesh is None or not scene.meshes else 0, move(i - 2, 0, -6), box=[-0.2, -0.2, -0.2, 1, 1, 0.2])
        b.open(scene)
        b.expect(range(5))
    empty = Scene()
    b.open(empty)
    assert b.views[0].cull(camera()).ids == []
test_a3_35_nothing_to_occlude_with.modes = ("plain", "validation")


def test_a3_37_still_at_rest(t):
    b = Bench(t)
    scene = scenes.random_scene(37, 500)
    b.open(scene)
    c = scenes.random_cameras(37, 1)[0]
    lists = [b.views[0].cull(c).ids for _ in range(300)]
    assert all(got == lists[1] for got in lists[2:])
