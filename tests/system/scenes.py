"""Small scenes and cameras, told once: to the daemon as batch items, and to the oracle as a dump."""

import json
import math
import random
import struct
import subprocess

from wire import DEPTHS, NONE, pack

FLAG = {
    "hidden": 0x1, "see_through": 0x2, "xray": 0x4, "ghosted": 0x8, "helper": 0x10, "occluder_only": 0x20, "pinned": 0x40,
    "unbounded": 0x80, "section_exempt": 0x100, "single_sided": 0x200, "double_sided": 0x400,
}
UNKNOWN, SINGLE, DOUBLE = 0, 1, 2
ALL_LAYERS = 0xFFFFFFFF


# --- matrices: transforms are 3x4 row by row, cameras 4x4 column by column ----------------------------------------------

def multiply(a, b):
    """Of two 3x4 transforms, b first."""
    out = []
    for r in range(3):
        for c in range(4):
            out.append(sum(a[4 * r + k] * b[4 * k + c] for k in range(3)) + (a[4 * r + 3] if c == 3 else 0))
    return out


def move(x, y, z):
    return [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z]


def scale(x, y=None, z=None):
    y, z = x if y is None else y, x if z is None else z
    return [x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0]


def turn(axis, degrees):
    x, y, z = axis
    length = math.sqrt(x * x + y * y + z * z)
    x, y, z = x / length, y / length, z / length
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    t = 1 - c
    return [t * x * x + c, t * x * y - s * z, t * x * z + s * y, 0, t * x * y + s * z, t * y * y + c, t * y * z - s * x, 0,
            t * x * z - s * y, t * y * z + s * x, t * z * z + c, 0]


IDENTITY = move(0, 0, 0)


def look(eye=(0, 0, 0), at=None, yaw=0.0, pitch=0.0, up=(0, 1, 0)):
    """A view matrix: towards a point, or by yaw and pitch in degrees from -Z."""
    if at is None:
        y, p = math.radians(yaw), math.radians(pitch)
        forward = (-math.sin(y) * math.cos(p), math.sin(p), -math.cos(y) * math.cos(p))
        up = (-math.sin(y) * -math.sin(p), math.cos(p), -math.cos(y) * -math.sin(p))
    else:
        forward = tuple(a - e for a, e in zip(at, eye))

    def unit(v):
        length = math.sqrt(sum(x * x for x in v))
        return tuple(x / length for x in v)

    def cross(a, b):
        return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])

    f = unit(forward)
    if abs(sum(a * b for a, b in zip(f, unit(up)))) > 0.999:
        up = (1, 0, 0)
    s = unit(cross(f, up))
    u = cross(s, f)

    def dot(a):
        return -sum(x * y for x, y in zip(a, eye))

    return [s[0], u[0], -f[0], 0, s[1], u[1], -f[1], 0, s[2], u[2], -f[2], 0, dot(s), dot(u), -dot(f), 1]


def frustum(left, right, bottom, top, near, far, depth="zero_to_one"):
    """An off-centre perspective projection; the sides are tangents."""
    if depth == "zero_to_one":
        c, d = far / (near - far), near * far / (near - far)
    elif depth == "neg_one_to_one":
        c, d = (far + near) / (near - far), 2 * near * far / (near - far)
    elif math.isinf(far):
        c, d = 0, near
    else:
        c, d = near / (far - near), near * far / (far - near)
    return [2 / (right - left), 0, 0, 0, 0, 2 / (top - bottom), 0, 0, (right + left) / (right - left), (top + bottom) / (top - bottom), c, -1,
            0, 0, d, 0]


def perspective(fovy=60, aspect=16 / 9, near=0.1, far=1000.0, depth="zero_to_one"):
    t = math.tan(math.radians(fovy) / 2)
    return frustum(-t * aspect, t * aspect, -t, t, near, far, depth)


