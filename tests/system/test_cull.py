"""Answers against the ray caster, on random small scenes: nothing that is robustly seen may be missing, whatever the history."""

import math
import random
import time

import scenes
import wire
from wire import pack

SURPLUS = {"hiz": 1.9, "box": 1.3, "exact": 1.08}  # listed / seen, over all random scenes of one kind: a guard against passing by never culling


def against_truth(t, client, scene, cameras, name, method="hiz", fresh_too=True):
    """Culls warm, in order, and cold; returns (listed, seen, in the frustum), summed."""
    number = scene.load(client, name)
    truth = scene.truth(t, cameras)
    listed = seen = frustum = 0
    views = {"warm": client.view_open(number, method=method), "cold": client.view_open(number, method=method)}
    flat = client.view_open(number, method="frustum")
    for i, (camera, (visible, robust)) in enumerate(zip(cameras, truth)):
        everything = flat.cull(camera)
        assert everything.grade == "frustum"
        missing = robust - everything.set
        assert not missing, f"{name}, camera {i}, frustum: {sorted(missing)} are seen and not listed"
        for how, view in views.items():
            if how == "cold" and not fresh_too:
                continue
            result = view.cull(camera, fresh=how == "cold")
            assert result.grade in (("conservative", "exact") if method == "exact" else ("conservative",)) and result.lag == 0 and not result.degraded, result.fields
            missing = robust - result.set
            assert not missing, f"{name}, camera {i}, {method}, {how}: {sorted(missing)} of {len(robust)} are seen and not listed"
            extra = result.set - everything.set
            assert not extra, f"{name}, camera {i}: {sorted(extra)} are listed, but not in the frustum"
            assert result.stats["listed"] == len(result.ids)
            hidden = [i for i in result.ids if scene.objects[i]["flags"] & 0x21]
            assert not hidden, f"{name}: {hidden} are hidden, or only occlude"
            listed += len(result.ids)
            seen += len(visible)
            frustum += len(everything.ids)
    client.request("scene_remove", scene=number)
    return listed, seen, frustum


def test_random_scenes(t):
    t.daemon()
    client = t.client()
    for method, bound in SURPLUS.items():
        sums = [0, 0, 0]
        for seed in range(12 if method == "hiz" else 5):
            got = against_truth(t, client, scenes.random_scene(seed), scenes.random_cameras(seed, 16), f"random {method} {seed}", method)
            sums = [a + b for a, b in zip(sums, got)]
        t.table(f"random scenes, {method}: listed {sums[0] / sums[1]:.3f} x seen; frustum {sums[2] / sums[1]:.2f} x seen")
        assert sums[0] / sums[1] <= bound
test_random_scenes.seconds = 180


def test_samples(t):
    """Samples of each id on request, as many as rays see, but for edges and what lies in the same plane."""
    t.daemon()
    client = t.client()
    compared = 0
    for seed in range(8):
        scene, cameras = scenes.random_scene(seed, 40), scenes.random_cameras(seed, 6)
        number = scene.load(client, f"samples {seed}")
        view = client.view_open(number, method="exact")
        for camera, (visible, _) in zip(cameras, scene.truth(t, cameras)):
            frame = view.next_frame(camera, want=1 | 4 | 8)
            result = client.request("frames", frames=[frame])["results"][0]
            ids, counts = wire.unpack("I", result["ids32"]) if "ids32" in result else wire.unpack("Q", result["ids64"]), wire.unpack("I", result["samples"])
            assert len(ids) == len(counts) == result["count"] and "base" not in result
            for id, count in zip(ids, counts):
                mesh = scene.objects[id]["mesh"]
                if count == 0xffffffff or mesh is None:  # pinned, or a box that stands for nothing that rays meet
                    continue
                layers = 2 if any(part[3] for part in scene.meshes[mesh].parts) or scene.objects[id]["flags"] & 0x1e else 1
                truth = visible.get(id, 0)
                assert count <= 1.1 * layers * truth + 0.02 * camera["width"] + 16, (seed, id, count, truth)
                assert count >= 0.9 * truth - 0.02 * camera["width"] - 16, (seed, id, count, truth)
                compared += truth > 50
    assert compared > 100, compared
    for method in ("frustum", "hiz"):
        try:
            client.request("frames", frames=[view.next_frame(cameras[0], want=1 | 4, method=method)])
            assert False, f"{method} counts samples"
        except wire.Refused as refused:
            assert refused.name == "bad_value" and "box or exact" in refused.text, refused


