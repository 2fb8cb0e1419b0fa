"""Edits: what a commit changes is in the next answer, what is gone is gone, and slots that are used again carry nothing over."""

import random

import scenes
import wire
from scenes import DOUBLE, NONE, SINGLE, Scene, camera, cube, move, multiply, plate, turn
from wire import pack

CAMERA = camera(width=320, height=180)


def test_revisions(t):
    t.daemon()
    client = t.client()
    scene = client.scene_create()
    view = client.view_open(scene)
    last = client.scene_row(scene)["revision"]
    for _ in range(20):
        revision = client.batch(scene, [])["revision"]
        assert revision > last
        last = revision
        assert view.cull(CAMERA).revision == revision, "an answer is older than the commit before it"


def test_slots_are_used_again(t):
    """A hidden object's slot goes to one in the open, and the reverse: nothing learned of the first is believed of the second."""
    t.daemon()
    client = t.client()
    scene = Scene()
    scene.add(plate(4, 4, DOUBLE), move(0, 0, -5), id=1)
    behind = scene.add(cube(0.5, SINGLE), move(0, 0, -8), id=2)
    number = scene.load(client)
    view = client.view_open(number)
    for i in range(30):
        open_place = i % 2 == 1
        for _ in range(2):
            assert view.cull(CAMERA).set == ({1} if not open_place else {1, behind}), i
        del scene.objects[behind]
        gone = behind
        behind = scene.add(1, move(*((0, 0, -8) if open_place else (4, 0, -8))), id=100 + i)
        client.batch(number, [{"k": "object_remove", "ids": pack("Q", [gone])}, scene.object_item([behind])])


def test_moves_hidings_and_removals(t):
    """Random edits against the ray caster, one history all the way."""
    t.daemon()
    client = t.client()
    rng = random.Random(7)
    scene = scenes.random_scene(7, 100)
    number = scene.load(client)
    view = client.view_open(number)
    cameras = scenes.random_cameras(7, 4)
    for step in range(40):
        ids = rng.sample(sorted(scene.objects), 10)
        items = []
        if step % 4 == 0:
            items.append({"k": "object_remove", "ids": pack("Q", ids)})
            rows = [scene.objects.pop(i) for i in ids]
            back = [i + (1 << 40) * (step % 3) + step for i in ids]
            for i, row in zip(back, rows):
                scene.objects[i] = row
            items.append(scene.object_item(back))
        elif step % 4 == 1:
            for i in ids:
                scene.objects[i]["transform"] = multiply(move(*(rng.uniform(-8, 8) for _ in range(3))),
                                                         turn([rng.gauss(0, 1) for _ in range(3)], rng.uniform(0, 360)))
            items.append(scene.object_item(ids, "object_set"))
        elif step % 4 == 2:
            for i in ids:
                scene.objects[i]["flags"] = rng.choice((0, 1, 2, 4, 0x20, 0x200, 0x400))
            items.append({"k": "object_set", "ids": pack("Q", ids), "flags": pack("I", [scene.objects[i]["flags"] for i in ids])})
        else:
            for i in ids:
                scene.objects[i]["mesh"] = rng.randrange(len(scene.meshes))
            items.append(scene.object_item(ids, "object_set"))
        client.batch(number, items)
        c = cameras[step % 4]
        visible, robust = scene.truth(t, [c])[0]
        got = view.cull(c)
        assert not robust - got.set, f"step {step}: {sorted(robust - got.set)} are seen and not listed"
        assert got.set <= set(scene.objects), f"step {step}: a removed id is listed"
test_moves_hidings_and_removals.modes = ("plain", "validation", "asan")


