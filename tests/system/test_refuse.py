"""Bad input gets a named refusal, nothing changes, and the connection lives on."""

import math
import struct

import msgpack

import scenes
import wire
from wire import NONE, pack


class Watched:
    """A client and a scene whose state is compared before and after."""

    def __init__(self, t):
        self.daemon = t.daemon()
        self.client = t.client()
        scene = scenes.Scene()
        scene.add(scenes.cube(), scenes.move(0, 0, -5), id=10)
        scene.add(scenes.cube(), scenes.move(0, 2, -5), id=11)
        self.scene = scene.load(self.client)
        self.client.batch(self.scene, [{"k": "group_put", "groups": pack("Q", [1, 2, 3]), "parents": pack("Q", [NONE, 1, 2])}])
        self.view = self.client.view_open(self.scene)
        self.state = self.look()

    def look(self):
        return self.client.scene_row(self.scene), self.view.cull(scenes.camera()).ids

    def unchanged(self, what):
        row, ids = self.look()
        for key, value in self.state[0].items():
            assert key in ("bytes_host", "bytes_device") or row[key] == value, f"{what}: {key} was {value}, is {row[key]}"
        assert ids == self.state[1], what

    def refused_bytes(self, what, data, names=("bad_message",)):
        reply = self.client.send_raw_message(data)
        assert reply["t"] == "error", f"{what}: answered {reply}"
        assert reply["name"] in names, f"{what}: {reply['name']}: {reply['text']}"
        assert len(reply["text"]) > 5, f"{what}: {reply}"

    def refused(self, what, kind, names, says=None, **fields):
        try:
            reply = self.client.request(kind, **fields)
        except wire.Refused as refused:
            assert refused.name in names, f"{what}: {refused}"
            assert says is None or says in refused.text, f"{what}: '{says}' is not in: {refused}"
            return refused.reply
        raise AssertionError(f"{what}: accepted: {reply}")

    def refused_items(self, what, items, names=("bad_value",), id=None, item=None):
        try:
            self.client.batch(self.scene, items)
        except wire.Refused as refused:
            assert refused.name in names, f"{what}: {refused}"
            if id is not None:
                assert refused.reply.get("id") == id, f"{what}: names {refused.reply.get('id')}, not {id}: {refused}"
            if item is not None:
                assert refused.reply.get("item") == item, f"{what}: names item {refused.reply.get('item')}, not {item}: {refused}"
            return refused.reply
        raise AssertionError(f"{what}: accepted")


def test_bytes_that_are_no_message(t):
    w = Watched(t)
    good = msgpack.packb({"t": "scene_info", "n": 1, "name": "s"})
    assert w.client.send_raw_message(good)["t"] == "scene"
    for cut in range(len(good)):
        w.refused_bytes(f"cut at {cut}", good[:cut])
    w.refused_bytes("one byte more", good + b"\0")
    w.refused_bytes("two joined", good + good)
    w.refused_bytes("c1", good[:-2] + b"\xc1")
    w.refused_bytes("ext", msgpack.packb({"t": "ping", "n": msgpack.ExtType(5, b"x")}))
    for what, body in (("array32", "ddfffffffe"), ("map32", "dffffffffe"), ("bin32", "c6fffffffe"), ("str32", "dbfffffffe"),
                       ("array32 of 2^28", "dd0fffffff"), ("nested array32", "dd00ffffff" * 31), ("nil", "c0"), ("a number", "05"),
                       ("an array", "9105"), ("an empty map", "80"), ("ext32", "c9ffffffff00")):
        w.refused_bytes(what, bytes.fromhex(body), ("bad_message", "too_big"))
    for depth in (9, 32, 33, 100000):
        w.refused_bytes(f"{depth} arrays", b"\x91" * depth + b"\xc0", ("bad_message", "too_big"))
        w.refused_bytes(f"{depth} maps", b"\x81\0" * depth + b"\xc0", ("bad_message", "too_big"))
    w.refused_bytes("a megabyte of empty arrays", b"\xdd" + struct.pack(">I", 1 << 20) + b"\x90" * (1 << 20), ("bad_message", "too_big"))
    w.unchanged("bytes")