def ortho(height, aspect, near, far, depth="zero_to_one"):
    w, h = 2 / (height * aspect), 2 / height
    c = {"zero_to_one": 1 / (near - far), "reversed": 1 / (far - near), "neg_one_to_one": 2 / (near - far)}[depth]
    d = {"zero_to_one": near / (near - far), "reversed": far / (far - near), "neg_one_to_one": (far + near) / (near - far)}[depth]
    return [w, 0, 0, 0, 0, h, 0, 0, 0, 0, c, 0, 0, 0, d, 1]


def camera(eye=(0, 0, 0), at=None, yaw=0.0, pitch=0.0, width=1920, height=1080, fovy=60, near=0.1, far=1000.0, depth="zero_to_one",
           ortho_height=None, **more):
    if ortho_height is not None:
        proj = ortho(ortho_height, width / height, near, far, depth)
    else:
        proj = perspective(fovy, width / height, near, far, depth)
    return {"view": look(eye, at, yaw, pitch), "proj": proj, "width": width, "height": height, "depth": depth, **more}


# --- meshes ------------------------------------------------------------------------------------------------------------

class Mesh:
    def __init__(self, positions, indices, parts=None, deviation=None):
        self.positions, self.indices = list(positions), list(indices)
        self.parts = parts
        self.deviation = deviation
        self.known_box = None

    def box(self):
        if self.known_box is None:
            axes = [self.positions[a::3] for a in range(3)]
            self.known_box = [min(a) for a in axes] + [max(a) for a in axes]
        return self.known_box


def cube(size=1.0, sides=UNKNOWN, see_through=0):
    x, y, z = (s / 2 for s in (size if isinstance(size, (tuple, list)) else (size, size, size)))
    p = [c for i in range(8) for c in (x if i & 1 else -x, y if i & 2 else -y, z if i & 4 else -z)]
    quads = [(1, 3, 7, 5), (0, 4, 6, 2), (2, 6, 7, 3), (0, 1, 5, 4), (4, 5, 7, 6), (0, 2, 3, 1)]
    indices = [i for a, b, c, d in quads for i in (a, b, c, a, c, d)]
    return Mesh(p, indices, [(0, len(indices), sides, see_through)])


def plate(width=1.0, height=1.0, sides=UNKNOWN, see_through=0):
    """In the plane z = 0, its front towards +Z."""
    x, y = width / 2, height / 2
    return Mesh([-x, -y, 0, x, -y, 0, x, y, 0, -x, y, 0], [0, 1, 2, 0, 2, 3], [(0, 6, sides, see_through)])


def sphere(radius=0.5, steps=8, sides=SINGLE):
    p, indices = [], []
    for i in range(steps + 1):
        a = math.pi * i / steps
        for j in range(2 * steps):
            b = math.pi * j / steps
            p += [radius * math.sin(a) * math.cos(b), radius * math.cos(a), radius * math.sin(a) * math.sin(b)]
    for i in range(steps):
        for j in range(2 * steps):
            a, b = i * 2 * steps + j, i * 2 * steps + (j + 1) % (2 * steps)
            c, d = a + 2 * steps, b + 2 * steps
            indices += [a, b, d, a, d, c]
    return Mesh(p, indices, [(0, len(indices), sides, 0)])


# --- a scene -----------------------------------------------------------------------------------------------------------

