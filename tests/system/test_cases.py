"""Random scenes, states and cameras by every method, cold and warm, against the ray caster: a few thousand answers of those of cases.py."""

import cases


def test_cases(t):
    daemon = t.daemon()
    answers, told = cases.run(daemon, t.tmp, t.tools, 1000000, 3000, t.tmp)
    assert not told, "; ".join(told)
    t.table(f"{answers} random answers, none lacks what is robustly seen")
test_cases.seconds = 120


def test_cases_few(t):
    """The same, fewer: for the slow modes."""
    daemon = t.daemon()
    told = cases.run(daemon, t.tmp, t.tools, 2000000, 200, t.tmp)[1]
    assert not told, "; ".join(told)
test_cases_few.modes = ("validation", "asan")


def test_a_case_is_made_small(t):
    """What fails is found, made smaller, written down, and fails again from its file."""
    daemon = t.daemon()
    scene, place = cases.draw_scene(5)
    cameras = cases.draw_cameras(5, place, scene)

    class Lacking(cases.Runner):
        def answers(self, scene, cameras, ways):
            """As of a daemon that forgets whatever has the largest id of all that it lists."""
            return [{way: ids - {max(ids, default=0)} for way, ids in lists.items()} for lists in super().answers(scene, cameras, ways)]

    runner = Lacking(daemon, t.tmp, t.tools)
    faults = runner.faults(scene, cameras, [("hiz", False)])
    assert faults
    small, few, ways = runner.shrink(scene, cameras, faults[0])
    assert len(small.objects) < len(scene.objects) and len(few) == 1, (len(small.objects), len(few))
    cases.write_case(f"{t.tmp}/case.json", small, few, ways, faults[0])
    assert runner.faults(*cases.read_case(f"{t.tmp}/case.json"))
    assert not cases.Runner(daemon, t.tmp, t.tools).faults(*cases.read_case(f"{t.tmp}/case.json"))