def test_fields_that_are_wrong(t):
    w = Watched(t)
    one = {"t": "scene_info", "n": 1, "name": "s"}

    def body(pairs):
        return bytes([0x80 | len(pairs)]) + b"".join(msgpack.packb(k) + msgpack.packb(v) for k, v in pairs)

    w.refused_bytes("a key twice", body([("t", "scene_info"), ("n", 1), ("name", "s"), ("name", "s")]))
    w.refused_bytes("t twice", body([("t", "ping"), ("t", "ping"), ("n", 1)]))
    w.refused_bytes("no t", msgpack.packb({"n": 1}))
    w.refused_bytes("no n", msgpack.packb({"t": "ping"}))
    w.refused_bytes("t is a number", msgpack.packb({"t": 5, "n": 1}))
    w.refused_bytes("n is negative", msgpack.packb({"t": "ping", "n": -1}))
    w.refused_bytes("n is text", msgpack.packb({"t": "ping", "n": "1"}))
    w.refused_bytes("a number as a key", msgpack.packb({"t": "ping", "n": 1, 5: 5}))
    reply = w.client.send_raw_message(msgpack.packb({"t": "nonsense", "n": 77}))
    assert reply["t"] == "error" and "nonsense" in reply["text"] and reply["n"] == 77, reply
    reply = w.client.send_raw_message(msgpack.packb({"t": "results", "n": 78}))
    assert reply["t"] == "error", "a reply is taken for a request"
    for field, value in (("name", 5), ("name", b"s"), ("name", None), ("scene", "0"), ("scene", 1.0), ("scene", -1), ("scene", 1 << 40),
                         ("surprise", 1)):
        w.refused_bytes(f"{field}={value!r}", msgpack.packb({**one, field: value}, use_bin_type=True), ("bad_message", "bad_value"))
    w.refused_bytes("neither name nor number", msgpack.packb({"t": "scene_info", "n": 1}), ("bad_message", "bad_value"))
    w.refused("too long a name", "scene_create", ("too_big", "bad_value", "bad_message"), name="n" * 256)
    w.refused("an empty name", "scene_create", ("bad_value", "bad_message"), name="")
    w.refused_bytes("not UTF-8", b"\x83\xa1t\xacscene_create\xa1n\x01\xa4name\xa2\xff\xfe", ("bad_message", "bad_value"))
    w.refused_bytes("NUL in a name", msgpack.packb({"t": "scene_create", "n": 1, "name": "a\0b"}), ("bad_message", "bad_value"))
    w.refused("two lines in a name", "scene_create", ("bad_value",), says="control", name="a\nb\x1b[2J")
    for unit in (math.nan, math.inf, 0.0, -1.0):
        w.refused(f"unit {unit}", "scene_create", ("bad_value", "bad_message"), name="u", metres_per_unit=unit)
    w.unchanged("fields")
    assert len(w.client.request("scene_list")["rows"]) == 1


def test_things_that_are_not_there(t):
    w = Watched(t)
    c = w.client
    w.refused("scene", "scene_info", ("not_found",), scene=77)
    w.refused("scene by name", "scene_info", ("not_found",), name="nowhere", says="nowhere")
    w.refused("remove", "scene_remove", ("not_found",), scene=77)
    w.refused("twice", "scene_create", ("exists",), name="s")
    w.refused("objects", "objects", ("not_found",), scene=77, first=0, count=1)
    w.refused("view of no scene", "view_open", ("not_found",), scene=77, client=c.client, key=99)
    w.refused("close no view", "view_close", ("not_found",), view=999)
    w.refused("append to no batch", "batch_append", ("not_found",), batch=99, part=0, items=[])
    try:
        reply = c.request("frames", frames=[{"view": 999, "frame": 1, "camera": wire.camera_map(scenes.camera())}])
        assert reply["results"][0]["err"] == 6, reply
    except wire.Refused as refused:
        assert refused.name == "not_found", refused
    w.refused("no frames", "frames", ("bad_value", "bad_message"), frames=[])
    w.unchanged("not there")