def test_prepass(t):
    """A depth image of the same camera hides what it shows, beside the meshes and alone: nothing that is seen goes missing, and as little
    else is listed; and it hides where the scene has no mesh to hide with."""
    t.daemon()
    client = t.client()
    sums = {}
    for seed in range(5):
        scene, cameras = scenes.random_scene(seed, 80), [c for c in scenes.random_cameras(seed, 14) if c.get("samples", 1) == 1]
        number = scene.load(client, f"prepass {seed}")
        ways = [(method, alone) for method in ("hiz", "box", "exact") for alone in (None, False, True)]
        views = [client.view_open(number, method=method) for method, _ in ways]
        drawn = client.view_open(number, method="exact")
        for camera, (visible, robust) in zip(cameras, scene.truth(t, cameras)):
            drawn.cull(camera, fresh=True)
            image = client.request("snapshot", view=drawn.view, what=0, level=0)
            depth = wire.unpack("f", image["data"])  # 1 is near
            near = [d * (1 + 2**-21) for d in depth]  # as near as a client's own rounding may make it
            if camera.get("depth", "zero_to_one") != "reversed":
                near = [1 - d for d in near]
            frames = [view.next_frame(camera, **({} if alone is None else {"prepass": pack("f", [min(max(d, 0), 1) for d in near]), "prepass_alone": alone}))
                      for view, (_, alone) in zip(views, ways)]
            results = {r["view"]: wire.Result(r).check() for r in client.request("frames", frames=frames)["results"]}
            for way, view in zip(ways, views):
                ids = results[view.view].set
                assert robust <= ids, (seed, way, sorted(robust - ids))
                sums[way] = sums.get(way, 0) + len(ids)
                if way[1]:
                    assert results[view.view].stats["drawn_1"] == results[view.view].stats["drawn_2"] == 0, way
    for method in ("hiz", "box", "exact"):
        meshes, both, alone = (sums[method, way] for way in (None, False, True))
        assert both <= meshes and alone <= 1.05 * meshes, (method, meshes, both, alone)
    # A wall that the scene does not know of.
    scene = scenes.Scene()
    for i in range(9):
        scene.add(scenes.cube(0.5), scenes.move(i - 4, 0, -10), id=i)
    view = client.view_open(scene.load(client, "wall"), method="exact")
    camera = scenes.camera((0, 0, 0), (0, 0, -1), width=90, height=60, near=1, far=100)
    assert view.cull(camera).set == set(range(9))
    wall = [0.5 if x < 45 else 1.0 for _ in range(60) for x in range(90)]  # the left half
    left = view.client.request("frames", frames=[view.next_frame(camera, prepass=pack("f", wall))])["results"][0]
    assert wire.Result(left).set == {4, 5, 6, 7, 8}, wire.Result(left).set
    for depths, fields, says in ((wall[:-1], {}, "5399 depths"), (wall + [0], {}, "5401 depths"), (wall, {"samples": 4}, "of 4 samples")):
        try:
            client.request("frames", frames=[view.next_frame({**camera, **fields}, prepass=pack("f", depths))])
            assert False, says
        except wire.Refused as refused:
            assert refused.name == "bad_value" and says in refused.text, refused
    nothing = [math.nan, math.inf, -1.0, 2.0, -0.0, 1.0] * 900  # hides nothing, or what is farther than everything
    odd = view.client.request("frames", frames=[view.next_frame(camera, prepass=pack("f", [d if d != 0 else 1.0 for d in nothing]))])["results"][0]
    assert wire.Result(odd).set == set(range(9))