class Scene:
    """Objects by id, with their meshes; all in memory, small."""

    def __init__(self):
        self.meshes = []
        self.objects = {}
        self.next = 0

    def mesh(self, mesh):
        self.meshes.append(mesh)
        return len(self.meshes) - 1

    def add(self, mesh=None, transform=None, id=None, flags=(), layers=ALL_LAYERS, box=None, margin=0.0):
        """Adds an object: a mesh may be a Mesh or the number of one; without a mesh it needs a box, or is unbounded."""
        id = self.next if id is None else id
        self.next = max(self.next, id + 1)
        if isinstance(mesh, Mesh):
            mesh = self.mesh(mesh)
        bits = 0
        for flag in [flags] if isinstance(flags, str) else flags:
            bits |= FLAG[flag]
        self.objects[id] = {"mesh": mesh, "transform": list(transform or IDENTITY), "flags": bits, "layers": layers, "box": box,
                            "margin": margin}
        return id

    # to the daemon

    def mesh_items(self):
        items = []
        for number, mesh in enumerate(self.meshes):
            item = {"k": "mesh_put", "mesh": number, "positions": pack("f", mesh.positions), "indices": pack("I", mesh.indices)}
            if mesh.parts:
                item["parts"] = pack("I", [x for part in mesh.parts for x in part])
            if mesh.deviation:
                item["deviation"] = float(mesh.deviation)
            items.append(item)
        return items

    def object_item(self, ids=None, kind="object_add"):
        ids = list(self.objects) if ids is None else list(ids)
        rows = [self.objects[i] for i in ids]
        item = {
            "k": kind,
            "ids": pack("Q", ids),
            "transforms": pack("d", [x for row in rows for x in row["transform"]]),
            "flags": pack("I", [row["flags"] for row in rows]),
            "layers": pack("I", [row["layers"] for row in rows]),
            "meshes": pack("Q", [NONE if row["mesh"] is None else row["mesh"] for row in rows]),
        }
        if any(row["margin"] for row in rows):
            item["margins"] = pack("f", [row["margin"] for row in rows])
        boxes = []
        for row in rows:
            boxes += row["box"] or (self.meshes[row["mesh"]].box() if row["mesh"] is not None else [-1e30] * 3 + [1e30] * 3)
        item["boxes"] = pack("d", boxes)
        return item

    def items(self):
        return self.mesh_items() + ([self.object_item()] if self.objects else [])

    def load(self, client, name="s", **fields):
        scene = client.scene_create(name, **fields)
        client.batch(scene, self.items())
        return scene

    # to the oracle

    def dump(self, path, cameras):
        meshes, numbers, objects = [], {}, []
        for id, row in self.objects.items():
            if row["mesh"] is None:
                continue
            sides = SINGLE if row["flags"] & FLAG["single_sided"] else DOUBLE if row["flags"] & FLAG["double_sided"] else UNKNOWN
            key = (row["mesh"], sides)
            if key not in numbers:
                numbers[key] = len(meshes)
                mesh = self.meshes[row["mesh"]]
                parts = mesh.parts or [(0, len(mesh.indices), UNKNOWN, 0)]
                parts = [(first, count, own or sides, clear) for first, count, own, clear in parts]
                meshes.append(struct.pack("<III", len(mesh.positions) // 3, len(mesh.indices), len(parts)) + pack("f", mesh.positions)
                              + pack("I", mesh.indices) + pack("I", [x for part in parts for x in part]))
            clear = FLAG["see_through"] | FLAG["xray"] | FLAG["ghosted"] | FLAG["helper"]
            role = (2 if row["flags"] & FLAG["hidden"] else 3 if row["flags"] & FLAG["occluder_only"] else
                    1 if row["flags"] & clear else 0)
            exempt = 1 if row["flags"] & FLAG["section_exempt"] else 0
            objects.append(struct.pack("<QIIII", id, numbers[key], role, row["layers"], exempt) + pack("d", row["transform"]))
        with open(path, "wb") as file:
            file.write(struct.pack("<IIII", 0x43524F56, len(meshes), len(objects), len(cameras)))
            file.writelines(meshes + objects)
            for c in cameras:
                planes = c.get("clip_planes") or []
                file.write(pack("d", c["view"]) + pack("d", c["proj"]))
                file.write(struct.pack("<IIIIIIII", c["width"], c["height"], DEPTHS[c.get("depth", "zero_to_one")],
                                       c.get("y", "up") == "down", c.get("samples", 1), c.get("layers", ALL_LAYERS), len(planes), 0))
                file.write(pack("d", [x for plane in planes for x in plane]))

    def truth(self, t, cameras):
        """For each camera: ({id: samples}, {robust ids}), by the oracle."""
        path = f"{t.tmp}/oracle.dump"
        self.dump(path, cameras)
        done = subprocess.run([f"{t.tools}/bin/oracle", path], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        out = []
        for line in done.stdout.splitlines():
            row = json.loads(line)
            out.append(({int(k): v for k, v in row["visible"].items()}, set(row["robust"])))
        return out


def random_scene(seed, objects=200):
    """Boxes, spheres and plates of all sizes, mirrored and stretched, of all kinds of sides, some that hide nothing."""
    rng = random.Random(seed)
    scene = Scene()
    meshes = [scene.mesh(m) for m in (cube(1, SINGLE), cube(1, DOUBLE), cube(1), sphere(0.5, 6), sphere(0.5, 5, UNKNOWN), plate(1, 1, DOUBLE),
                                      plate(1, 1, SINGLE), plate(1, 1), cube(1, DOUBLE, 1))]
    for _ in range(objects):
        size = math.exp(rng.uniform(math.log(0.05), math.log(8)))
        stretch = [size * rng.choice((0.02, 0.3, 1, 1)) * rng.choice((1, 1, 1, -1)) for _ in range(3)]
        place = [rng.uniform(-10, 10) for _ in range(3)]
        axis = [rng.gauss(0, 1) for _ in range(3)]
        transform = multiply(move(*place), multiply(turn(axis, rng.uniform(0, 360)), scale(*stretch)))
        flags = rng.choice([()] * 12 + ["see_through", "xray", "ghosted", "helper", "hidden", "occluder_only", "section_exempt",
                                        "single_sided", "double_sided"])
        scene.add(rng.choice(meshes), transform, id=rng.getrandbits(31) << 4 | len(scene.objects) & 15, flags=flags,
                  layers=rng.choice((ALL_LAYERS, ALL_LAYERS, 1, 2)))
    return scene


def random_cameras(seed, count, size=(40, 200)):
    rng = random.Random(seed)
    out = []
    for _ in range(count):
        width, height = rng.randint(*size), rng.randint(*size)
        depth = rng.choice(("zero_to_one", "reversed", "neg_one_to_one"))
        eye = [rng.uniform(-14, 14) for _ in range(3)]
        c = camera(eye, [rng.uniform(-3, 3) for _ in range(3)], width=width, height=height, depth=depth,
                   fovy=rng.uniform(20, 100), near=math.exp(rng.uniform(math.log(0.001), math.log(3))),
                   far=math.inf if depth == "reversed" and rng.random() < 0.5 else rng.uniform(15, 300))
        if rng.random() < 0.25:
            c = camera(eye, [0, 0, 0], width=width, height=height, depth=depth, ortho_height=rng.uniform(2, 25), near=rng.uniform(-20, 1),
                       far=rng.uniform(15, 60))
        if rng.random() < 0.3:
            c["clip_planes"] = [[*(rng.gauss(0, 1) for _ in range(3)), rng.uniform(-5, 8)] for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.2:
            c["samples"] = rng.choice((2, 4, 8))
        if rng.random() < 0.2:
            c["y"] = "down"
        if rng.random() < 0.2:
            c["layers"] = rng.choice((1, 2, 3))
        out.append(c)
    return out


def flight(low, high, frames, width, height):
    """A flight about a box: two thirds of the way round, rising and falling, the rest straight through the middle."""
    centre = [(a + b) / 2 for a, b in zip(low, high)]
    radius = math.dist(low, high) / 2
    out, around = [], frames * 2 // 3
    for i in range(frames):
        if i < around:
            turned = 2 * math.pi * i / around
            distance = radius * (1.7 + 0.5 * math.cos(2 * turned))
            eye = [centre[0] + distance * math.sin(turned), centre[1] + distance * (0.35 + 0.3 * math.sin(turned)),
                   centre[2] + distance * math.cos(turned)]
            at = centre
        else:
            along = (i - around) / (frames - around)
            eye = [centre[0] + radius * (1.6 - 2.6 * along), centre[1] + radius * 0.15 * (1 - along), centre[2] + radius * 0.1]
            at = [eye[0] - radius, centre[1] - radius * 0.1, centre[2]]
        out.append(camera(eye, at, width=width, height=height, near=radius / 1000, far=radius * 10))
    return out