def test_what_comes_later_is_said_so(t):
    w = Watched(t)
    camera = wire.camera_map(scenes.camera())
    for kind, fields in (("explain", {"id": 10}), ("pick", {"x": 5, "y": 5}), ("audit", {"method": 1})):
        w.refused(kind, kind, ("not_supported",), view=w.view.view, camera=camera, **fields)
    for method in ("query", "auto"):
        frame = w.view.next_frame(scenes.camera(), method=method)
        try:
            result = w.client.request("frames", frames=[frame])["results"][0]
            assert result["err"] == 5 or result["degraded"], f"{method}: {result}"
        except wire.Refused as refused:
            assert refused.name == "not_supported" and method in refused.text, refused
    w.unchanged("later")


def test_cameras_that_are_wrong(t):
    w = Watched(t)
    good = wire.camera_map(scenes.camera(width=64, height=64))
    zero = pack("d", [0.0] * 16)

    def with_number(key, at, value):
        numbers = wire.unpack("d", good[key])
        numbers[at] = value
        return pack("d", numbers)

    flat = wire.unpack("d", good["view"])
    flat[0:4] = flat[4:8]
    bad = [("view", zero), ("proj", zero), ("view", pack("d", flat)), ("view", pack("d", [1.0] * 15)), ("proj", b""),
           ("width", 0), ("height", 0), ("width", 16385), ("height", 1 << 31), ("width", -1), ("width", 1.5),
           ("samples", 0), ("samples", 3), ("samples", 16), ("depth", 3), ("y", 2),
           ("clip_planes", pack("d", [0, 0, 0, 1])), ("clip_planes", pack("d", [1, 0, 0, math.nan])), ("clip_planes", pack("d", [1, 0, 0])),
           ("clip_planes", pack("d", [1, 0, 0, 1] * 9)), ("min_pixels", -1.0), ("min_pixels", math.nan), ("min_pixels", math.inf)]
    for key in ("view", "proj"):
        for value in (math.nan, math.inf, -math.inf):
            for at in (0, 5, 10, 12, 15):
                bad.append((key, with_number(key, at, value)))
    for key, value in bad:
        camera = {**good, key: value}
        w.view.frame += 1
        frame = {"view": w.view.view, "frame": w.view.frame, "camera": camera}
        try:
            result = w.client.request("frames", frames=[frame])["results"][0]
        except wire.Refused as refused:
            assert refused.name in ("bad_value", "bad_message", "too_big"), f"{key}={value!r}: {refused}"
        else:
            assert result["err"] in (1, 2, 3), f"{key}={value!r}: {result}"
            assert result.get("text"), result
    for key in ("view", "proj", "width", "height"):
        camera = {k: v for k, v in good.items() if k != key}
        w.refused(f"no {key}", "frames", ("bad_message",), says=key, frames=[{"view": w.view.view, "frame": w.view.frame + 1, "camera": camera}])
    w.unchanged("cameras")


def add(ids, **columns):
    return {"k": "object_add", "ids": pack("Q", ids), **columns}


UNIT = [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]


def boxes(*rows):
    return pack("d", [x for row in rows for x in row])