test_prepass.seconds = 120


def test_random_scenes_few(t):
    """The same, fewer: for the slow modes."""
    t.daemon()
    client = t.client()
    for seed, method in zip(range(100, 103), SURPLUS):
        against_truth(t, client, scenes.random_scene(seed, 60), scenes.random_cameras(seed, 6, (20, 90)), f"random {seed}", method)
test_random_scenes_few.modes = ("validation", "asan", "tsan")


def test_far_from_the_origin(t):
    """Parts of millimetres at ten million metres: the same scene moved whole gives the same answers (FAULTS A4 53)."""
    t.daemon()
    client = t.client()
    for seed, place in ((1, (3.2e6, -1.7e6, 4e5)), (2, (1e7, 1e7, -1e7)), (3, (-1e7, 0.25, 5e6))):
        rng = random.Random(seed)
        here, there = scenes.Scene(), scenes.Scene()
        size = 0.004
        for _ in range(80):
            p = [rng.uniform(-0.1, 0.1) for _ in range(3)]
            s = [size * rng.uniform(0.5, 8) for _ in range(3)]
            turned = scenes.multiply(scenes.turn([rng.gauss(0, 1) for _ in range(3)], rng.uniform(0, 360)), scenes.scale(*s))
            here.add(scenes.cube(1, scenes.SINGLE) if not here.meshes else 0, scenes.multiply(scenes.move(*p), turned))
            moved = [math.floor(x * 2**20) / 2**20 + y for x, y in zip(p, place)]
            there.add(scenes.cube(1, scenes.SINGLE) if not there.meshes else 0, scenes.multiply(scenes.move(*moved), turned))
        eyes = [[rng.uniform(-0.3, 0.3) for _ in range(3)] for _ in range(12)]
        cameras = [scenes.camera([e + o for e, o in zip(eye, place)], list(place), width=160, height=120, near=0.01, far=10) for eye in eyes]
        listed, seen, frustum = against_truth(t, client, there, cameras, f"far {seed}")
        assert listed <= 4 * seen, f"{listed} listed for {seen} seen"


