#!/usr/bin/python3
"""Makes the bundle: one folder that runs on any x86-64 Linux with a Vulkan loader and driver, and a tarball of it.

    bundle/make.py --build build --oracle build/check/bin/oracle --out build/bundle

Into it go the programs, every shared library that they need, the C library for machines whose own is too old, licences, and truth/: scenes
with cameras, what a ray caster sees in them, and what the software device lists here, for ./check on the other machine."""

import argparse
import glob
import gzip
import itertools
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
MODELS = os.path.join(os.path.dirname(ROOT), "shared", "models")
PROGRAMS = ("visd", "visctl", "visctl-import")
# The C library's own: a machine's driver needs the machine's. They are brought along in a folder of their own, for bin/ to fall back to.
LIBC = ("ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libresolv.so.2")
METHODS = ("hiz", "box", "exact")
LIMIT = 40 << 20  # bytes, of the folder and so of the tarball
GENERATED = {"office": 4000, "city": 201, "mall": 300, "random": 1000, "grid": 3375}  # no more: its survivors must fit the software device's budget, so that lists can agree to the last id
CAMERAS, SIZE = 24, "320x180"


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"bundle: {' '.join(str(word) for word in command)}: {done.stderr.strip() or f'exit status {done.returncode}'}")
    return done.stdout


def say(text):
    print(f"bundle: {text}", file=sys.stderr, flush=True)


# --- programs and libraries ----------------------------------------------------------------------------------------------

def libraries(program):
    """{soname: path} of all that the loader would load."""
    found = {}
    for line in run("ldd", program).splitlines():
        words = line.split()
        if "=>" in words and "not" in words:
            sys.exit(f"bundle: {program} needs {words[0]}, which is not on this machine")
        if len(words) > 2 and words[1] == "=>":
            found[words[0]] = words[2]
    return found


def copy_libraries(build, folder):
    needed = {}
    for program in PROGRAMS:
        shutil.copy2(os.path.join(build, "bin", program), os.path.join(folder, "bin", program))
        needed |= libraries(os.path.join(build, "bin", program))
        run("patchelf", "--set-rpath", "$ORIGIN/../lib", os.path.join(folder, "bin", program))
    libc_folder = os.path.dirname(os.path.realpath(needed["libc.so.6"]))
    for soname in LIBC:
        path = os.path.join(libc_folder, soname)
        shutil.copy(os.path.realpath(path), os.path.join(folder, "lib", "glibc", soname))
    for soname, path in sorted(needed.items()):
        if soname in LIBC:
            continue
        copy = os.path.join(folder, "lib", soname)
        shutil.copy(os.path.realpath(path), copy)
        # Each library finds its own needs beside it, and nothing of what a driver loads looks here.
        run("patchelf", "--set-rpath", "$ORIGIN", copy)
    for file in glob.glob(os.path.join(folder, "bin", "*")) + glob.glob(os.path.join(folder, "lib", "*.so*")):
        run("strip", "--strip-unneeded", file)
    return [os.path.realpath(path) for soname, path in needed.items() if not soname.startswith("libvisd")]


def copy_licences(paths, folder):
    for path in paths:
        # /lib is a link to /usr/lib: the package database knows a file under one of the two names.
        owner = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True, check=False).stdout
        owner = owner or run("dpkg", "-S", path.removeprefix("/usr"))
        package = owner.split(":")[0]
        shutil.copy(f"/usr/share/doc/{package}/copyright", os.path.join(folder, "licenses", package))


# --- truth ---------------------------------------------------------------------------------------------------------------

def generate(visctl, oracle, folder):
    sys.path.insert(0, os.path.join(ROOT, "tests", "system"))
    import truth  # pylint: disable=import-outside-toplevel
    for kind, objects in GENERATED.items():
        say(f"{kind}: casting rays")
        model, cameras = os.path.join(folder, f"{kind}.glb"), os.path.join(folder, f"{kind}.cameras.jsonl")
        run(visctl, "generate", kind, "--objects", objects, "--out", model, "--cameras-out", cameras, "--cameras", CAMERAS, "--size", SIZE)
        with open(os.path.join(folder, f"{kind}.visible.jsonl"), "w", encoding="utf-8") as out:
            if truth.truth(oracle, model, cameras, out) != 0:
                sys.exit(f"bundle: the oracle failed on {kind}")


