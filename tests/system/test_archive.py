"""scene export and scene import: a scene leaves the daemon and comes back, to the bit; what is not such a file changes nothing."""

import json
import os
import re
import struct
import subprocess
import threading

import scenes
from scenes import FLAG, Mesh, Scene, move, scale, turn
from test_visctl import ENGINE, last_line, orbit
from wire import NONE, Refused, pack, unpack


def same_answers(t, cameras, one, two):
    lists = []
    for scene in (one, two):
        lines = [json.loads(line) for line in t.visctl("cull", scene, "--cameras", cameras, "--method", "hiz").stdout.splitlines()]
        lists.append([line["visible"] for line in lines])
        assert all(lists[-1]), f"{scene}: an empty picture shows nothing"
    assert lists[0] == lists[1], f"{one} and {two} look different"


def there_and_back(t, scene, cameras=None):
    """Exports, imports as another scene, exports that: the same bytes. The first file."""
    one, two, copy = f"{t.tmp}/{scene}-1.glb", f"{t.tmp}/{scene}-2.glb", f"{scene}-copy"
    told = last_line(t.visctl("scene", "export", scene, "--out", one))
    back = last_line(t.visctl("scene", "import", copy, one))
    for key in ("objects", "meshes", "triangles"):
        assert told[key] == back[key], f"{key}: {told[key]} went out, {back[key]} came in"
    t.visctl("scene", "export", copy, "--out", two)
    assert open(one, "rb").read() == open(two, "rb").read(), f"{scene}: exported again it is another file"
    assert t.visctl("objects", scene).stdout == t.visctl("objects", copy).stdout
    if cameras:
        same_answers(t, cameras, scene, copy)
    return one


def gltf_of(path):
    with open(path, "rb") as file:
        head = file.read(20)
        return json.loads(file.read(struct.unpack_from("<I", head, 12)[0]))


def test_export_engine(t):
    if not os.path.exists(ENGINE):
        t.skip("assimp-testmodels is not installed")
    t.daemon()
    t.visctl("load", ENGINE, "--scene", "engine")
    t.visctl("set", "engine", 3, 4, "hide")
    t.visctl("set", "engine", 10, "xray")
    path = there_and_back(t, "engine", orbit(t))
    loaded = last_line(t.visctl("load", path, "--scene", "loaded"))
    assert loaded["objects"] == 65, "what is not hidden can be loaded like any GLB"
    nodes = gltf_of(path)["nodes"]
    assert sum("mesh" in node for node in nodes) == 65


def test_export_generated(t):
    t.daemon()
    for kind in ("office", "random", "mall"):
        cameras = f"{t.tmp}/{kind}.jsonl"
        t.visctl("generate", kind, "--scene", kind, "--objects", 2000, "--cameras-out", cameras, "--cameras", 5, "--size", "320x200")
        path = there_and_back(t, kind, cameras)
        if kind == "random":
            mirrored = [node for node in gltf_of(path)["nodes"] if determinant(node) < 0]
            assert mirrored, "no mirrored object was tried"
    t.visctl("generate", "grid", "--scene", "grid", "--objects", 20000)  # more than a page
    there_and_back(t, "grid")


def determinant(node):
    m = node.get("matrix", [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])
    return (m[0] * (m[5] * m[10] - m[6] * m[9]) - m[4] * (m[1] * m[10] - m[2] * m[9]) + m[8] * (m[1] * m[6] - m[2] * m[5]))


