"""A daemon and views of a scene, for tests that expect lists over sizes, depth conventions and histories."""

from scenes import DOUBLE, Mesh, camera

SIZES = ((1920, 1080), (1919, 1077))


class Bench:
    """A daemon, and a view of a scene; each check runs over sizes and conventions."""

    def __init__(self, t):
        self.t = t
        self.daemon = t.daemon()
        self.client = t.client()
        self.scenes = 0

    def open(self, scene, **fields):
        self.scenes += 1
        self.number = scene.load(self.client, f"scene {self.scenes}")
        self.views = [self.client.view_open(self.number, **fields) for _ in range(2)]

    def lists(self, make=camera, sizes=SIZES, depths=("zero_to_one", "reversed"), **fields):
        """The lists for a camera under each size and convention, cold and then warm."""
        for width, height in sizes:
            for depth in depths:
                view = self.views[0]
                for i in range(3):
                    yield view.cull(make(width=width, height=height, depth=depth, **fields), fresh=i == 0).set

    def expect(self, listed=(), absent=(), what="", **fields):
        for got in self.lists(**fields):
            missing, surplus = set(listed) - got, set(absent) & got
            assert not missing, f"{what}: {sorted(missing)} must be listed"
            assert not surplus, f"{what}: {sorted(surplus)} must be absent"


def rectangle(x0, x1, y0, y1):
    return Mesh([x0, y0, 0, x1, y0, 0, x1, y1, 0, x0, y1, 0], [0, 1, 2, 0, 2, 3], [(0, 6, DOUBLE, 0)])