def test_groups_move_what_is_below(t):
    t.daemon()
    client = t.client()
    scene = Scene()
    scene.add(cube(0.5, SINGLE), id=1)
    number = client.scene_create()
    client.batch(number, scene.mesh_items())
    client.batch(number, [{"k": "group_put", "groups": pack("Q", [5, 6]), "parents": pack("Q", [NONE, 5]),
                           "transforms": pack("d", move(0, 0, -3) + turn((0, 1, 0), 90))}])
    item = scene.object_item([1])
    item.update(groups=pack("Q", [6]), transforms=pack("d", move(2, 0, 0)))
    client.batch(number, [item])
    view = client.view_open(number)
    # Turned by 90 degrees about Y, (2, 0, 0) is (0, 0, -2): the cube stands at z = -5.
    assert view.cull(CAMERA).set == {1}
    row = client.scene_row(number)
    assert all(abs(a - e) < 1e-6 for a, e in zip(wire.unpack("d", row["min"]), (-0.25, -0.25, -5.25))), row
    client.batch(number, [{"k": "group_put", "groups": pack("Q", [5]), "transforms": pack("d", move(0, 0, 3))}])
    assert view.cull(CAMERA).set == set()
    client.batch(number, [{"k": "group_put", "groups": pack("Q", [5]), "transforms": pack("d", move(0, 0, -3))},
                          {"k": "group_put", "groups": pack("Q", [6]), "flags": pack("I", [1])}])
    assert view.cull(CAMERA).set == set(), "a hidden group hides what is below it"
    client.batch(number, [{"k": "group_put", "groups": pack("Q", [5]), "flags": pack("I", [0])},
                          {"k": "group_put", "groups": pack("Q", [6]), "flags": pack("I", [0])}])
    assert view.cull(CAMERA).set == {1}


def test_deep_groups(t):
    """A tree 33 and 64 deep is taken; one over the stated limit is refused by name."""
    t.daemon()
    client = t.client()
    limit = int(next(row["value"] for row in client.about["limits"] if row["name"] == "group_depth"))
    for depth in (32, 33, 64, limit):
        number = client.scene_create(f"depth {depth}")
        groups = list(range(depth))
        client.batch(number, [{"k": "group_put", "groups": pack("Q", groups), "parents": pack("Q", [NONE] + groups[:-1]),
                               "transforms": pack("d", move(0, 0, -8 / depth) * depth)}])
        scene = Scene()
        scene.add(cube(0.5, SINGLE), id=1)
        item = scene.object_item([1])
        item["groups"] = pack("Q", [depth - 1])
        client.batch(number, scene.mesh_items() + [item])
        assert client.view_open(number).cull(CAMERA).set == {1}
    try:
        client.batch(number, [{"k": "group_put", "groups": pack("Q", [limit]), "parents": pack("Q", [limit - 1])}])
        raise AssertionError("deeper than the limit")
    except wire.Refused as refused:
        assert refused.name in ("too_big", "quota", "bad_value"), refused


def test_meshes_are_replaced_and_removed(t):
    t.daemon()
    client = t.client()
    scene = Scene()
    scene.add(plate(4, 4, DOUBLE), move(0, 0, -5), id=1)
    scene.add(cube(0.5, SINGLE), move(0, 0, -8), id=2)
    number = scene.load(client)
    view = client.view_open(number)
    assert view.cull(CAMERA).set == {1}
    small = plate(0.1, 0.1, DOUBLE)
    client.batch(number, [{"k": "mesh_put", "mesh": 0, "positions": pack("f", small.positions), "indices": pack("I", small.indices)}])
    assert view.cull(CAMERA).set == {1, 2}, "a replaced mesh still hides"
    client.batch(number, [{"k": "object_remove", "ids": pack("Q", [1])}, {"k": "mesh_remove", "meshes": pack("Q", [0])}])
    assert view.cull(CAMERA).set == {2}
    assert client.scene_row(number)["meshes"] == 1


def test_new_ids_only(t):
    """Meshes and groups that are to be new take no one's place, of an earlier batch or of this one."""
    t.daemon()
    client = t.client()
    number = client.scene_create()
    mesh = {"k": "mesh_put", "positions": pack("f", plate(1, 1, DOUBLE).positions), "indices": pack("I", [0, 1, 2])}
    client.batch(number, [{**mesh, "mesh": 5, "new": True}, {"k": "group_put", "groups": pack("Q", [7, 8]), "new": True}])
    before = client.scene_row(number)
    for what, items in (("mesh 5", [{**mesh, "mesh": 5, "new": True}]), ("group 8", [{"k": "group_put", "groups": pack("Q", [9, 8]), "new": True}]),
                        ("mesh 6", [{**mesh, "mesh": 6, "new": True}] * 2)):
        try:
            client.batch(number, items)
            assert False, f"{what} was taken"
        except wire.Refused as refused:
            assert refused.name == "exists" and what in refused.text, refused
    assert client.scene_row(number) == before
    client.batch(number, [{**mesh, "mesh": 5, "new": False}, {**mesh, "mesh": 5}, {"k": "group_put", "groups": pack("Q", [8])}])