def everything(client):
    """A scene with one of each thing that the wire can say, in slots that are out of order."""
    scene = client.scene_create("all", metres_per_unit=0.001)
    s = Scene()
    cube, plate = scenes.cube(2.0), scenes.plate(3.0, 1.0, scenes.DOUBLE, 1)
    cube.deviation = 0.1
    cube.parts = [(18, 18, scenes.SINGLE, 0), (0, 9, scenes.DOUBLE, 1)]  # out of order, with a gap
    s.mesh(cube)
    s.mesh(plate)
    bare = Mesh([0, 0, 0, 1, 0, 0, 0, 1, -0.0], [0, 1, 2])
    empty = {"k": "mesh_put", "mesh": NONE - 1, "positions": b"", "indices": b""}
    unseen = {"k": "mesh_put", "mesh": 77, "positions": pack("f", bare.positions), "indices": pack("I", bare.indices), "parts": b""}
    s.mesh(bare)

    def group(ids, parents, transforms, flags, names):
        text = [name.encode() for name in names]
        offsets = [sum(map(len, text[:i])) for i in range(len(text) + 1)]
        return {"k": "group_put", "groups": pack("Q", ids), "parents": pack("Q", parents),
                "transforms": pack("d", [x for m in transforms for x in m]), "flags": pack("I", flags), "names": b"".join(text),
                "name_offsets": pack("I", offsets)}

    far = [1 / 3, 0.1, 0, 1e7 / 3, -0.1, 1 / 3, 0, -0.0, 0, 0, 1e-3, 5e-324]
    groups = [group([5, NONE - 1, 9], [NONE, 5, NONE - 1], [move(1e7, 0.1, -3), far, scenes.IDENTITY],
                    [0, FLAG["ghosted"], FLAG["section_exempt"]], ["top", "", "ä/\\/\n\"deep"])]
    rows = 12
    ids = [NONE, 0, 1 << 63, 7, 6, 5, 4, 3, 2, 1, 100, 50]
    names = [f"object {i}".encode() if i % 3 else b"" for i in range(rows)]
    meshes = [0, 1, 2, NONE, 0, 0, NONE - 1, 77, NONE, 0, 1, 2]
    add = {
        "k": "object_add", "ids": pack("Q", ids), "meshes": pack("Q", meshes),
        "groups": pack("Q", [NONE, 5, NONE - 1, 9] * 3),
        "transforms": pack("d", [x for i in range(rows) for x in (far if i % 4 == 3 else scale(-1, 1, 1 + i) if i % 2 else turn((1, 2, 3), i))]),
        "flags": pack("I", [1 << i if i < 11 else 0 for i in range(rows)]),
        "layers": pack("I", [0xFFFFFFFF, 0, 1, 1 << 31] * 3),
        "margins": pack("f", [0, 0.1, 4095, 1 / 3] * 3),
        "costs": pack("d", [12, 2, 0, 0.1] * 3),
        "batch_keys": pack("I", [0, 1, 0xFFFFFFFF] * 4),
        "draws": pack("I", [x for i in range(rows) for x in ([i, 1, 2, 3, 0xFFFFFFFF] if i % 2 else [0] * 5)]),
        "names": b"".join(names), "name_offsets": pack("I", [sum(map(len, names[:i])) for i in range(rows + 1)]),
    }
    boxed = [4, 5, 7, 2, 3]
    client.batch(scene, s.mesh_items() + [empty, unseen] + groups + [add, {
        "k": "object_set", "ids": pack("Q", boxed),
        "boxes": pack("d", [-1, -2, -3, 1, 2, 3, 0, 0, 0, 0, 0, 0, -5, -5, -5, -4, -4, -4] + [-1e30] * 3 + [1e30] * 3 + [-0.5] * 3 + [0.5] * 3)}])
    # Objects, groups and meshes that come and go leave slots that are not in the order of arrival; a parent behind its child.
    client.batch(scene, [{"k": "object_remove", "ids": pack("Q", [0, 6])}, {"k": "mesh_put", "mesh": 1 << 40, **mesh_of(plate)},
                         group([4], [NONE], [move(1, 2, 3)], [FLAG["hidden"]], ["late"]), group([5], [4], [far], [0], ["under late"])])
    client.batch(scene, [{"k": "object_add", "ids": pack("Q", [1000, 999]), "meshes": pack("Q", [1 << 40] * 2)}])
    return scene


def mesh_of(mesh):
    return {"positions": pack("f", mesh.positions), "indices": pack("I", mesh.indices), "parts": pack("I", [x for p in mesh.parts for x in p])}


def rows_of(client, scene):
    """All that the wire tells of a scene, but for its revision."""
    told = []
    for kind, columns in (("objects", 0x3F), ("groups", 0x9), ("meshes", None)):
        reply = client.request(kind, scene=scene, first=0, count=1000, **({} if columns is None else {"columns": columns}))
        told.append({key: value for key, value in reply.items() if key not in ("n", "revision")})
    for mesh in unpack("Q", told[2]["meshes"]):
        told.append({key: value for key, value in client.request("mesh_get", scene=scene, mesh=mesh).items() if key != "n"})
    row = client.scene_row(scene)
    told.append({key: row[key] for key in ("metres_per_unit", "objects", "groups", "meshes", "triangles", "min", "max", "ids32") if key in row})
    return told


def scene_number(client, name):
    return client.request("scene_info", name=name)["row"]["scene"]