def copy_models(folder):
    """Handed models, where there are any: NAME.glb with NAME.cameras.jsonl, and perhaps a walk."""
    if not os.path.isdir(MODELS):
        say("no models beside the tree: the bundle's check holds generated scenes only")
        return
    for cameras in sorted(glob.glob(os.path.join(MODELS, "*.cameras.jsonl"))):
        base = cameras.removesuffix(".cameras.jsonl")
        for end in (".glb", ".cameras.jsonl", ".visible.jsonl", ".walk.jsonl", ".walk.visible.jsonl"):
            if os.path.exists(base + end):
                shutil.copyfile(base + end, os.path.join(folder, os.path.basename(base) + end))
    for licence in glob.glob(os.path.join(MODELS, "LICENSE*")):
        shutil.copyfile(licence, os.path.join(folder, os.path.basename(licence)))


def cull_here(build, folder):
    """SET.METHOD.jsonl: what the software device of this machine lists."""
    visd, visctl = (os.path.join(build, "bin", name) for name in PROGRAMS[:2])
    with tempfile.TemporaryDirectory() as place:
        url = f"ipc://{place}/visd.sock"
        with open(os.path.join(place, "log"), "w", encoding="utf-8") as log:
            daemon = subprocess.Popen([visd, "--listen", url, "--device", "cpu"], stderr=log)
        try:
            while subprocess.run([visctl, "--connect", url, "scene", "ls"], capture_output=True, check=False).returncode != 0:
                if daemon.poll() is not None:
                    with open(log.name, encoding="utf-8") as said:
                        sys.exit(f"bundle: the daemon did not start: {said.read().strip()}")
            for model in sorted(glob.glob(os.path.join(folder, "*.glb"))):
                scene = os.path.basename(model).removesuffix(".glb")
                say(f"{scene}: culling")
                run(visctl, "--connect", url, "load", model, "--scene", scene)
                for (cameras, set_), method in itertools.product(((".cameras.jsonl", ""), (".walk.jsonl", ".walk")), METHODS):
                    base = os.path.join(folder, scene)
                    if not os.path.exists(base + cameras):
                        continue
                    answers = run(visctl, "--connect", url, "cull", scene, "--cameras", base + cameras, "--method", method)
                    with open(f"{base}{set_}.{method}.jsonl", "w", encoding="utf-8") as out:
                        for line in answers.splitlines():
                            row = json.loads(line)
                            out.write(json.dumps({"frame": row["frame"], "visible": row["visible"]}, separators=(",", ":")) + "\n")
        finally:
            daemon.terminate()
            daemon.wait()


# -------------------------------------------------------------------------------------------------------------------------

def size_of(folder):
    return sum(os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(folder) for name in names)


def pack(folder, path, when):
    """Equal contents give an equal tarball."""
    def plain(info):
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mtime = when
        return info

    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, when) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(folder, os.path.basename(folder), filter=plain)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--oracle", default=os.path.join(ROOT, "build/check/bin/oracle"))
    parser.add_argument("--out", default=os.path.join(ROOT, "build/bundle"))
    args = parser.parse_args()
    version = run(os.path.join(args.build, "bin", "visctl"), "--version").split()[1]
    folder = os.path.join(args.out, f"visd-{version}-x86_64")
    shutil.rmtree(args.out, ignore_errors=True)
    for name in ("bin", "lib/glibc", "licenses", "truth"):
        os.makedirs(os.path.join(folder, name))
    copy_licences(copy_libraries(args.build, folder), folder)
    for name in PROGRAMS:
        shutil.copy(os.path.join(HERE, "start"), os.path.join(folder, name))
    # visctl looks beside its own executable, which is the loader there where it runs on the bundle's own C library.
    os.symlink("../../visctl-import", os.path.join(folder, "lib", "glibc", "visctl-import"))
    shutil.copy(os.path.join(HERE, "check"), folder)
    shutil.copy(os.path.join(HERE, "README.txt"), folder)
    shutil.copy(os.path.join(ROOT, "LICENSE"), folder)
    generate(os.path.join(args.build, "bin", "visctl"), os.path.abspath(args.oracle), os.path.join(folder, "truth"))
    copy_models(os.path.join(folder, "truth"))
    cull_here(args.build, os.path.join(folder, "truth"))
    bytes_held = size_of(folder)
    if bytes_held > LIMIT:
        sys.exit(f"bundle: {folder} holds {bytes_held >> 20} MiB, more than {LIMIT >> 20}")
    when = int(run("git", "-C", ROOT, "log", "-1", "--format=%ct") or 0)
    pack(folder, folder + ".tar.gz", when)
    print(json.dumps({"folder": folder, "bytes": bytes_held, "tarball": folder + ".tar.gz", "tarball_bytes": os.path.getsize(folder + ".tar.gz")}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