def test_numbers_that_are_none(t):
    """NaN, infinities and inside-out boxes: the whole batch is refused, and the object is named."""
    w = Watched(t)
    for value in (math.nan, math.inf, -math.inf):
        for at in range(6):
            row = list(UNIT)
            row[at] = value
            w.refused_items(f"box[{at}]={value}", [add([20, 21, 22], boxes=boxes(UNIT, row, UNIT))], id=21)
        for at in range(12):
            transform = list(map(float, scenes.IDENTITY))
            transform[at] = value
            w.refused_items(f"transform[{at}]={value}", [add([20, 21], boxes=boxes(UNIT, UNIT),
                                                            transforms=pack("d", scenes.IDENTITY + transform))], id=21)
        w.refused_items(f"margin {value}", [add([20], boxes=boxes(UNIT), margins=pack("f", [value]))], id=20)
        w.refused_items(f"cost {value}", [add([20], boxes=boxes(UNIT), costs=pack("d", [value]))], id=20)
        w.refused_items(f"set {value}", [{"k": "object_set", "ids": pack("Q", [10]), "boxes": boxes([value] + UNIT[1:])}], id=10)
    w.refused_items("inside out", [add([20], boxes=boxes([1, -1, -1, -1, 1, 1]))], id=20)
    w.refused_items("negative margin", [add([20], boxes=boxes(UNIT), margins=pack("f", [-1.0]))], id=20)
    w.refused_items("negative cost", [add([20], boxes=boxes(UNIT), costs=pack("d", [-1.0]))], id=20)
    w.refused_items("both sides bits", [add([20], boxes=boxes(UNIT), flags=pack("I", [0x600]))], ("bad_value", "bad_message"))
    w.refused_items("unknown flags", [add([20], boxes=boxes(UNIT), flags=pack("I", [1 << 15]))], ("bad_value", "bad_message"))
    w.refused_items("group transform", [{"k": "group_put", "groups": pack("Q", [9]), "transforms": pack("d", [math.nan] * 12)}], id=9)
    w.unchanged("numbers")
    # FAULTS A4 48: a thousand boxes, three of them bad; sent again without them, 997 are in.
    rows = [[i, 0, -9, i + 0.5, 1, -8] for i in range(1000)]
    rows[17][0], rows[400][0], rows[999][3] = math.nan, 1e9, math.inf
    w.refused_items("three of a thousand", [add(range(1000, 2000), boxes=boxes(*rows))], id=1017)
    w.unchanged("three of a thousand")
    keep = [i for i in range(1000) if i not in (17, 400, 999)]
    w.client.batch(w.scene, [add([1000 + i for i in keep], boxes=boxes(*(rows[i] for i in keep)))])
    row = w.client.scene_row(w.scene)
    assert row["objects"] == 2 + 997
    assert all(math.isfinite(x) for key in ("min", "max") for x in wire.unpack("d", row[key]))


def test_ids_that_are_wrong(t):
    w = Watched(t)
    unit = boxes(UNIT)
    w.refused_items("in use", [add([10], boxes=unit)], ("exists", "bad_value"), id=10, item=0)
    w.refused_items("twice in an item", [add([20, 21, 20], boxes=boxes(UNIT, UNIT, UNIT))], ("exists", "bad_value"), id=20)
    w.refused_items("twice in a batch", [add([20], boxes=unit), add([21], boxes=unit), add([20], boxes=unit)], ("exists", "bad_value"),
                    id=20, item=2)
    w.refused_items("set what is not there", [{"k": "object_set", "ids": pack("Q", [99]), "flags": pack("I", [1])}], ("not_found",), id=99)
    w.refused_items("remove what is not there", [{"k": "object_remove", "ids": pack("Q", [99])}], ("not_found",), id=99)
    w.refused_items("remove twice", [{"k": "object_remove", "ids": pack("Q", [10, 10])}], ("not_found", "bad_value"), id=10)
    w.refused_items("no such mesh", [add([20], boxes=unit, meshes=pack("Q", [77]))], ("not_found",), id=20)
    w.refused_items("no such group", [add([20], boxes=unit, groups=pack("Q", [77]))], ("not_found",), id=20)
    w.refused_items("mesh in use", [{"k": "mesh_remove", "meshes": pack("Q", [0])}], ("busy", "conflict", "bad_value"), id=0)
    w.refused_items("no such mesh to remove", [{"k": "mesh_remove", "meshes": pack("Q", [77])}], ("not_found",), id=77)
    w.refused_items("a cycle", [{"k": "group_put", "groups": pack("Q", [1]), "parents": pack("Q", [3])}], ("bad_value", "conflict"), id=1)
    w.refused_items("its own parent", [{"k": "group_put", "groups": pack("Q", [9]), "parents": pack("Q", [9])}],
                    ("bad_value", "conflict", "not_found"), id=9)
    w.refused_items("no such parent", [{"k": "group_put", "groups": pack("Q", [9]), "parents": pack("Q", [77])}], ("not_found", "bad_value"), id=9)
    w.refused_items("children", [{"k": "group_remove", "groups": pack("Q", [2])}], ("busy", "conflict", "bad_value"), id=2)
    w.refused_items("a mesh of no item kind", [{"k": "mesh_putt", "mesh": 1}], ("bad_message", "bad_value"))
    w.refused_items("rows differ", [add([20, 21], boxes=unit)], ("bad_message", "bad_value"))
    w.refused_items("half a row", [add([20], boxes=unit[:-1])], ("bad_message", "bad_value"))
    w.refused_items("names cut short", [add([20], boxes=unit, names=b"abc", name_offsets=pack("I", [0, 4]))], ("bad_message", "bad_value"))
    w.refused_items("names run backwards", [add([20, 21], boxes=boxes(UNIT, UNIT), names=b"abc", name_offsets=pack("I", [0, 3, 2]))],
                    ("bad_message", "bad_value"))
    w.unchanged("ids")
    # What is good before a bad item is not applied either.
    w.refused_items("good then bad", [add([30], boxes=unit), {"k": "object_remove", "ids": pack("Q", [10])},
                                      {"k": "object_remove", "ids": pack("Q", [99])}], ("not_found",), id=99, item=2)
    w.unchanged("good then bad")
    assert sorted(w.client.object_ids(w.scene)) == [10, 11]


