"""benchmarks/mutation.py: its mutants, the tests it chooses, and trials with known answers."""

from functools import partial
from pathlib import Path

import pytest

from benchmarks import mutation
from benchmarks.mutants import claim_changes, code_changes, mutants, raised

ROOT = Path(__file__).parents[2]
SOURCE = '''"""A file."""

LIMIT = 3


def first(x: int = 0, *, flag: bool = True) -> int:
    """A docstring with 7."""
    if not flag:
        raise ValueError(f"{x + 1} is a message of {x - 1}")
    assert x < 9
    return max(x, -LIMIT) if x <= 2 and flag else sum([x, 1], start=2)
'''
CLAIM = '''
from fractions import Fraction

from rankcheck import Reference, bound, leq
from rankcheck.instances import instances
from rankcheck.linalg import power


@instances
def numbers(source):
    """A number from 1 to 8."""
    x = source.tensor(low=-1.0, high=8.0)
    source.require(x >= 1, "x is at least 1")
    return x


@bound("mine.sharp", Reference("Me", "here"), instances=numbers(), mutants={"2": {"by": 2}})
def test_sharp(x, *, by=1):
    """x² ≤ x·x, which is sharp, and √x ≤ x + 9, which is not."""
    return leq(by * power(x, 2), x * x, where=x < 9), leq(x.sqrt() - 2**-20, x + 9)
'''


def test_the_mutants_of_a_file():
    found = mutants(SOURCE, "a.py", code_changes)
    assert {(one.before, *one.after) for one in found if one.line in (4, 6, 8, 9, 10)} == {
        ("0", "1"),
        ("True", "False"),
        ("not flag", "(flag)"),
        ("raise ValueError(f'{x + 1} is a message of {x - 1}')", "pass"),
    }
    assert {
        ("-LIMIT", "(LIMIT)"),
        ("x <= 2", "(x < 2)"),
        ("x <= 2 and flag", "(x <= 2 or flag)"),
        ("max(x, -LIMIT)", "(min(x, -LIMIT))"),
        ("max(x, -LIMIT)", "(max(x))"),
        ("sum([x, 1], start=2)", "(sum([x, 1]))"),
    } <= {(one.before, *one.after) for one in found if one.line == 11}
    assert [one.line for one in found if one.at_import] == [3, 6, 6]


@pytest.mark.parametrize(("file", "changes"), [
    ("rankcheck/linalg/singular.py", code_changes),
    ("rankcheck/balls/indexing.py", code_changes),
    ("properties/rank/jacobian_bounds_cost.py", claim_changes),
])  # fmt: skip
def test_a_mutant_is_a_program_that_differs_in_one_place(file, changes):
    source = (ROOT / file).read_text(encoding="utf-8")
    found = mutants(source, file, changes)
    assert found
    for one in found[::7]:
        for text in one.texts(source):
            compile(text, file, "exec", dont_inherit=True)
            assert text != source
            assert text.encode()[: one.start] == source.encode()[: one.start]


def test_the_tests_of_a_mutant():
    one = next(one for one in mutants(SOURCE, "a.py", code_changes) if one.line == 11)
    near, far = "tests/room/test_x.py::test_a", "properties/x.py::test_b"
    seconds = {near: 2.0, far: 1.0, "tests/other/test_y.py::test_c": 30.0}
    reach = mutation.Reach(seconds, {"a.py": {11: [*seconds], 9: [far]}})
    assert reach.tests(one, "room", 5.0) == ([near], [far])
    nowhere = mutation.Reach(seconds, {"a.py": {9: [far]}})
    assert nowhere.tests(one, "room", 5.0) == ([], [far])
    assert mutation.Reach(seconds, {}).tests(one, "room", 5.0) == ([near], [])


@pytest.mark.slow
def test_what_is_no_room_is_refused_before_tests_are_measured():
    with pytest.raises(SystemExit, match="'rankcheck/hunt' is neither"):
        mutation.sample("rankcheck/hunt", 1, 0)


@pytest.mark.nightly
def test_a_trial_of_each_mutant_of_a_project_of_two_files(tmp_path):
    source = (
        "def add(a, b):\n    return a + b\n\n\ndef loop(n):\n    while n > 0:\n        n -= 1\n"
    )
    (tmp_path / "tiny.py").write_text(source)
    (tmp_path / "test_tiny.py").write_text(
        "import tiny\n\n\ndef test_add():\n    assert tiny.add(2, 3) == 5\n\n\n"
        "def test_loop():\n    tiny.loop(2)\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:rankcheck\nmarkers = nightly\n")
    tests = ["test_tiny.py::test_add", "test_tiny.py::test_loop"]
    work = [partial(mutation.run_tests, tests)]
    outcomes = {
        one.after[0]: mutation.try_out(one, tmp_path, work, 5.0)
        for one in mutants(source, "tiny.py", code_changes)
        if one.after[0] in ("(a - b)", "(n >= 0)", "n += 1")
    }
    assert outcomes == {"(a - b)": "killed", "(n >= 0)": "survived", "n += 1": "killed"}
    assert (tmp_path / "tiny.py").read_text() == source


@pytest.mark.nightly
def test_a_claim_with_known_answers(tmp_path):
    (tmp_path / "claims.py").write_text(CLAIM)
    outcomes = {
        one.before: mutation.try_out(one, tmp_path, [partial(mutation.verified, "claims.py")], 60.0)
        for one in mutants(CLAIM, "claims.py", claim_changes)
    }
    assert outcomes == {
        "source.require(x >= 1, 'x is at least 1')": "killed",
        "power(x, 2)": "killed",
        "leq(by * power(x, 2), x * x, where=x < 9)": "survived",  # it holds on every instance
        "x.sqrt()": "survived",
    }


def test_an_exponent_of_a_negative_number_keeps_its_sign():
    import torch

    two = torch.tensor(-2.0, dtype=torch.float64)
    for base in (-2.0, two):
        assert float(raised(base, 3, 102)) == pytest.approx(-(2**3.06))
        assert float(raised(base, 2, 102)) == pytest.approx(2**2.04)
