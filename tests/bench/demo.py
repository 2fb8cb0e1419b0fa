#!/usr/bin/python3
"""Shows what a running daemon saves: loads scenes, flies a camera round and through each, and prints what was culled, how late, and
what each pass takes. Pictures go to a folder. Everything is asked of visctl, as anyone could.

    demo.py --build DIR --out DIR [FILE.glb]      without a file: a real engine and a generated office
"""

import argparse
import json
import math
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "system"))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import private
import scenes

FRAMES = 300
EVERY = 30  # frames of which one is looked at more closely
WIDTH, HEIGHT = 1280, 720
PASSES = ("frustum", "select", "depth", "pyramid", "test", "compact")


def say(text=""):
    print(text, flush=True)


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def flight(low, high):
    """Two thirds of the way round, rising and falling, the rest straight through the middle."""
    centre = [(a + b) / 2 for a, b in zip(low, high)]
    radius = math.dist(low, high) / 2
    out = []
    for i in range(FRAMES):
        if i < FRAMES * 2 // 3:
            turn = 2 * math.pi * i / (FRAMES * 2 // 3)
            distance = radius * (1.7 + 0.5 * math.cos(2 * turn))
            lift = 0.35 + 0.3 * math.sin(turn)
            eye = [centre[0] + distance * math.sin(turn), centre[1] + distance * lift, centre[2] + distance * math.cos(turn)]
            at = centre
        else:
            along = (i - FRAMES * 2 // 3) / (FRAMES // 3)
            eye = [centre[0] + radius * (1.6 - 2.6 * along), centre[1] + radius * 0.15 * (1 - along), centre[2] + radius * 0.1]
            at = [eye[0] - radius, centre[1] - radius * 0.1, centre[2]]
        out.append(scenes.camera(eye, at, width=WIDTH, height=HEIGHT, near=radius / 1000, far=radius * 10))
    return out


def write_lines(path, rows):
    with open(path, "w") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    return path


def read_lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]