def test_meshes_that_lie(t):
    w = Watched(t)
    p, i = pack("f", [0, 0, 0, 1, 0, 0, 0, 1, 0]), pack("I", [0, 1, 2])

    def put(**fields):
        return [{"k": "mesh_put", "mesh": 50, "positions": p, "indices": i, **fields}]

    names = ("bad_value", "bad_message", "too_big")
    w.refused_items("index past the end", put(indices=pack("I", [0, 1, 3])), names)
    w.refused_items("index of all ones", put(indices=pack("I", [0, 1, 0xFFFFFFFF])), names)
    w.refused_items("two indices", put(indices=pack("I", [0, 1])), names)
    w.refused_items("NaN position", put(positions=pack("f", [0, 0, 0, 1, 0, 0, 0, math.nan, 0])), names)
    w.refused_items("infinite position", put(positions=pack("f", [0, 0, 0, math.inf, 0, 0, 0, 1, 0])), names)
    w.refused_items("part past the end", put(parts=pack("I", [0, 6, 0, 0])), names)
    w.refused_items("part that wraps", put(parts=pack("I", [0xFFFFFFFD, 6, 0, 0])), names)
    w.refused_items("part not in threes", put(parts=pack("I", [1, 2, 0, 0])), names)
    w.refused_items("part with strange sides", put(parts=pack("I", [0, 3, 3, 0])), names)
    w.refused_items("part that is half see-through", put(parts=pack("I", [0, 3, 0, 2])), names)
    w.refused_items("negative deviation", put(deviation=-1.0), names)
    w.refused_items("NaN deviation", put(deviation=math.nan), names)
    w.unchanged("meshes")


