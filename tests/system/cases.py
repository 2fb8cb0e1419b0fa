#!/usr/bin/python3
"""Random scenes, states and cameras, each culled by every method, cold and warm, and held against the ray caster.

    cases.py --build DIR [--tools DIR] [--first SEED] [--out FOLDER] N       N answers, at least; their seeds go up from SEED (0)
    cases.py --build DIR --case FILE                                         one that failed, again

An answer that lacks an id which is robustly seen, or holds one that a coarser method does not, is a failure: it is made smaller while it goes
on failing (fewer objects, no history), and written to FOLDER as a file for --case. The last line counts.
"""

import argparse
import copy
import json
import math
import os
import random
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import scenes
import wire
from daemon import Daemon

METHODS = ("frustum", "hiz", "box", "exact")
CAMERAS = 12
SIZE = (1, 96)


class Place:
    """What Scene.truth wants of a test: a folder, and where the oracle is."""

    def __init__(self, folder, tools):
        self.tmp, self.tools = folder, tools


def draw_scene(seed):
    rng = random.Random(f"scene {seed}")
    scene = scenes.random_scene(seed, rng.choice((3, 8, 20, 60, 150)))
    near_origin = rng.random() < 0.7
    place = [0, 0, 0] if near_origin else [math.floor(rng.uniform(-1e7, 1e7)) for _ in range(3)]
    for row in scene.objects.values():
        if rng.random() < 0.05:
            row["margin"] = rng.uniform(0, 5)
        if rng.random() < 0.03:
            row["flags"] |= scenes.FLAG["pinned"]
        row["transform"] = scenes.multiply(scenes.move(*place), row["transform"])
    if rng.random() < 0.2:
        for mesh in scene.meshes:
            mesh.deviation = rng.uniform(0, 0.02)
    return scene, place


def draw_cameras(seed, place, scene):
    rng = random.Random(f"cameras {seed}")
    cameras = []
    for camera in scenes.random_cameras(seed, CAMERAS, SIZE):
        if rng.random() < 0.3:
            camera["caps"] = True
        if rng.random() < 0.15 and scene.objects:  # the eye inside a box, or on its middle
            row = rng.choice(list(scene.objects.values()))
            eye = [row["transform"][i] - p for i, p in zip((3, 7, 11), place)]
            planes = camera.get("clip_planes")
            camera = scenes.camera(eye, [e + rng.gauss(0, 1) for e in eye], width=camera["width"], height=camera["height"], near=0.001, far=1e3,
                                   fovy=rng.uniform(1, 150))
            if planes:
                camera["clip_planes"] = planes
        cameras.append(moved(camera, place))
    return cameras


def moved(camera, place):
    """The same camera, seen from the scene's new place."""
    camera = dict(camera)
    v = list(camera["view"])
    for row in range(3):
        v[12 + row] -= sum(v[4 * column + row] * place[column] for column in range(3))
    camera["view"] = v
    if camera.get("clip_planes"):
        camera["clip_planes"] = [[a, b, c, d - (a * place[0] + b * place[1] + c * place[2])] for a, b, c, d in camera["clip_planes"]]
    return camera


