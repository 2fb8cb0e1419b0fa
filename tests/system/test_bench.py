"""bench scale and bench flight: what they say is so, they leave nothing behind, and an interrupted one neither."""

import json
import os
import signal
import subprocess

PASSES = ("frustum", "select", "depth", "pyramid", "test", "mark", "compact")


def scale(t, *options):
    return ["bench", "scale", "--seconds", 0, "--frames", 4, "--sizes", "320x200,64x64", *options]


def test_scale(t):
    t.daemon()
    out = f"{t.tmp}/figures"
    done = t.visctl(*scale(t), "--kinds", "grid", "--objects", "500,2k", "--shares", "1,50", "--share-objects", 1000, "--out", out, "--json")
    *points, model = [json.loads(line) for line in done.stdout.splitlines()]
    assert [json.loads(line) for line in open(f"{out}/scale.jsonl")] == [*points, model], "the file holds what was printed"
    assert [(p["scene"]["kind"], p["scene"]["objects"], p["width"]) for p in points] == [
        ("grid", 500, 320), ("grid", 2000, 320), ("grid", 2000, 64), ("curtain", 1000, 320), ("curtain", 1000, 320)], points
    for p in points:
        assert p["frames"] == 4 and p["degraded"] == 0 and p["pass_times"] == "wall", p
        assert set(p["pass_ms"]) == set(PASSES) and all(0 < p["pass_ms"][name] <= p["passes_ms"] for name in PASSES if name != "mark") and p["pass_ms"]["mark"] == 0, p
        assert 0 < p["p50_ms"] <= p["p95_ms"] <= p["p99_ms"], p
        assert 0 < p["listed"] <= p["in_frustum"] <= p["scene"]["objects"], p
        assert p["listed"] <= p["peers"]["coarse_test"]["listed"], "who looks at fewer texels lists more"
        assert abs(p["peers"]["cpu_frustum"]["listed"] - p["in_frustum"]) <= 0.02 * p["scene"]["objects"], p
        assert p["load"]["wire_bytes"] > 100 and p["load"]["host_bytes"] > 100 and p["load"]["seconds"] > 0, p
        assert p["answer_bytes"] > p["listed"] and p["request_bytes"] > 100, p
        assert p["device"] and p["server"].startswith("visd "), p
    assert [p["listed"] for p in points[3:]] == [10, 500], "the share that is seen is the one that was asked for"
    assert points[1]["scene"]["hash"] == points[2]["scene"]["hash"] and len({p["scene"]["hash"] for p in points}) == 4, "a hash names a scene"
    assert set(model["cost_model_ms"]) == {*PASSES, "the rest"} and model["points"] == 5, model
    assert all(price >= 0 for part in model["cost_model_ms"].values() for price in part.values()), model
    for chart in ("objects-latency", "objects-passes", "sizes-latency", "shares-latency"):
        assert open(f"{out}/{chart}.svg").read().endswith("</svg>\n"), chart
    assert t.visctl("scene", "ls", "--json").stdout.strip() in ("", "[]"), "its scenes are gone"
    said = t.visctl(*scale(t), "--kinds", "city", "--objects", 200, "--shares", "", "--method", "exact").stdout
    assert "the cost model" in said and "peers:" in said, said


def test_flight_names_its_scene(t):
    t.daemon()
    t.visctl("generate", "grid", "--objects", 300, "--scene", "a")
    t.visctl("generate", "grid", "--objects", 300, "--scene", "b", "--id-base", 0)
    t.visctl("generate", "grid", "--objects", 301, "--scene", "c")
    rows = [json.loads(t.visctl("bench", "flight", name, "--count", 4, "--size", "64x64", "--json").stdout) for name in "abc"]
    assert rows[0]["scene_hash"] == rows[1]["scene_hash"] != rows[2]["scene_hash"], rows
    t.visctl("set", "b", 7, "hide")
    changed = json.loads(t.visctl("bench", "flight", "b", "--count", 4, "--size", "64x64", "--json").stdout)
    assert changed["scene_hash"] != rows[1]["scene_hash"]


def test_scale_interrupted(t):
    daemon = t.daemon()
    for number, least in ((signal.SIGINT, 1), (signal.SIGTERM, 0)):
        command = [f"{t.build}/bin/visctl", "--connect", daemon.url, *map(str, scale(t, "--frames", 100000, "--seconds", 1000, "--kinds", "grid")),
                   "--objects", "300,1k", "--shares", "", "--json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        client = t.client()
        while not [row for row in client.request("scene_list")["rows"] if row["objects"] >= least * 300]:
            assert process.poll() is None
        process.send_signal(number)
        said = process.communicate()[1]
        assert process.returncode == 1 and "interrupted" in said and len(said.splitlines()) == 1, (process.returncode, said)
        assert not client.request("scene_list")["rows"], "what it made is gone"


def test_scale_refuses(t):
    t.daemon()
    for options, word in ((("--objects", "1k,many"), "objects"), (("--objects", "50"), "objects"), (("--sizes", "100"), "sizes"),
                          (("--sizes", "20000x10"), "sizes"), (("--sizes", ""), "sizes"), (("--shares", "101"), "shares"), (("--shares", "1,,2"), "shares"),
                          (("--kinds", "castle"), "kinds"), (("--kinds", "curtain"), "kinds"), (("--frames", "2"), "frames"), (("--seconds", "-1"), "seconds"),
                          (("extra",), "takes")):
        done = t.visctl("bench", "scale", *options, check=False)
        assert done.returncode == 2 and word in done.stderr, (options, done.stderr)
    blocked = f"{t.tmp}/file"
    open(blocked, "w").close()
    done = t.visctl("bench", "scale", "--objects", 100, "--out", blocked, check=False)
    assert done.returncode == 1 and blocked in done.stderr and not os.path.getsize(blocked), done.stderr
    assert t.visctl("generate", "grid", "--scene", "g", "--share", 5, check=False).returncode == 2
    assert t.visctl("generate", "curtain", "--scene", "g", "--share", 0, check=False).returncode == 2
    assert t.visctl("scene", "ls", "--json").stdout.strip() in ("", "[]")