def test_export_everything(t):
    t.daemon()
    client = t.client()
    scene = everything(client)
    path = there_and_back(t, "all")
    one, two = rows_of(client, scene), rows_of(client, scene_number(client, "all-copy"))
    for a, b in zip(one, two, strict=True):
        assert a == b, {key: (a[key], b.get(key)) for key in a if a[key] != b.get(key)}
    gltf = gltf_of(path)
    assert len(gltf["nodes"]) == 12 + 4, "each object and group is a node"
    shown = sum("mesh" in node for node in gltf["nodes"])
    assert last_line(t.visctl("load", path, "--scene", "loaded"))["objects"] == shown > 1
    # Above ids that are there; each of its ids moved by the base.
    done = t.visctl("scene", "import", "all", path, "--id-base", 1 << 20, check=False)
    assert done.returncode == 1 and "past 64 bits" in done.stderr, done.stderr
    small = f"{t.tmp}/small.glb"
    t.visctl("generate", "grid", "--scene", "small", "--objects", 27)
    t.visctl("scene", "export", "small", "--out", small)
    done = t.visctl("scene", "import", "all", small, "--id-base", 2000, check=False)
    assert done.returncode == 1 and "0.001 m" in done.stderr, done.stderr
    t.visctl("scene", "import", "small", small, "--id-base", 2000)
    ids = client.object_ids(scene_number(client, "small"))
    assert sorted(ids) == sorted([i for i in ids if i < 2000] + [i + 2000 for i in ids if i < 2000])
test_export_everything.modes = ("plain", "asan")