class Runner:
    def __init__(self, daemon, folder, tools):
        self.client = wire.Client(daemon.url)
        self.place = Place(folder, tools)
        self.names = 0

    def answers(self, scene, cameras, ways):
        """For each camera: {way: ids}. ways: (method, whether each camera is a cut)."""
        self.names += 1
        number = scene.load(self.client, f"case {self.names}")
        views = [self.client.view_open(number, method=method) for method, _ in ways]
        out = []
        for camera in cameras:
            frames = [view.next_frame(camera, fresh=cold) for view, (_, cold) in zip(views, ways)]
            results = {r["view"]: wire.Result(r).check() for r in self.client.request("frames", frames=frames)["results"]}
            out.append({way: results[view.view].set for way, view in zip(ways, views)})
        self.client.request("scene_remove", scene=number)
        return out

    def faults(self, scene, cameras, ways):
        """(camera, way, what is wrong, ids) of all answers."""
        got = self.answers(scene, cameras, ways)
        faults = []
        for i, ((_, robust), lists) in enumerate(zip(scene.truth(self.place, cameras), got)):
            for (method, cold), ids in lists.items():
                missing = robust - ids
                if missing:
                    faults.append((i, (method, cold), "missing", missing))
                coarser = lists.get(("frustum", cold), ids)
                if ids - coarser:
                    faults.append((i, (method, cold), "not in the frustum", ids - coarser))
        return faults

    def shrink(self, scene, cameras, fault):
        """The fault with fewer cameras and objects."""
        index, way, what, _ = fault
        ways = [way] if what == "missing" else [("frustum", way[1]), way]

        def fails(scene, cameras):
            return any(f[2] == what and f[0] == len(cameras) - 1 for f in self.faults(scene, cameras, ways))

        cameras = cameras[:index + 1]
        for fewer in ([cameras[-1]], cameras[-2:]):
            if fails(scene, fewer):
                cameras = fewer
                break
        step = max(1, len(scene.objects) // 2)
        while True:
            before = len(scene.objects)
            for start in range(0, len(scene.objects), step):
                less = copy.copy(scene)
                ids = list(scene.objects)
                less.objects = {id: scene.objects[id] for id in ids[:start] + ids[start + step:]}
                if less.objects and fails(less, cameras):
                    scene = less
            if len(scene.objects) == before and step == 1:
                return scene, cameras, ways
            step = max(1, step // 2)


def write_case(path, scene, cameras, ways, fault):
    with open(path, "w") as file:
        json.dump({"what": f"{fault[2]}: {sorted(fault[3])}", "ways": ways, "cameras": cameras,
                   "meshes": [{"positions": m.positions, "indices": m.indices, "parts": m.parts, "deviation": m.deviation} for m in scene.meshes],
                   "objects": {str(id): row for id, row in scene.objects.items()}}, file)


def read_case(path):
    with open(path) as file:
        case = json.load(file)
    scene = scenes.Scene()
    for m in case["meshes"]:
        scene.mesh(scenes.Mesh(m["positions"], m["indices"], m["parts"], m["deviation"]))
    scene.objects = {int(id): row for id, row in case["objects"].items()}
    return scene, case["cameras"], [tuple(way) for way in case["ways"]]


def run(daemon, folder, tools, first, count, out, say=lambda done: None):
    """(answers, faults told, objects listed by method, seen) over at least so many answers."""
    runner = Runner(daemon, folder, tools)
    ways = [(method, cold) for method in METHODS for cold in (False, True)]
    seed, answers, told = first, 0, []
    while answers < count:
        scene, place = draw_scene(seed)
        cameras = draw_cameras(seed, place, scene)
        faults = runner.faults(scene, cameras, ways)
        if faults:
            small, few, which = runner.shrink(scene, cameras, faults[0])
            path = os.path.join(out, f"case-{seed}.json")
            write_case(path, small, few, which, faults[0])
            told.append(f"seed {seed}, camera {faults[0][0]}, {faults[0][1]}: {faults[0][2]}: {sorted(faults[0][3])[:5]}; {len(small.objects)} objects in {path}")
        answers += len(cameras) * len(ways)
        seed += 1
        say(answers)
    return answers, told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/check")
    parser.add_argument("--tools", help="where the oracle is; default the build")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--out", default=".", metavar="FOLDER")
    parser.add_argument("--case", metavar="FILE")
    parser.add_argument("count", type=int, nargs="?", default=100000, metavar="N")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    tools = os.path.abspath(args.tools or args.build)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="visd-cases-") as folder:
        daemon = Daemon(build, folder)
        try:
            if args.case:
                scene, cameras, ways = read_case(args.case)
                told = [str(fault) for fault in Runner(daemon, folder, tools).faults(scene, cameras, ways)]
                answers = len(cameras) * len(ways)
            else:
                def say(done):
                    if sys.stderr.isatty():
                        print(f"\r{done} of {args.count} answers", end="\r" if done < args.count else "\n", file=sys.stderr, flush=True)
                answers, told = run(daemon, folder, tools, args.first, args.count, args.out, say)
        finally:
            daemon.finish()
    for line in told:
        print(line)
    print(f"{answers} answers, {len(told)} scenes with faults, {time.monotonic() - start:.0f} s")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
