#!/usr/bin/python3
"""Breaks the code on purpose, one way at a time, and sees a named test fail: what no test notices is not tested.

    mutate.py [NAME...]       NAME: a part of a mutation's name; without any, all

Works in a copy of the tree, with a build of its own. Last line: N caught, M not caught.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = "/usr/bin/python3"

# name: (file, what is there, what takes its place, the test that must fail)
MUTATIONS = {
    "list everything": ("shaders/hiz.comp.glsl", "    return !hidden;", "    return true;", "unit/test_cull"),
    "floor for ceil in the pyramid": ("shaders/layout.glsl", "return (size + (1u << level) - 1u) >> level;", "return max(size >> level, 1u);", "unit/test_cull_pyramid"),
    "level from a rounded size": (
        "shaders/hiz.comp.glsl",
        "    while (level + 1u < levels && (((to.x >> level) - (from.x >> level)) >= SIDE || ((to.y >> level) - (from.y >> level)) >= SIDE)) level++;",
        "    level = min(levels - 1u, uint(max(0.0, round(log2(float(max(to.x - from.x, to.y - from.y)) / float(SIDE))))));\n"
        "    to = min(to, from + (uvec2(SIDE) << level) - 1u);", "unit/test_cull_pyramid"),
    "centre tap": ("shaders/hiz.comp.glsl", "    to >>= level;", "    to >>= level;\n    from = (from + to) / 2u;\n    to = from;", "unit/test_cull_pyramid"),
    "last frame's pyramid": ("daemon/cull/recipes.c", "    {VISD_PASS_PYRAMID, step_pyramid},\n    {VISD_PASS_TEST, step_test_rest},", "    {VISD_PASS_TEST, step_test_rest},",
                             "unit/test_pass_frames"),
    "near plane rule dropped": ("shaders/frustum.comp.glsl", "            touches = touches || p.z + e.z >= p.w - e.w || p.w <= 2.0 * e.w;", "", "unit/test_cull_near"),
    "proxies clipped": ("shaders/select.glsl", "return passed && (select_box(marked) ? !cut && (verdict & VERDICT_NEAR) == 0u : !(cut && caps));", "return passed;",
                        "unit/test_cull_near"),
    "winding not flipped": ("shaders/draws.glsl", "(w.d.flags & OBJECT_MIRRORED) != 0u ? -orientation : orientation", "orientation", "unit/test_pass_frames"),
    "sections not clipping occluders": ("shaders/depth_clip.comp.glsl", "((d.flags & OBJECT_SECTION_EXEMPT) != 0u ? 0u : camera.planes)", "0u", "unit/test_pass_frames"),
    "slack dropped": ("shaders/frustum.comp.glsl", "nearest = max(nearest, (p.z + e.z) / max(p.w - e.w, 1.0e-37));", "nearest = max(nearest, p.z / max(p.w, 1.0e-37) * 0.9999);",
                      "unit/test_pass_frames"),
    "generation ignored": ("shaders/frustum.comp.glsl", "history.v[slot] == about.generation", "history.v[slot] != 0u", "unit/test_cull_history"),
    "marks no wider": ("shaders/select_emit.comp.glsl", "d.wide = float(MARK_WIDE) +", "d.wide =", "unit/test_pass_frames"),
    "marks no nearer": ("shaders/raster.glsl", "any = any || raster_passes(t, index, min(value, nearest));", "any = any || raster_passes(t, index, plane * 0.999);",
                        "unit/test_pass_frames"),
    "back faces of unknown sides not seen": ("shaders/draws.glsl", "MODE == RASTER_MARK ? (w.d.flags & OBJECT_SINGLE_SIDED) == 0u : ", "", "unit/test_pass_frames"),
    "marks lost where lists are full": ("shaders/raster.glsl", "        else if (MODE == RASTER_MARK) raster_mark(t, slot, true, 0u); /* nobody will look at it: it counts as seen */\n", "",
                                        "unit/test_pass_overflow"),
}


def run(*command, **more):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)


def fails(tree, build, test):
    """Whether the test fails; None: it could not be tried."""
    done = run("cmake", "--build", build, "-j", os.cpu_count())
    if done.returncode != 0:
        sys.exit(f"mutate: it does not build: {done.stdout[-2000:]}")
    if test.startswith("system/"):
        return run(PYTHON, "tests/system/run.py", "--build", build, test.removeprefix("system/"), cwd=tree).returncode != 0
    return run("ctest", "--test-dir", build, "-R", f"^{test}$", "--timeout", 300).returncode != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    chosen = {name: row for name, row in MUTATIONS.items() if not args.names or any(part in name for part in args.names)}
    if not chosen:
        parser.error("no mutation has such a name")
    caught = 0
    with tempfile.TemporaryDirectory(prefix="visd-mutate-") as folder:
        tree, build = os.path.join(folder, "tree"), os.path.join(folder, "build")
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".git", "__pycache__", "bench-out", "demo-out"))
        made = run("cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release")
        if made.returncode != 0:
            sys.exit(f"mutate: cmake refused: {made.stdout[-2000:]}")
        for test in sorted({row[3] for row in chosen.values()}):
            if fails(tree, build, test):
                sys.exit(f"mutate: {test} fails on the tree as it is")
        for name, (path, old, new, test) in chosen.items():
            path = os.path.join(tree, path)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if text.count(old) != 1:
                sys.exit(f"mutate: {name}: {path} has that text {text.count(old)} times; the table is out of date")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
            good = fails(tree, build, test)
            caught += good
            print(f"{'caught' if good else 'NOT CAUGHT':10} {name}: {test}", flush=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    print(f"{caught} caught, {len(chosen) - caught} not caught")
    return 0 if caught == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
