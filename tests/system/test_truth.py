"""Generated scenes against the ray caster, through files: visctl writes one, a reader of our own reads it for the oracle, and visctl
bench truth holds the daemon's answers against what the oracle saw."""

import json

import truth

METHODS = ("frustum", "hiz", "box", "exact")
KINDS = {"office": 1500, "city": 201, "mall": 300, "random": 300, "grid": 512}


def make(kind, objects):
    def test(t):
        model, cameras, visible = (f"{t.tmp}/{kind}.{end}" for end in ("glb", "jsonl", "visible.jsonl"))
        t.daemon()
        t.visctl("generate", kind, "--objects", objects, "--out", model, "--cameras-out", cameras, "--cameras", 8, "--size", "320x180")
        t.visctl("load", model, "--scene", kind)
        with open(visible, "w") as file:
            assert truth.truth(f"{t.tools}/bin/oracle", model, cameras, file) == 0
        over = {}
        for method in METHODS:
            for how, more in (("warm", []), ("cold", ["--fresh"])):
                row = json.loads(t.visctl("bench", "truth", kind, "--cameras", cameras, "--truth", visible, "--method", method, "--json", *more).stdout)
                assert row["answers"] == 8 and row["missed"] == 0 and row["all"] == 0, row
                over[method, how] = row["listed_over_exact"]
        t.table(f"{kind}, {objects} objects: listed / exact: " + ", ".join(f"{m} {over[m, 'warm']:.2f}" for m in METHODS) +
                "; cold " + ", ".join(f"{m} {over[m, 'cold']:.2f}" for m in METHODS[1:]))
        for how in ("warm", "cold"):
            surplus = [over[method, how] for method in METHODS]
            assert surplus == sorted(surplus, reverse=True), f"{kind}, {how}: {surplus}: a finer method lists no more"
    test.__name__ = f"test_{kind}"
    test.__module__ = __name__
    test.modes = ("models",)
    test.seconds = 30
    return test


for _kind, _objects in KINDS.items():
    globals()[f"test_{_kind}"] = make(_kind, _objects)


def test_what_is_missing_is_told(t):
    """bench truth itself: it fails, and names what is missing, where the truth has more than the answer."""
    t.daemon()
    t.visctl("generate", "grid", "--objects", 27, "--scene", "s", "--cameras-out", f"{t.tmp}/c", "--cameras", 2)
    t.visctl("cull", "s", "--cameras", f"{t.tmp}/c", "--out", f"{t.tmp}/lists")
    with open(f"{t.tmp}/lists") as file:
        lists = [json.loads(line)["visible"] for line in file]

    def ask(robust, *more, lines=2):
        with open(f"{t.tmp}/truth", "w") as file:
            for i in range(lines):
                file.write(json.dumps({"frame": i, "visible": {str(id): 1 for id in lists[i]}, "robust": lists[i] + (robust if i else [])}) + "\n")
        return t.visctl("bench", "truth", "s", "--cameras", f"{t.tmp}/c", "--truth", f"{t.tmp}/truth", "--json", *more, check=False)

    done = ask([], "--against", f"{t.tmp}/lists")
    row = json.loads(done.stdout)
    assert done.returncode == 0 and row["missed"] == 0 and row["differ"] == 0 and row["listed_over_exact"] == 1, done
    done = ask([1000])
    assert done.returncode == 1 and json.loads(done.stdout)["missed"] == 1 and "1000 at camera 1" in done.stderr, done
    done = ask([], lines=1)
    assert done.returncode == 1 and "ends at line 2" in done.stderr and not done.stdout, done
    with open(f"{t.tmp}/other", "w") as file:
        file.write(json.dumps({"visible": lists[0][1:]}) + "\n" + json.dumps({"visible": lists[1] + [77]}) + "\n")
    row = json.loads(ask([], "--against", f"{t.tmp}/other").stdout)
    assert row["differ"] == 2 and row["differ_seen"] == 1, row
    with open(f"{t.tmp}/truth", "a") as file:
        file.write("\n\n")
    good = open(f"{t.tmp}/truth").read()
    for more, says in (("", ""), ('{"frame": 2, "visible": {}, "robust": []}\n', "no more cameras"), ("x", "no more cameras")):
        with open(f"{t.tmp}/truth", "w") as file:
            file.write(good + more)
        done = t.visctl("bench", "truth", "s", "--cameras", f"{t.tmp}/c", "--truth", f"{t.tmp}/truth", check=False)
        assert (done.returncode == 1) == bool(says) and says in done.stderr, (more, done)
    done = t.visctl("bench", "truth", "s", "--cameras", f"{t.tmp}/c", "--truth", t.tmp, check=False)
    assert done.returncode == 1 and "directory" in done.stderr and len(done.stderr.splitlines()) == 1, done
    for line in ("{", "[]", '{"frame": 1, "visible": {}, "robust": []}', '{"frame": 0.5, "visible": {}, "robust": []}',
                 '{"visible": {"1": -1}, "robust": []}', '{"visible": {"1": 1.5}, "robust": []}', '{"visible": {"1": 99999999999}, "robust": []}',
                 '{"visible": [], "robust": []}', '{"visible": {"x": 1}, "robust": []}', '{"visible": {}, "robust": [-1]}'):
        with open(f"{t.tmp}/truth", "w") as file:
            file.write(line + "\n")
        done = t.visctl("bench", "truth", "s", "--cameras", f"{t.tmp}/c", "--truth", f"{t.tmp}/truth", check=False)
        assert done.returncode == 1 and "line 1" in done.stderr and len(done.stderr.splitlines()) == 1, (line, done)
