"""visctl as a person uses it: loading, making, looking, editing; what it refuses leaves nothing behind."""

import glob
import json
import os
import stat

FOLDER = "/usr/share/assimp/models/glTF2"
ENGINE = f"{FOLDER}/2CylinderEngine-glTF-Binary/2CylinderEngine.glb"


def last_line(done):
    return json.loads(done.stdout.strip().splitlines()[-1])


def write_cameras(path, cameras):
    with open(path, "w") as file:
        for camera in cameras:
            file.write(json.dumps(camera) + "\n")
    return path


def orbit(t, radius=1000, count=6):
    import math

    import scenes
    cameras = []
    for i in range(count):
        a = 2 * math.pi * i / count
        cameras.append(scenes.camera((radius * math.sin(a), radius / 3, radius * math.cos(a)), (0, 0, 0), width=320, height=200, near=1,
                                     far=10 * radius))
    return write_cameras(f"{t.tmp}/cameras.jsonl", cameras)


def test_engine(t):
    if not os.path.exists(ENGINE):
        t.skip("assimp-testmodels is not installed")
    t.daemon()
    loaded = last_line(t.visctl("load", ENGINE, "--scene", "engine"))
    assert loaded["scene"] == "engine" and loaded["objects"] == 67, loaded
    done = t.visctl("scene", "ls", "--json")
    assert "engine" in done.stdout
    ids = [json.loads(line)["id"] for line in t.visctl("objects", "engine").stdout.splitlines()]
    assert ids == list(range(67)), "ids are places in a depth-first walk"
    cameras = orbit(t)
    for method in ("frustum", "hiz"):
        results = [json.loads(line) for line in t.visctl("cull", "engine", "--cameras", cameras, "--method", method).stdout.splitlines()]
        assert [r["frame"] for r in results] == list(range(6))
        assert all(r["method"] == method for r in results)
        if method == "hiz":
            assert all(0 < len(r["visible"]) < 67 for r in results), [len(r["visible"]) for r in results]
        else:
            assert all(r["grade"] == "frustum" and len(r["visible"]) == 67 for r in results)
    for line in t.visctl("cull", "engine", "--cameras", cameras, "--method", "exact", "--samples").stdout.splitlines():
        row = json.loads(line)
        assert len(row["samples"]) == len(row["visible"]) and row["grade"] == "exact" and sum(row["samples"]) > 100, row
    assert t.visctl("cull", "engine", "--cameras", cameras, "--samples", check=False).returncode == 2
    out = f"{t.tmp}/out.jsonl"
    t.visctl("cull", "engine", "--cameras", cameras, "--method", "hiz", "--fresh", "--out", out)
    assert len(open(out).readlines()) == 6
    t.visctl("set", "engine", 3, 4, "hide")
    seen = {i for line in t.visctl("cull", "engine", "--cameras", cameras, "--method", "frustum").stdout.splitlines()
            for i in json.loads(line)["visible"]}
    assert seen == set(range(67)) - {3, 4}
    t.visctl("set", "engine", 3, 4, "show")
    for what in ("depth", "pyramid", "ids", "boxes"):
        png = f"{t.tmp}/{what}.png"
        t.visctl("snapshot", "engine", "--camera", cameras, "--what", what, "--out", png)
        assert open(png, "rb").read(8) == b"\x89PNG\r\n\x1a\n"
    t.visctl("stats")
    t.visctl("scene", "rm", "engine")
    assert "engine" not in t.visctl("scene", "ls").stdout


def test_load_needs_an_empty_scene(t):
    if not os.path.exists(ENGINE):
        t.skip("assimp-testmodels is not installed")
    t.daemon()
    t.visctl("load", ENGINE, "--scene", "e")
    again = t.visctl("load", ENGINE, "--scene", "e", check=False)
    assert again.returncode == 1 and "--id-base" in again.stderr, again.stderr
    t.visctl("load", ENGINE, "--scene", "e", "--id-base", 1000)
    ids = {json.loads(line)["id"] for line in t.visctl("objects", "e").stdout.splitlines()}
    assert ids == set(range(67)) | set(range(1000, 1067))


def test_files_that_lie(t):
    """Refused by name in one line; no scene is left behind."""
    t.daemon()
    here = os.path.dirname(os.path.abspath(__file__))
    paths = sorted(glob.glob(f"{here}/../fuzz/corpus/gltf/*lies*") + glob.glob(f"{here}/../fuzz/corpus/gltf/c*.glb"))
    for folder in ("IndexOutOfRange", "MissingBin", "RecursiveNodes"):
        paths += sorted(glob.glob(f"{FOLDER}/{folder}/*.gltf"))
    assert len(paths) >= 5
    paths += [f"{t.tmp}/missing.glb", t.tmp, "/dev/null"]
    for path in paths:
        done = t.visctl("load", path, "--scene", "bad", check=False)
        assert done.returncode == 1, f"{path}: exit {done.returncode}: {done.stdout} {done.stderr}"
        said = done.stderr.strip().splitlines()
        assert said and len(said[-1]) > 20, f"{path}: {said}"
    assert "bad" not in t.visctl("scene", "ls").stdout