def test_export_many_groups(t):
    """More than go into one item, the first of them below the last."""
    t.daemon()
    client = t.client()
    scene = client.scene_create("deep")
    count = 3000
    client.batch(scene, [{"k": "group_put", "groups": pack("Q", range(count)), "parents": pack("Q", [NONE] + [i // 2 for i in range(count - 1)])}])
    client.batch(scene, [{"k": "group_put", "groups": pack("Q", [count]), "flags": pack("I", [FLAG["xray"]])},
                         {"k": "group_put", "groups": pack("Q", [0]), "parents": pack("Q", [count])}])
    there_and_back(t, "deep")


def test_export_empty_scene(t):
    t.daemon()
    t.client().scene_create("none", metres_per_unit=25.4)
    there_and_back(t, "none")
    assert json.loads(t.visctl("scene", "info", "none-copy", "--json").stdout)["metres_per_unit"] == 25.4


def digest(data):
    """Of a file: words of eight bytes, each mixed in by splitmix64, then the length."""
    def mix(x):
        x = (x + 0x9E3779B97F4A7C15) & NONE
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & NONE
        x = (x ^ x >> 27) * 0x94D049BB133111EB & NONE
        return x ^ x >> 31
    total = 0
    for word in struct.unpack(f"<{(len(data) + 7) // 8}Q", bytes(data) + b"\0" * (-len(data) % 8)):
        total = mix(total ^ word)
    return mix(total ^ len(data))


def names_bytes(data):
    head = data.rindex(b"visdscn\0")
    return struct.unpack_from("<Q", data, head + 48)[0]


def test_import_refuses(t):
    """By name, in one line, and no scene is made or changed."""
    t.daemon()
    client = t.client()
    t.visctl("generate", "office", "--scene", "o", "--objects", 200)
    path = f"{t.tmp}/o.glb"
    t.visctl("scene", "export", "o", "--out", path)
    good = open(path, "rb").read()
    before = rows_of(client, scene_number(client, "o"))

    def refused(what, data, says, scene="new"):
        bad = f"{t.tmp}/bad.glb"
        if data is not None:
            with open(bad, "wb") as file:
                file.write(data)
        done = t.visctl("scene", "import", scene, bad if data is not None else what, check=False)
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, f"{what}: {done.returncode} {done.stderr!r}"
        assert re.search(says, done.stderr), f"{what}: {done.stderr!r}"
        assert [json.loads(line)["scene"] for line in t.visctl("scene", "ls", "--json").stdout.splitlines()] == ["o"], what

    refused(f"{t.tmp}/missing.glb", None, "No such file")
    refused("/dev/zero", None, "not a plain file")
    refused(t.tmp, None, "not a plain file")
    refused("nothing", b"", "not a GLB")
    refused("text", b"solid cube\n", "not a GLB")
    for size in (8, 100, len(good) // 2, len(good) - 1):
        refused(f"cut at {size}", good[:size], "truncated.*export it again$")
    refused("more", good + b"\0\0\0\0", "damaged.*export it again$")
    for at in (4, 9, 12, 30, len(good) // 3, len(good) // 2, len(good) - 100, len(good) - 1):
        refused(f"byte {at} changed", good[:at] + bytes([good[at] ^ 0x20]) + good[at + 1:], "(damaged|truncated).*export it again$")
    plain = f"{t.tmp}/plain.glb"
    t.visctl("generate", "grid", "--objects", 8, "--out", plain)
    refused(plain, None, "visctl load")
    refused("into one that is not empty", good, "--id-base", scene="o")
    assert rows_of(client, scene_number(client, "o")) == before
    # A file that is whole, and says what the daemon refuses: the scene that was made for it is gone again.
    lying = bytearray(good)
    struct.pack_into("<f", lying, len(good) - 8 - names_bytes(good) - 224 + 188, -1)
    struct.pack_into("<Q", lying, len(good) - 8, digest(lying[:-8]))
    assert digest(good[:-8]) == struct.unpack_from("<Q", good, len(good) - 8)[0]
    refused("a margin below 0", bytes(lying), "margin.*as it was")
    # What a later version may say of an object, and this one does not know.
    lying = bytearray(good)
    at = len(good) - 8 - names_bytes(good) - 224 + 220
    struct.pack_into("<I", lying, at, struct.unpack_from("<I", lying, at)[0] | 0x80)
    struct.pack_into("<Q", lying, len(good) - 8, digest(lying[:-8]))
    refused("given unknown", bytes(lying), "given something.*export it again$")
    # And into one that is there.
    client.batch(client.scene_create("x"), [{"k": "object_add", "ids": pack("Q", [1])}])
    t.visctl("scene", "import", "x", path, "--id-base", 5000)
    done = t.visctl("scene", "import", "x", path, "--id-base", 5000, check=False)
    assert done.returncode == 1 and "5000" in done.stderr and "as it was" in done.stderr, done.stderr
test_import_refuses.modes = ("plain", "asan")


def test_ids_of_another_are_not_taken(t):
    """What is loaded above a base takes no mesh's or group's place, even if somebody puts one there at the last moment."""
    t.daemon()
    client = t.client()
    number = client.scene_create("s")
    client.batch(number, [{"k": "mesh_put", "mesh": 102, "positions": pack("f", [0, 0, 0, 1, 0, 0, 0, 1, 0]), "indices": pack("I", [0, 1, 2])}])
    before = rows_of(client, number)
    path = f"{t.tmp}/o.glb"
    t.visctl("generate", "office", "--out", path, "--objects", 200)
    for command in (("generate", "office", "--scene", "s", "--objects", 200), ("load", path, "--scene", "s")):
        done = t.visctl(*command, "--id-base", 100, check=False)
        assert done.returncode == 1 and "mesh 102 exists already" in done.stderr and "as it was" in done.stderr, done.stderr
        assert rows_of(client, number) == before
    t.visctl("generate", "office", "--scene", "s", "--objects", 200, "--id-base", 103)


def test_two_exports_of_one_file(t):
    """Two programs that write one file at once: each writes all of its own, and the last one stands."""
    daemon = t.daemon()
    for name, count in (("a", 3000), ("b", 2000)):
        t.visctl("generate", "grid", "--scene", name, "--objects", count)
    path = f"{t.tmp}/one.glb"
    for _ in range(6):
        both = [subprocess.Popen([f"{t.build}/bin/visctl", "--connect", daemon.url, "scene", "export", name, "--out", path], stdout=subprocess.DEVNULL)
                for name in "ab"]
        assert [one.wait() for one in both] == [0, 0]
        t.visctl("scene", "import", "c", path)
        t.visctl("scene", "rm", "c")
    assert sorted(name for name in os.listdir(t.tmp) if name.startswith("one.glb")) == ["one.glb"]
    mask = os.umask(0)
    os.umask(mask)
    assert os.stat(path).st_mode & 0o777 == 0o666 & ~mask


def test_export_refuses(t):
    t.daemon()
    t.visctl("generate", "grid", "--scene", "g", "--objects", 8)
    kept = f"{t.tmp}/kept.glb"
    with open(kept, "w") as file:
        file.write("kept")
    before = set(os.listdir(t.tmp))
    for arguments, code, says in ((("scene", "export", "none", "--out", kept), 1, 'no scene "none"'), (("scene", "export", "g"), 2, "--out"),
                                  (("scene", "export", "g", "--out", f"{t.tmp}/no/where.glb"), 1, "No such file"),
                                  (("scene", "export", "g", "--out", f"{t.tmp}/g.GLTF"), 1, "name it .glb"),
                                  (("scene", "export", "g", "--out", "/dev/null"), 1, "not a plain file"), (("scene", "import", "g"), 2, "it takes"),
                                  (("scene", "import", "", kept), 2, "name")):
        done = t.visctl(*arguments, check=False)
        assert done.returncode == code and says in done.stderr and len(done.stderr.splitlines()) == 1, f"{arguments}: {done.returncode} {done.stderr!r}"
    assert open(kept).read() == "kept" and set(os.listdir(t.tmp)) == before, "something was left behind"
    for command in ("export", "import"):
        help = t.visctl("scene", command, "--help").stdout
        assert "Example:" in help and "not supported" not in help


def test_export_large_mesh(t):
    """A mesh near the largest message, read whole; its wire reply too."""
    t.daemon()
    client = t.client()
    count = 2_400_000
    positions = struct.pack("<3f", 1, 2, 3) * count
    indices = struct.pack("<3I", 0, 1, count - 1) * count
    scene = client.scene_create("big")
    client.batch(scene, [{"k": "mesh_put", "mesh": 1, "positions": positions, "indices": indices},
                         {"k": "object_add", "ids": pack("Q", [1]), "meshes": pack("Q", [1])}])
    reply = client.request("mesh_get", scene=scene, mesh=1)
    assert reply["positions"] == positions and reply["indices"] == indices
    assert unpack("I", reply["parts"]) == [0, 3 * count, 0, 0] and reply["deviation"] == 0
    there_and_back(t, "big")
test_export_large_mesh.seconds = 120


def test_meshes_on_the_wire(t):
    t.daemon()
    client = t.client()
    scene = client.scene_create("s")
    many = [{"k": "mesh_put", "mesh": 3 * i, **mesh_of(scenes.cube(1 + i))} for i in range(20)]
    client.batch(scene, many + [{"k": "object_add", "ids": pack("Q", [1, 2, 3]), "meshes": pack("Q", [6, 6, 9])}])
    seen, first, pages = [], 0, 0
    while True:
        page = client.request("meshes", scene=scene, first=first, count=7)
        assert page["revision"] == 1
        rows = unpack("Q", page["meshes"])
        assert unpack("I", page["vertices"]) == [8] * len(rows) and unpack("I", page["triangles"]) == [12] * len(rows)
        assert unpack("I", page["objects"]) == [2 if mesh == 6 else 1 if mesh == 9 else 0 for mesh in rows]
        seen += rows
        pages += 1
        first = page["next"]
        if not first:
            break
    assert seen == [3 * i for i in range(20)] and pages == 3
    for what, name, fields in (("meshes", "not_found", {"scene": 999, "first": 0, "count": 1}), ("meshes", "bad_value", {"scene": scene, "first": 0, "count": 0}),
                               ("mesh_get", "not_found", {"scene": 999, "mesh": 0}), ("mesh_get", "not_found", {"scene": scene, "mesh": 1})):
        try:
            client.request(what, **fields)
        except Refused as refused:
            assert refused.name == name and what in refused.text, refused
        else:
            raise AssertionError(f"{what} {fields} was served")
    assert client.request("meshes", scene=scene, first=4_000_000_000, count=5)["next"] == 0


def test_export_one_revision(t):
    """A scene that never stands still is not exported; once it does, it is."""
    t.daemon()
    client = t.client()
    scene = client.scene_create("s")
    client.batch(scene, [{"k": "mesh_put", "mesh": i, **mesh_of(scenes.cube())} for i in range(500)] +
                 [{"k": "object_add", "ids": pack("Q", range(500)), "meshes": pack("Q", range(500))}])
    stop, changes = threading.Event(), []

    def keep_changing():
        while not stop.is_set():
            client.batch(scene, [{"k": "object_set", "ids": pack("Q", [1]), "margins": pack("f", [len(changes) % 50])}])
            changes.append(1)

    changing = threading.Thread(target=keep_changing)
    changing.start()
    path, before = f"{t.tmp}/s.glb", set(os.listdir(t.tmp))
    try:
        done = t.visctl("scene", "export", "s", "--out", path, check=False)
    finally:
        stop.set()
        changing.join()
    assert done.returncode == 1 and "changed" in done.stderr, f"{done.returncode} {done.stderr!r} {len(changes)} changes"
    assert set(os.listdir(t.tmp)) == before, "something was left behind"
    there_and_back(t, "s")


def test_export_progress(t):
    """On a terminal only."""
    t.daemon()
    t.visctl("generate", "office", "--scene", "o", "--objects", 500)
    ours, theirs = os.openpty()
    command = [f"{t.build}/bin/visctl", "--connect", t.daemons[-1].url, "scene", "export", "o", "--out", f"{t.tmp}/o.glb"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while True:
            piece = os.read(ours, 4096)
            if not piece:
                break
            shown += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    out = process.communicate()[0]
    assert process.returncode == 0 and b"exporting" in shown, shown
    assert json.loads(out)["objects"] == 500
    assert t.visctl("scene", "export", "o", "--out", f"{t.tmp}/o.glb").stderr == ""
