"""benchmarks/mutation.py: its mutants, its sample, and a trial on a project of two files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = '''"""A file."""
from typing import TYPE_CHECKING

LIMIT = 3


def first(x: int = 0, *, flag: bool = True) -> int:
    """A docstring with 7."""
    if not flag:
        raise ValueError(f"{x + 1} is a message of {x - 1}")
    assert x < 9
    return max(x, -LIMIT) if x <= 2 and flag else sum([x, 1], start=2)
'''
TRIAL = """
import json, sys
from pathlib import Path
sys.path.insert(0, {benchmarks!r})
from mutating.mutants import mutants
from mutating.trial import Bench
folder = Path({folder!r})
source = (folder / "tiny.py").read_text()
found = {{}}
for mutant in mutants(source, "tiny.py"):
    tests = [["test_tiny.py::test_add"], ["test_tiny.py::test_loop"]]
    outcome = Bench(folder).try_out("tiny.py", mutant.apply(source), tests, 20.0)
    found[f"{{mutant.operator}} {{mutant.function}}"] = [outcome.status, outcome.by]
assert (folder / "tiny.py").read_text() == source
print(json.dumps(found))
"""


@pytest.fixture
def mutation(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import mutation  # type: ignore[import-not-found,unused-ignore]

    return mutation


def test_the_mutants_of_a_file(mutation):
    found = mutation.mutants(SOURCE, "a.py")
    changes = {(one.operator, one.before, one.after) for one in found}
    assert {
        ("constant", "3", "4"),
        ("constant", "0", "1"),
        ("constant", "True", "False"),
        ("sign or not removed", "not flag", "(flag)"),
        ("sign or not removed", "-LIMIT", "(LIMIT)"),
        ("comparison", "x <= 2", "(x < 2)"),
        ("boolean", "x <= 2 and flag", "(x <= 2 or flag)"),
        ("call replaced", "max(x, -LIMIT)", "(min(x, -LIMIT))"),
        ("argument removed", "max(x, -LIMIT)", "(max(x))"),
        ("argument removed", "sum([x, 1], start=2)", "(sum([x, 1]))"),
    } <= changes
    assert {one.line for one in found} == {4, 7, 9, 10, 12}  # no message, assert or docstring
    assert {one.operator for one in found if one.line == 10} == {"raise removed"}
    assert [one.at_import for one in found if one.line in (4, 7)] == [True] * 3
    for one in found:
        changed = one.apply(SOURCE)
        assert changed != SOURCE
        compile(changed, "a.py", "exec")
        # Only the line of the change is another.
        pairs = zip(SOURCE.splitlines(), changed.splitlines(), strict=True)
        assert [n for n, (a, b) in enumerate(pairs, 1) if a != b] == [one.line]


def test_the_seed_decides_the_sample(mutation):
    sample = mutation.sample("claims", 20, 5)
    assert sample == mutation.sample("claims", 20, 5)
    assert sample != mutation.sample("claims", 20, 6)
    assert len({one.key for one in sample}) > 15
    assert {one.file.split("/")[1] for one in sample} == {"claims"}


def test_the_equivalent_mutants_exist(mutation):
    """An entry whose line was rewritten is taken out, or written anew."""
    reasons = mutation.equivalents()
    places = {ROOT / key[0] for key in reasons}
    existing = {
        one.key
        for path in places
        for one in mutation.mutants(
            path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
        )
    }
    assert set(reasons) <= existing
    assert all(len(reason) > 20 for reason in reasons.values())


def test_the_tests_of_a_mutant(mutation):
    one = next(one for one in mutation.mutants(SOURCE, "a.py") if one.line == 12)
    near, far = "tests/room/test_x.py::test_a", "properties/x.py::test_b"
    seconds = {near: 2.0, far: 1.0, "tests/other/test_y.py::test_c": 30.0}
    reach = mutation.Reach(seconds, {"a.py": {12: [*seconds], 9: [far]}})
    stages, left_out = mutation.stages(reach, one, "room", 5.0)
    assert (stages, left_out) == ([[near], [far]], 1)
    nowhere = mutation.Reach(seconds, {"a.py": {9: [far]}})
    assert mutation.stages(nowhere, one, "room", 5.0) == ([[], [far]], 0)
    assert mutation.stages(mutation.Reach(seconds, {}), one, "room", 5.0) == ([[near], []], 0)


@pytest.mark.slow
def test_a_trial_of_each_mutant(tmp_path):
    (tmp_path / "tiny.py").write_text(
        "def add(a, b):\n    return a + b\n\n\n"
        "def loop(n):\n    while n > 0:\n        n -= 1\n    return n\n"
    )
    (tmp_path / "test_tiny.py").write_text(
        "import tiny\n\n\n"
        "def test_add():\n    assert tiny.add(2, 3) == 5\n\n\n"
        "def test_loop():\n    assert tiny.loop(2) is not None\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:rankcheck\n")
    text = TRIAL.format(benchmarks=str(ROOT / "benchmarks"), folder=str(tmp_path))
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    add, loop = "test_tiny.py::test_add", "test_tiny.py::test_loop"
    assert found["arithmetic add"] == ["killed", add]
    assert found["returns None loop"] == ["killed", loop]
    assert found["arithmetic loop"][0] == "timeout"
    assert found["comparison loop"] == ["survived", ""]
