#!/usr/bin/python3
"""Measures a daemon of its own, from outside: one JSON object a result.

    bench.py --build DIR [NAME...]       NAME: ping, office, engine, edits, load, hog
"""

import argparse
import glob
import json
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "system"))
sys.dont_write_bytecode = True

import scenes
import wire
from daemon import Daemon


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def visctl(daemon, *arguments):
    subprocess.run([f"{daemon.build}/bin/visctl", "--connect", daemon.url, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def report(name, **figures):
    print(json.dumps({"bench": name, **{k: round(v, 3) if isinstance(v, float) else v for k, v in figures.items()}}), flush=True)


def spread(times):
    """Milliseconds of a list of seconds."""
    return {f"p{int(100 * share)}_ms": 1000 * percentile(times, share) for share in (0.5, 0.95, 0.99)}


def timed(call, count):
    times = []
    for i in range(count):
        start = time.perf_counter()
        call(i)
        times.append(time.perf_counter() - start)
    return times


def bench_ping(daemon):
    """A round trip through loop and worker, from Python."""
    client = wire.Client(daemon.url)
    report("ping", **spread(timed(lambda i: client.request("ping"), 5000)))


def fly(daemon, client, name, scene, cameras):
    row = client.scene_row(scene)
    view = client.view_open(scene)
    stats = []
    times = timed(lambda i: stats.append(view.cull(cameras[i]).stats), len(cameras))
    cuts = []
    cut = timed(lambda i: cuts.append(view.cull(cameras[i * len(cameras) // 20], fresh=True).stats), 20)
    drawn = max(s["triangles_1"] + s["triangles_2"] for s in stats + cuts)
    report(name, objects=row["objects"], triangles=row["triangles"], in_frustum=sum(s["in_frustum"] for s in stats) // len(stats),
           listed=sum(s["listed"] for s in stats) // len(stats), frames=len(times), **spread(times),
           cut_p50_ms=1000 * percentile(cut, 0.5), cut_max_ms=1000 * max(cut),
           triangles_drawn_max=drawn, over_budget_max=max(s["over_budget"] for s in stats + cuts))


def cameras_of(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def bench_office(daemon):
    """The generated office of forty thousand objects, along the flight that comes with it."""
    path = f"{daemon.folder}/office.jsonl"
    visctl(daemon, "generate", "office", "--scene", "office", "--seed", 1, "--cameras-out", path)
    client = wire.Client(daemon.url)
    fly(daemon, client, "office", client.request("scene_info", name="office")["row"]["scene"], cameras_of(path))


def bench_engine(daemon):
    """Debian's engine, from all round."""
    found = glob.glob("/usr/share/assimp/models/glTF2/2CylinderEngine-glTF-Binary/*.glb")
    if not found:
        return report("engine", skipped="assimp-testmodels is not installed")
    visctl(daemon, "load", found[0], "--scene", "engine")
    client = wire.Client(daemon.url)
    row = client.request("scene_info", name="engine")["row"]
    fly(daemon, client, "engine", row["scene"], scenes.flight(wire.unpack("d", row["min"]), wire.unpack("d", row["max"]), 300, 1280, 720))


def bench_load(daemon):
    """Objects with boxes and one mesh, a batch of a hundred thousand at a time."""
    client = wire.Client(daemon.url)
    scene = scenes.Scene()
    mesh = scene.mesh(scenes.cube())
    for i in range(100000):
        scene.add(mesh, scenes.move(i % 100, i // 100 % 100, i // 10000))
    number = client.scene_create("load")
    client.batch(number, scene.mesh_items())
    item, ids = scene.object_item(), list(scene.objects)
    times = []
    for part in range(5):
        item["ids"] = wire.pack("Q", [i + part * len(ids) for i in ids])
        times += timed(lambda i: client.batch(number, [item]), 1)
    row = client.scene_row(number)
    report("load", objects=row["objects"], objects_per_second=int(len(ids) / percentile(times, 0.5)), bytes_host=row["bytes_host"])


def bench_hog(daemon):
    """A million instances of one large mesh, 100 thousand million triangles: answered within the budget, and right."""
    client = wire.Client(daemon.url)
    scene = scenes.Scene()
    mesh = scene.mesh(scenes.sphere(1.0, 224))
    place = random.Random(1)
    number = client.scene_create("hog")
    client.batch(number, scene.mesh_items())
    for part in range(20):
        ids = range(part * 50000, (part + 1) * 50000)
        transforms = [v for _ in ids for v in (1, 0, 0, place.uniform(-300, 300), 0, 1, 0, place.uniform(-300, 300), 0, 0, 1, place.uniform(-600, -5))]
        client.batch(number, [{"k": "object_add", "ids": wire.pack("Q", list(ids)), "meshes": wire.pack("Q", [mesh] * len(ids)),
                               "transforms": wire.pack("d", transforms)}])
    view = client.view_open(number)
    stats = []
    times = timed(lambda i: stats.append(view.cull(scenes.camera((0, 0, 0.1 * i), width=960, height=540)).stats), 6)
    row = client.scene_row(number)
    report("hog", objects=row["objects"], triangles=row["triangles"], in_frustum=stats[-1]["in_frustum"], listed=stats[-1]["listed"],
           triangles_drawn_max=max(s["triangles_1"] + s["triangles_2"] for s in stats), over_budget_max=max(s["over_budget"] for s in stats),
           frames=len(times), max_ms=1000 * max(times))


def bench_edits(daemon):
    """One object moved, committed, and seen to have moved: edit and camera in flight together."""
    client = wire.Client(daemon.url)
    scene = scenes.random_scene(1, 1000)
    number = scene.load(client, "edits")
    view = client.view_open(number)
    camera = scenes.camera((0, 3, 20), (0, 0, 0), width=640, height=360)
    ids = sorted(scene.objects)

    def edit(i):
        client.batch(number, [scene.object_item([ids[i % len(ids)]], "object_set")])
        view.cull(camera)

    report("edits", **spread(timed(edit, 300)))


def main():
    benches = {name[6:]: function for name, function in globals().items() if name.startswith("bench_")}
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(benches))
    args = parser.parse_args()
    for name in args.names or benches:
        if name not in benches:
            parser.error(f"there is no '{name}'; there are {', '.join(benches)}")
    with tempfile.TemporaryDirectory(prefix="visd-bench-") as folder:
        daemon = Daemon(os.path.abspath(args.build), folder, device="auto")
        try:
            for name in args.names or benches:
                benches[name](daemon)
        finally:
            daemon.finish()


if __name__ == "__main__":
    main()