def test_removal_at_a_revision(t):
    t.daemon()
    client = t.client()
    number = client.scene_create()
    seen = client.scene_row(number)["revision"]
    client.batch(number, [{"k": "object_add", "ids": pack("Q", [1])}])
    try:
        client.request("scene_remove", scene=number, if_revision=seen)
        assert False, "it was removed with what came in meanwhile"
    except wire.Refused as refused:
        assert refused.name == "conflict", refused
    client.request("scene_remove", scene=number, if_revision=client.scene_row(number)["revision"])
    assert client.request("scene_list")["rows"] == []


def test_pages_of_long_names(t):
    """A page ends where its names would outgrow a reply."""
    t.daemon()
    client = t.client()
    number = client.scene_create()
    name, each = b"n" * 65535, 900
    for i in range(2):  # a page of so many rows would be seven times what names may take, and of more rows outgrow a reply
        client.batch(number, [{"k": "object_add", "ids": pack("Q", list(range(each * i, each * (i + 1)))), "names": name * each,
                               "name_offsets": pack("I", [len(name) * k for k in range(each + 1)])}])
    first, ids = 0, []
    while first or not ids:
        page = client.request("objects", scene=number, first=first, count=16384)
        assert len(page["names"]) <= 17 << 20
        ids += wire.unpack("Q", page["ids"])
        first = page["next"]
        if not first:
            break
    assert ids == list(range(2 * each))


def test_names_and_listing(t):
    """A million pages, page by page: ids, names, flags, boxes are as they were given."""
    t.daemon()
    client = t.client()
    scene = Scene()
    mesh = scene.mesh(cube(1, SINGLE))
    names = [f"part {i} é" if i % 3 else "" for i in range(5000)]
    for i in range(5000):
        scene.add(mesh, move(i, 0, 0), id=3 * i)
    item = scene.object_item()
    data = [name.encode() for name in names]
    offsets = [0]
    for name in data:
        offsets.append(offsets[-1] + len(name))
    item.update(names=b"".join(data), name_offsets=pack("I", offsets))
    number = client.scene_create()
    client.batch(number, scene.mesh_items() + [item])
    first, seen = 0, {}
    while True:
        page = client.request("objects", scene=number, first=first, count=777)
        where = wire.unpack("I", page["name_offsets"])
        boxes = wire.unpack("d", page["world_boxes"])
        for row, id in enumerate(wire.unpack("Q", page["ids"])):
            seen[id] = page["names"][where[row]:where[row + 1]].decode()
            assert abs(boxes[6 * row] - (id / 3 - 0.5)) < 1e-3
        first = page["next"]
        if not first:
            break
    assert seen == {3 * i: name for i, name in enumerate(names)}


def test_scenes_are_apart(t):
    t.daemon()
    client = t.client()
    numbers = []
    for i in range(5):
        scene = Scene()
        scene.add(cube(1, SINGLE), move(0, 0, -5), id=i)
        numbers.append((scene.load(client, f"scene {i}"), i))
    views = [(client.view_open(number), i) for number, i in numbers]
    for view, i in views * 3:
        assert view.cull(CAMERA).ids == [i]
    client.request("scene_remove", scene=numbers[2][0])
    for view, i in views:
        if i != 2:
            assert view.cull(CAMERA).ids == [i]
    try:
        result = views[2][0].receive(views[2][0].send(CAMERA))
        assert result.err == 6, result.fields
    except wire.Refused as refused:
        assert refused.name == "not_found"
    again = client.scene_create("scene 2")
    assert client.scene_row(again)["objects"] == 0


def test_stream_of_edits_and_frames(t):
    """Edits and cameras in flight together: each answer is right for the revision that it names."""
    t.daemon()
    client = t.client()
    scene = Scene()
    mesh = scene.mesh(cube(0.2, SINGLE))
    for i in range(200):
        scene.add(mesh, move(0.3 * (i % 20) - 3, 0.3 * (i // 20) - 1.5, -8))
    number = scene.load(client)
    view = client.view_open(number)
    rng = random.Random(11)
    hidden = {client.scene_row(number)["revision"]: frozenset()}
    now = set()
    for _ in range(60):
        flip = rng.sample(range(200), 20)
        now ^= set(flip)
        client.number += 1
        edit = client.send("batch", scene=number, client=client.client, number=client.number,
                           items=[{"k": "object_set", "ids": pack("Q", flip), "flags": pack("I", [1 if i in now else 0 for i in flip])}])
        frame = view.send(CAMERA)
        hidden[client.receive(edit)["revision"]] = frozenset(now)
        result = view.receive(frame)
        assert result.set == set(range(200)) - hidden[result.revision], f"revision {result.revision}"