def test_batches_are_numbered(t):
    w = Watched(t)
    c = w.client
    number = c.number
    first = c.request("batch", scene=w.scene, client=c.client, number=number + 1, items=[add([40], boxes=boxes(UNIT))])
    again = c.request("batch", scene=w.scene, client=c.client, number=number + 1, items=[add([40], boxes=boxes(UNIT))])
    assert (again["number"], again["revision"], again["durable"]) == (first["number"], first["revision"], first["durable"])
    other = t.client(client=c.client)
    assert other.number == number + 1, "hello does not say which batch was the last"
    third = other.request("batch", scene=w.scene, client=c.client, number=number + 1, items=[])
    assert third["revision"] == first["revision"], "a duplicate from another connection is applied again"
    gap = w.refused("a gap", "batch", ("conflict", "bad_value"), scene=w.scene, client=c.client, number=number + 3, items=[])
    assert gap.get("expected") == number + 2, gap
    stale = w.refused("another revision", "batch", ("conflict",), scene=w.scene, client=c.client, number=number + 2, items=[],
                      if_revision=first["revision"] - 1)
    assert stale.get("expected") == first["revision"], stale
    # A duplicate is known by its number before if_revision is looked at.
    c.request("batch", scene=w.scene, client=c.client, number=number + 1, items=[], if_revision=1)
    c.request("batch", scene=w.scene, client=c.client, number=number + 2, items=[], if_revision=first["revision"])
    stranger = wire.Client(w.daemon.url)
    try:
        stranger.request("batch", scene=w.scene, client=c.client, number=number + 3, items=[])
    except wire.Refused as refused:
        assert refused.name == "denied", refused  # its own id was said in hello
    stranger.close()


def test_large_batches(t):
    """Begin, append out of turn, repeat, abort, commit: whole or not at all."""
    w = Watched(t)
    c = w.client

    def begin(number):
        return c.request("batch_begin", scene=w.scene, client=c.client, number=number)["batch"]

    number = c.number + 1
    batch = begin(number)
    c.request("batch_append", batch=batch, part=0, items=[add([60], boxes=boxes(UNIT))])
    c.request("batch_append", batch=batch, part=0, items=[add([60], boxes=boxes(UNIT))])
    w.refused("a part is missing", "batch_append", ("conflict", "bad_value"), batch=batch, part=2, items=[])
    w.unchanged("an open batch")
    c.request("batch_abort", batch=batch)
    w.unchanged("an aborted batch")
    w.refused("append after abort", "batch_append", ("not_found",), batch=batch, part=1, items=[])
    batch = begin(number)
    c.request("batch_append", batch=batch, part=0, items=[add([60], boxes=boxes(UNIT))])
    c.request("batch_append", batch=batch, part=1, items=[{"k": "object_set", "ids": pack("Q", [60]), "flags": pack("I", [1])}])
    w.refused("parts are missing", "batch_commit", ("conflict", "bad_value"), batch=batch, client=c.client, number=number, parts=3)
    done = c.request("batch_commit", batch=batch, client=c.client, number=number, parts=2)
    again = c.request("batch_commit", batch=batch, client=c.client, number=number, parts=2)
    assert done["revision"] == again["revision"]
    assert sorted(c.object_ids(w.scene)) == [10, 11, 60]
    # One that is bad in its second part is refused whole.
    batch = begin(number + 1)
    c.request("batch_append", batch=batch, part=0, items=[add([61], boxes=boxes(UNIT))])
    try:
        c.request("batch_append", batch=batch, part=1, items=[add([61], boxes=boxes(UNIT))])
        c.request("batch_commit", batch=batch, client=c.client, number=number + 1, parts=2)
        raise AssertionError("an id used twice is taken")
    except wire.Refused as refused:
        assert refused.name in ("exists", "bad_value"), refused
        assert refused.reply.get("item") == 1 and refused.reply.get("id") == 61, refused.reply
    assert sorted(c.object_ids(w.scene)) == [10, 11, 60]
    # A client that leaves takes its open batch with it.
    gone = wire.Client(w.daemon.url)
    gone.request("batch_begin", scene=w.scene, client=gone.client, number=1)
    gone.reset()
    c.request("ping")
    assert sorted(c.object_ids(w.scene)) == [10, 11, 60]


def test_other_versions(t):
    daemon = t.daemon()
    client = t.client(hello=False)
    for version in (0, 2, 99):
        try:
            reply = client.request("hello", version=version, client=client.client, name="other")
            assert reply["version"] == 1 and reply["version_min"] <= 1, reply
        except wire.Refused as refused:
            assert refused.name == "version" and str(version) in refused.text and "1" in refused.text, refused
    assert daemon.alive()