def slit_wall(strips, pitch, gap, extent):
    """Upright strips in the plane z = 0, around the middle of a mesh that reaches to x = -extent."""
    p, indices = [], []
    for i in range(strips):
        left, right = (i - strips / 2) * pitch + gap / 2, (i + 1 - strips / 2) * pitch - gap / 2
        indices += [len(p) // 3 + k for k in (0, 1, 2, 0, 2, 3)]
        p += [left, -1, 0, right, -1, 0, right, 1, 0, left, 1, 0]
    indices += [len(p) // 3 + k for k in range(3)]
    p += [-extent, 0, 0, -0.999 * extent, 0, 0, -extent, 0.001 * extent, 0]
    return scenes.Mesh(wire.unpack("f", wire.pack("f", p)), indices, [(0, len(indices), scenes.DOUBLE, 0)])


def test_slits(t):
    """What is seen through gaps of a twentieth of a pixel, in a mesh of ten kilometres and through a lens of a degree: numbers rounded to
    float would shut them. The ray caster's are, so truth is worked out here, in double: a gap that holds a pixel's middle, and 1/128 pixel
    to either side, shows what is behind it."""
    t.daemon()
    client = t.client()
    behind = scenes.plate(1, 1, scenes.DOUBLE)
    for extent, fovx, width in ((1e4, 60, 640), (1e4, 90, 300), (1, 1, 4000), (1, 1, 16000), (1, 0.1, 640)):
        shown = 0
        for seed in range(8):
            rng = random.Random(seed)
            pixel = 2 * math.tan(math.radians(fovx) / 2) / width  # of the wall, a metre away
            strips = min(150, width // 4 - 4)
            pitch = 4 * pixel * rng.uniform(0.97, 1.03)
            place = [rng.uniform(-5, 5) for _ in range(3)]
            wall = scenes.multiply(scenes.move(*place), scenes.turn([rng.gauss(0, 1) for _ in range(3)], rng.uniform(0, 360)))
            scene = scenes.Scene()
            mesh = slit_wall(strips, pitch, 0.05 * pixel, extent)
            scene.add(mesh, wall, id=0)
            plate = scene.mesh(behind)
            for i in range(1, strips):
                at = scenes.multiply(scenes.move(1.5 * (i - strips / 2) * pitch, 0, -0.5), scenes.scale(3 * pixel, 0.3, 1))
                scene.add(plate, scenes.multiply(wall, at), id=i)
            eye = [p + wall[4 * k + 2] for k, p in enumerate(place)]
            half = math.tan(math.radians(fovx) / 2)
            camera = {"view": scenes.look(eye, place, up=(wall[1], wall[5], wall[9])), "width": width, "height": 3, "depth": "reversed",
                      "proj": scenes.frustum(-half, half, -half * 3 / width, half * 3 / width, 0.1, 100, "reversed")}

            def pixel_of(x):
                r = [wall[4 * k] * x - wall[4 * k + 2] for k in range(3)]
                across, ahead = (sum(camera["view"][4 * k + row] * r[k] for k in range(3)) for row in (0, 2))
                return (across / -ahead / half * 0.5 + 0.5) * width

            robust = {0}
            for i in range(1, strips):
                left, right = sorted((pixel_of(mesh.positions[12 * i - 9]), pixel_of(mesh.positions[12 * i])))
                middle = math.floor((left + right) / 2) + 0.5
                if left < middle - 1 / 128 and middle + 1 / 128 < right:
                    robust.add(i)
            listed = client.view_open(scene.load(client, f"{extent} {fovx} {width} {seed}")).cull(camera).set
            assert not robust - listed, f"{extent} m, {fovx} degrees, {width} pixels, {seed}: {sorted(robust - listed)} are seen and not listed"
            assert len(listed) < strips // 4, "the wall hides nothing"
            shown += len(robust) - 1
        assert shown > 0


def test_flattened_faces(t):
    """A transform that flattens leaves a determinant of nothing but rounding, of any sign: which face is front is not known, and a
    single-sided mesh hides nothing. A double-sided one does."""
    t.daemon()
    client = t.client()
    for sides, hidden in ((scenes.SINGLE, False), (scenes.UNKNOWN, False), (scenes.DOUBLE, True)):
        scene = scenes.Scene()
        wall, box = scene.mesh(scenes.cube(6, sides)), scene.mesh(scenes.cube(0.5, scenes.SINGLE))
        scene.add(wall, id=1)
        scene.add(box, scenes.move(0, 0, -9), id=2)
        number = scene.load(client, f"sides {sides}")
        view = client.view_open(number)
        for degrees in range(0, 360, 24):
            flat = scenes.multiply(scenes.scale(1, 1, 0), scenes.turn((1, 2, 3), degrees))
            scene.objects[1]["transform"] = scenes.multiply(scenes.move(0, 0, -6), scenes.multiply(scenes.turn((0, 1, 0), degrees / 9), flat))
            client.batch(number, [scene.object_item([1], "object_set")])
            listed = view.cull(scenes.camera(width=320, height=180)).set
            assert listed == ({1} if hidden else {1, 2}), f"sides {sides}, {degrees} degrees: {listed}"


def test_sizes_of_all_kinds(t):
    """One pixel, one row, primes, and a little more than powers of two."""
    t.daemon()
    client = t.client()
    scene = scenes.random_scene(40, 80)
    cameras = [scenes.camera((0, 2, 16), (0, 0, 0), width=w, height=h)
               for w, h in ((1, 1), (1, 64), (64, 1), (2, 3), (63, 65), (127, 31), (257, 255), (97, 89), (129, 1), (512, 8))]
    against_truth(t, client, scene, cameras, "sizes")


def test_large_sizes(t):
    """Pictures of the largest size allowed are answered, or refused by name."""
    t.daemon()
    client = t.client()
    scene = scenes.Scene()
    scene.add(scenes.cube(), scenes.move(0, 0, -5))
    view = client.view_open(scene.load(client))
    for w, h in ((16384, 16), (16, 16384), (7680, 4320)):
        try:
            assert view.cull(scenes.camera(width=w, height=h)).ids == [0], (w, h)
        except wire.Refused as refused:
            assert refused.name in ("too_big", "quota", "no_memory"), refused


def test_order_is_stable(t):
    """Ids come in slot order, the same each time for a camera and scene at rest."""
    t.daemon()
    client = t.client()
    scene = scenes.random_scene(9, 200)
    number = scene.load(client)
    order = {id: i for i, id in enumerate(client.object_ids(number))}
    view = client.view_open(number)
    for camera in scenes.random_cameras(9, 8):
        lists = [view.cull(camera).ids for _ in range(4)]
        slots = [order[i] for i in lists[-1]]
        assert slots == sorted(slots)
        assert lists[1] == lists[2] == lists[3], "the list of a still camera changes"


def test_objects_without_meshes(t):
    """They are tested by their boxes, and hide nothing."""
    t.daemon()
    client = t.client()
    scene = scenes.Scene()
    scene.add(scenes.plate(4, 4, scenes.DOUBLE), scenes.move(0, 0, -5), id=1)
    scene.add(box=[-0.5, -0.5, -0.5, 0.5, 0.5, 0.5], transform=scenes.move(0, 0, -8), id=2)
    scene.add(box=[-0.5, -0.5, -0.5, 0.5, 0.5, 0.5], transform=scenes.move(0, 0, -3), id=3)
    scene.add(box=[-9, -9, -0.1, 9, 9, 0.1], transform=scenes.move(0, 0, -2), id=4)
    view = client.view_open(scene.load(client))
    for _ in range(3):
        assert view.cull(scenes.camera(width=320, height=180)).set == {1, 3, 4}


def test_budget_after_a_cut(t):
    """A cut into many objects stays within its budgets and is right; the history then closes what the budget left open."""
    t.daemon("--triangles", "20000")
    client = t.client()
    scene = scenes.Scene()
    mesh = scene.mesh(scenes.sphere(0.45, 12))
    for i in range(40):
        for j in range(40):
            for k in range(4):
                scene.add(mesh, scenes.move(i - 20, j - 20, -10 - k))
    number = scene.load(client)
    view = client.view_open(number)
    camera = scenes.camera(width=480, height=270, fovy=50)
    truth = scene.truth(t, [camera])[0]
    counts = []
    for i in range(12):
        result = view.cull(camera, fresh=i == 0)
        assert not truth[1] - result.set
        drawn = result.stats["triangles_1"] + result.stats["triangles_2"]
        if i == 0:
            assert drawn <= 20000, f"{drawn} triangles in a frame after a cut"
            assert result.stats["over_budget"] > 0
        counts.append(len(result.ids))
    assert counts[-1] <= counts[0], counts


def test_hog(t):
    """A million instances of a large mesh are answered, not hung on."""
    t.daemon()
    client = t.client()
    scene = scenes.Scene()
    mesh = scene.mesh(scenes.sphere(0.5, 100))
    number = client.scene_create("hog")
    client.batch(number, scene.mesh_items())
    start = time.monotonic()
    for part in range(16):
        scene.objects = {}
        for i in range(62500):
            n = part * 62500 + i
            scene.add(mesh, scenes.move(n % 1000 - 500, n // 1000 - 500, -3 - n % 7), id=n)
        client.batch(number, [scene.object_item()])
    loaded = time.monotonic() - start
    view = client.view_open(number)
    times = []
    for i in range(4):
        start = time.monotonic()
        result = view.cull(scenes.camera((0, 0, 20 * i), width=640, height=360, far=3000), fresh=i == 0)
        times.append(time.monotonic() - start)
        assert result.stats["tested"] == 1000000
    t.table(f"hog: loaded in {loaded:.1f} s, frames in {', '.join(f'{1000 * s:.0f}' for s in times)} ms")
    assert max(times) < 20
test_hog.seconds = 240
