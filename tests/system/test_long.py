"""Nothing grows: memory, descriptors and counters over ten thousand frames, with edits and views coming and going."""

import scenes
from wire import pack


def run_frames(t, frames, settle):
    daemon = t.daemon()
    client = t.client()
    scene = scenes.random_scene(70, 150)
    number = scene.load(client)
    view = client.view_open(number)
    cameras = scenes.random_cameras(70, 8, (40, 90))
    ids = sorted(scene.objects)
    start = None
    for i in range(frames):
        if i % 10 == 0:
            one = ids[i // 10 % len(ids)]
            client.batch(number, [scene.object_item([one], "object_set")])
        if i % 100 == 50:
            other = client.view_open(number)
            other.cull(cameras[i % 8])
            other.close()
        if i % 500 == 250:
            item = scene.object_item(ids[:20])
            client.batch(number, [{"k": "object_remove", "ids": pack("Q", ids[:20])}, item])
            extra = client.scene_create("for a while")
            client.batch(extra, scene.items())
            client.request("scene_remove", scene=extra)
        view.cull(cameras[i % 8])
        if i == settle:
            start = daemon.rss(), daemon.fds(), daemon.threads()
    end = daemon.rss(), daemon.fds(), daemon.threads()
    t.table(f"{frames} frames: {start[0] >> 10} KiB after {settle}, {end[0] >> 10} KiB at the end, {end[1]} descriptors")
    return start, end


def test_ten_thousand_frames(t):
    start, end = run_frames(t, 10000, 2000)
    assert end[0] <= start[0] * 1.02 + (1 << 20), "memory grows"
    assert end[1:] == start[1:], "descriptors or threads grow"
test_ten_thousand_frames.seconds = 180


def test_some_hundred_frames(t):
    run_frames(t, 600, 300)
test_some_hundred_frames.modes = ("validation", "asan", "tsan")
test_some_hundred_frames.seconds = 120