def test_generated_scenes(t):
    t.daemon()
    for kind in ("office", "city", "mall", "random", "grid"):
        made = []
        for name in (f"{kind}-1", f"{kind}-2"):
            cameras = f"{t.tmp}/{name}.jsonl"
            t.visctl("generate", kind, "--scene", name, "--seed", 5, "--objects", 500, "--cameras", 20, "--cameras-out", cameras)
            assert open(cameras).readline().startswith("{")
            made.append([json.loads(line) for line in t.visctl("objects", name).stdout.splitlines()])
        assert made[0] == made[1] and len(made[0]) >= 100, f"{kind}: {len(made[0])} objects, the same seed gives others"
        results = t.visctl("cull", f"{kind}-1", "--cameras", cameras, "--method", "hiz").stdout.splitlines()
        assert results and all(json.loads(line)["grade"] == "conservative" for line in results)
        out = f"{t.tmp}/{kind}.glb"
        t.visctl("generate", kind, "--seed", 5, "--objects", 500, "--out", out)
        back = last_line(t.visctl("load", out, "--scene", f"{kind}-3"))
        assert back["objects"] == len(made[0]), f"{kind}: {back['objects']} come back of {len(made[0])}"
test_generated_scenes.seconds = 120


def test_usage(t):
    t.daemon()
    for arguments in ((), ("nonsense",), ("load",), ("cull", "s"), ("cull", "s", "--method", "magic", "--cameras", "x")):
        done = t.visctl(*arguments, check=False)
        assert done.returncode in (1, 2) and done.stderr.strip(), f"{arguments}: {done.returncode} {done.stderr!r}"
    done = t.visctl("--help")
    assert "load" in done.stdout and "cull" in done.stdout
    for command in ("load", "generate", "scene ls", "objects", "cull", "set", "snapshot", "stats"):
        help = t.visctl(*command.split(), "--help").stdout
        assert f"visctl {command}" in help and not any(line.endswith(" ") for line in help.splitlines()), command
    done = t.visctl("stats", url=f"ipc://{t.tmp}/nobody.sock", check=False)
    assert done.returncode == 1 and "nobody.sock" in done.stderr and len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_refusals_say_what_to_do(t):
    t.daemon()
    cameras, old, other, new = (f"{t.tmp}/{name}" for name in ("c.jsonl", "old.gltf", "other.gltf", "new.gltf"))
    t.visctl("generate", "grid", "--scene", "g", "--objects", 8, "--cameras-out", cameras, "--cameras", 3)
    for path, text in ((old, '{"asset": {"version": "1.0"}}'), (other, "solid cube"), (new, '{"asset": {"version": "2.0"}, "extensionsRequired": ["X"]}')):
        with open(path, "w") as file:
            file.write(text)
    before = t.visctl("objects", "g").stdout
    for arguments, says in ((("set", "g", 5, 99, "hide"), 'no object 99; nothing was changed; visctl objects "g" lists what there is'),
                            (("snapshot", "g", "--camera", cameras, "--frame", 3, "--out", f"{t.tmp}/x.png"), "--frame takes 0 to 2"),
                            (("load", old, "--scene", "z"), "only 2.0; convert it to 2.0; nothing was loaded"),
                            (("load", other, "--scene", "z"), "not glTF; --format names another format; nothing was loaded; repair the file or export it again, as glTF 2.0"),
                            (("load", new, "--scene", "z"), "X is not read; export the file without it; nothing was loaded")):
        done = t.visctl(*arguments, check=False)
        assert done.returncode == 1 and done.stderr.endswith(says + "\n") and len(done.stderr.splitlines()) == 1, f"{arguments}: {done.stderr!r}"
    assert t.visctl("objects", "g").stdout == before


def test_bad_camera_files(t):
    t.daemon()
    t.visctl("generate", "grid", "--scene", "g", "--objects", 27)
    for text in ("{", "[]\n", '{"view": [1], "proj": [1], "width": 5, "height": 5}\n', '{"width": 5}\n'):
        path = f"{t.tmp}/bad.jsonl"
        with open(path, "w") as file:
            file.write(text)
        done = t.visctl("cull", "g", "--cameras", path, "--method", "hiz", check=False)
        assert done.returncode == 1 and "bad.jsonl" in done.stderr, f"{text!r}: {done.returncode} {done.stderr!r}"


def test_places_that_cannot_be_written(t):
    """A pipe or a device is never replaced by a file, and nothing is generated when the cameras have no place."""
    t.daemon()
    pipe = f"{t.tmp}/pipe"
    os.mkfifo(pipe)
    done = t.visctl("generate", "grid", "--objects", 8, "--out", pipe, check=False)
    assert done.returncode == 1 and "pipe" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert stat.S_ISFIFO(os.stat(pipe).st_mode), "the pipe was replaced by a file"
    done = t.visctl("generate", "grid", "--objects", 8, "--out", f"{t.tmp}/x.gltf", check=False)
    assert done.returncode == 1 and "name it .glb" in done.stderr and not os.path.exists(f"{t.tmp}/x.gltf"), done.stderr
    done = t.visctl("generate", "grid", "--objects", 8, "--scene", "g", "--cameras-out", f"{t.tmp}/none/c.jsonl", check=False)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
    assert t.visctl("scene", "ls", "--json").stdout == "", "a scene was made, and the cameras had no place"
    flight, kept = f"{t.tmp}/flight.jsonl", f"{t.tmp}/kept.jsonl"
    with open(kept, "w") as file:
        file.write("kept")
    for path in (flight, kept):
        done = t.visctl("generate", "grid", "--objects", 8, "--out", pipe, "--cameras-out", path, check=False)
        assert done.returncode == 1, "a pipe was written"
    assert not os.path.exists(flight) and open(kept).read() == "kept", "a scene that failed left cameras behind"
    done = t.visctl("scene", "info", "two\nlines\x1b[2J", check=False)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and "\x1b" not in done.stderr, done.stderr
