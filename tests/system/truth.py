#!/usr/bin/python3
"""What can be seen in a GLB file from cameras, by the oracle: a line of JSON a camera, as oracle.h describes it.

    tests/system/truth.py --oracle build/check/bin/oracle MODEL.glb CAMERAS.jsonl >visible.jsonl

The file is read here by a reader that shares nothing with visctl's, and reads no more than visctl writes: float positions, indices, TRS or
matrix nodes, EXT_mesh_gpu_instancing. An object's id is its place in a depth-first walk, from 0, counting what has a mesh."""

import argparse
import array
import json
import os
import struct
import subprocess
import sys
import tempfile

from scenes import DOUBLE, IDENTITY, SINGLE, Mesh, Scene, multiply

KINDS = {5121: "B", 5123: "H", 5125: "I", 5126: "f"}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


def from_trs(t, r, s):
    x, y, z, w = r
    turn = [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
            2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
            2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]
    return [turn[3 * row + col] * s[col] if col < 3 else t[row] for row in range(3) for col in range(4)]


class File:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        magic, version, _, length, kind = struct.unpack_from("<4sIIII", data)
        assert magic == b"glTF" and version == 2 and kind == 0x4E4F534A, f"{path} is no GLB file"
        self.json = json.loads(data[20:20 + length])
        self.bin = data[28 + length:]

    def numbers(self, accessor):
        a = self.json["accessors"][accessor]
        view = self.json["bufferViews"][a["bufferView"]]
        out = array.array(KINDS[a["componentType"]])
        assert view.get("byteStride", 0) in (0, out.itemsize * WIDTHS[a["type"]]) and not a.get("sparse")
        start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
        out.frombytes(self.bin[start:start + out.itemsize * WIDTHS[a["type"]] * a["count"]])
        return out

    def mesh(self, mesh):
        positions, indices, parts = array.array("f"), array.array("I"), []
        for primitive in mesh["primitives"]:
            assert primitive.get("mode", 4) == 4, "only triangles"
            first, base = len(indices), len(positions) // 3
            positions.extend(self.numbers(primitive["attributes"]["POSITION"]))
            own = self.numbers(primitive["indices"]) if "indices" in primitive else range(len(positions) // 3 - base)
            indices.extend(base + i for i in own)
            material = self.json.get("materials", [{}])[primitive["material"]] if "material" in primitive else {}
            parts.append((first, len(indices) - first, DOUBLE if material.get("doubleSided") else SINGLE,
                          int(material.get("alphaMode", "OPAQUE") != "OPAQUE")))
        return Mesh(positions, indices, parts)

    def places(self, node):
        """The transforms of what a node instances, relative to it."""
        instancing = node.get("extensions", {}).get("EXT_mesh_gpu_instancing")
        if not instancing:
            return [IDENTITY]
        columns = {name: self.numbers(a) for name, a in instancing["attributes"].items()}
        count = max(len(values) // (4 if name == "ROTATION" else 3) for name, values in columns.items())
        t, r, s = (columns.get(name, array.array("f", default * count))
                   for name, default in (("TRANSLATION", [0, 0, 0]), ("ROTATION", [0, 0, 0, 1]), ("SCALE", [1, 1, 1])))
        return [from_trs(t[3 * i:3 * i + 3], r[4 * i:4 * i + 4], s[3 * i:3 * i + 3]) for i in range(count)]


def own_transform(node):
    if "matrix" in node:
        m = node["matrix"]
        return [m[4 * col + row] for row in range(3) for col in range(4)]
    return from_trs(node.get("translation", (0, 0, 0)), node.get("rotation", (0, 0, 0, 1)), node.get("scale", (1, 1, 1)))


def read(path):
    file, scene = File(path), Scene()
    for mesh in file.json["meshes"]:
        scene.mesh(file.mesh(mesh))
    nodes = file.json["nodes"]
    walk = [(number, IDENTITY) for number in reversed(file.json["scenes"][file.json.get("scene", 0)]["nodes"])]
    while walk:
        number, above = walk.pop()
        node = nodes[number]
        here = multiply(above, own_transform(node))
        if "mesh" in node:
            for place in file.places(node):
                scene.add(node["mesh"], multiply(here, place))
        walk += [(child, here) for child in reversed(node.get("children", []))]
    return scene


def truth(oracle, model, cameras, out):
    with open(cameras) as file:
        rows = [json.loads(line) for line in file]
    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, "dump")
        read(model).dump(dump, rows)
        return subprocess.run([oracle, dump], stdout=out, check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", default="build/check/bin/oracle")
    parser.add_argument("model")
    parser.add_argument("cameras")
    args = parser.parse_args()
    return truth(args.oracle, args.model, args.cameras, sys.stdout)


if __name__ == "__main__":
    sys.exit(main())
