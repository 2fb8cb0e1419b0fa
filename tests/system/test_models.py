"""The handed models, when they are there: every camera of every model and walk, against exact visible sets made without this code.

Each is culled as a person would, with visctl: load, then by each method warm (in order) and cold (--fresh)."""

import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.normpath(os.path.join(HERE, "..", "..", "..", "shared", "models"))
NAMES = ("as1", "delft_city", "duplex", "godot_room", "ldraw_fighter_studs", "ldraw_walker", "lizard_body")
BOUNDS = {"hiz": 2.6, "box": 1.35, "exact": 1.1}  # listed / exact, perspective cameras of a model, summed


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def check(t, name, kind):
    if not os.path.isdir(MODELS):
        t.skip("../shared/models is not there")
    cameras_path = f"{MODELS}/{name}.{'cameras' if kind == 'cameras' else 'walk'}.jsonl"
    truth_path = cameras_path.replace("cameras.jsonl", "visible.jsonl").replace("walk.jsonl", "walk.visible.jsonl")
    cameras, truth = lines(cameras_path), lines(truth_path)
    t.daemon()
    t.visctl("load", f"{MODELS}/{name}.glb", "--scene", name)
    missed, table = [], []
    for method, bound in BOUNDS.items():
        over = {}
        for how, more in (("warm", []), ("cold", ["--fresh"])):
            if kind == "walk" and (method, how) not in (("hiz", "warm"), ("hiz", "cold"), ("exact", "warm")):
                continue  # they are long, and the bundle's check flies them by every method
            out = f"{t.tmp}/{method}-{how}.jsonl"
            t.visctl("cull", name, "--cameras", cameras_path, "--method", method, "--out", out, *more)
            results = lines(out)
            assert len(results) == len(truth), f"{len(results)} answers to {len(truth)} cameras"
            listed = exact = 0
            for camera, expected, got in zip(cameras, truth, results):
                assert got["frame"] == expected["frame"]
                ids = set(got["visible"])
                missing = set(expected["robust"]) - ids
                if missing:
                    missed.append(f"{method} {how} {got['frame']}: {sorted(missing)[:6]}")
                if camera["proj"][11] != 0:  # perspective
                    listed += len(ids)
                    exact += len(expected["visible"])
            over[how] = listed / max(exact, 1)
        if over:
            table.append(f"{method} " + ", ".join(f"{how} {value:.3f}" for how, value in over.items()))
        assert kind != "cameras" or max(over.values()) <= bound, f"{name}, {method}: {max(over.values()):.3f} listed for each seen, more than {bound}"
    t.table(f"{name} {kind}: {len(missed)} of {(6 if kind == 'cameras' else 3) * len(truth)} answers lack something; listed / exact: {'; '.join(table)}")
    assert not missed, f"{name} {kind}: in {len(missed)} answers something is seen and not listed: {'; '.join(missed[:10])}"


def make(name, kind):
    def test(t):
        check(t, name, kind)
    test.__name__ = f"test_{name}_{kind}"
    test.__module__ = __name__
    test.modes = ("models",)
    test.seconds = 240
    return test


for _name in NAMES:
    globals()[f"test_{_name}"] = make(_name, "cameras")
for _name in ("duplex", "ldraw_walker", "lizard_body"):
    globals()[f"test_{_name}_walk"] = make(_name, "walk")


def test_other_files(t):
    """Animated, mirrored and non-indexed files are read, or refused by name."""
    if not os.path.isdir(MODELS):
        t.skip("../shared/models is not there")
    t.daemon()
    stats = json.load(open(f"{MODELS}/stats.json"))
    for folder, _, files in sorted(os.walk(MODELS)):
        for file in sorted(files):
            if not file.endswith((".glb", ".gltf")):
                continue
            path = os.path.join(folder, file)
            name = os.path.relpath(path, MODELS)
            done = t.visctl("load", path, "--scene", name, check=False)
            known = stats.get(name) or stats.get(file)
            if done.returncode == 0:
                last = json.loads(done.stdout.strip().splitlines()[-1])
                if known:
                    assert last["objects"] == known["objects"], f"{name}: {last['objects']} objects, not {known['objects']}"
                    assert last["triangles"] == known["tris"], f"{name}: {last['triangles']} triangles, not {known['tris']}"
            else:
                raise AssertionError(f"{name}: {done.stderr}")
test_other_files.modes = ("models",)
