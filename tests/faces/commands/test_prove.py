"""What `rankcheck prove` prints, writes, leaves and keeps, and what it ends with."""

import json
from pathlib import Path

import pytest

from rankcheck.decide.prove.checking import UnsoundError
from rankcheck.decide.prove.controls import ProvedFalseError
from rankcheck.decide.prove.settings import Unproved
from rankcheck.engine.parallel import executors
from rankcheck.engine.parallel.executors import Unfinished
from tests.decide.prove.made import install

VECTORS = """
@instances
def vectors(source):
    return source.tensor(source.integer(1, 6))

@instances
def integers(source, *, n=(1, 4)):
    return source.integer(*n)
"""


def claim(name, family="vectors()", options=""):
    return f'''
@conjecture("t.{name}", instances={family}, {options})
def test_{name}(x):
    """A square is not negative."""
    return leq(0 * x, x * x)
'''


CITED = '''
@cited("t.cited", paper("rank", "Thm. 1"), reason="long")
def test_cited():
    """It is cited."""
'''
CLAIMS = (VECTORS, claim("squares"), claim("whole", "integers()"))


@pytest.fixture
def engine(mine, monkeypatch):
    """The engine of the tests, and a file with a claim of vectors and one of integers."""
    mine(*CLAIMS)
    return install(monkeypatch)


def test_a_pipe_and_json_say_the_same(engine, command):
    code, out, err = command("prove", "mine.py::test_squares", "--entries", 2, "--json", "a.json")
    assert (code, err) == (0, "")
    [data] = json.loads(Path("a.json").read_text("utf-8"))["proved"]
    assert data["message"] in out
    assert [one["sizes"] for one in data["outcomes"]] == [{"entries of x": 1}, {"entries of x": 2}]
    again = command("prove", "mine.py::test_squares", "--entries", 2, "--json", "a.json")
    assert again[0] == 0  # a result is replaced
    code, out, err = command("prove", "mine.py::test_squares", "--entries", 1, "--json", "-")
    assert json.loads(out)["proved"][0]["claim"] == "t.squares"


def test_a_claim_that_is_not_proved(engine, command):
    engine.unproved = dict.fromkeys(range(9), Unproved("no", place="mine.py:9"))
    code, out, _ = command("prove", "mine.py")
    assert code == 3
    assert "t.squares: proved at none of 6 shapes" in out
    assert "True for all 4 instances: every choice of its integers." in out


def test_shapes_are_asked_for(engine, command):
    code, *_ = command("prove", "mine.py::test_squares", "--shape", "entries=2,3")
    assert (code, engine.shapes) == (0, [(2,), (3,)])
    engine.shapes.clear()
    twice = ("--shape", "entries of x=2", "--shape", "entries of x=5")
    assert command("prove", "mine.py::test_squares", *twice)[0] == 0
    assert engine.shapes == [(2,), (5,)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--shape", "depth=two"], "it is NAME=N,… as in depth=2,3"),
        (["--shape", "depth=2"], "--shape depth: an instance has no size of that name"),
        (["--shape", "entries=9"], "no such shape of at most 8 entries; there, entries of x is 1,"),
        (["--seconds", "0"], "positive, finite number of seconds"),
        (["--json", "mine.py"], "and this is a Python file"),
    ],
)
def test_wrong_input_is_one_line(engine, command, arguments, said):
    code, _, err = command("prove", "mine.py::test_squares", *arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert said in err
    assert engine.shapes == []


def test_a_claim_that_is_refused_does_not_stop_the_others(command, engine, mine):
    mine(*CLAIMS, CITED)
    code, out, err = command("prove", "mine.py", "--entries", 1)
    assert code == 2
    assert "t.cited is cited, without instances" in err
    assert "t.squares: proved at 1" in out
    assert "t.whole: proved" in out


def test_proofs_are_kept_beside_the_claim(engine, command):
    code, out, _ = command("prove", "mine.py", "--entries", 2, "--keep")
    assert code == 0
    assert "  kept in proofs/t.squares.json" in out
    assert "  kept in proofs/t.whole.json" in out
    assert Path(".rankcheck/proofs/t.squares.json").exists()
    engine.unproved = dict.fromkeys(range(9), Unproved("no"))
    assert "  nothing to keep" in command("prove", "mine.py::test_squares", "--keep")[1]
    assert Path("proofs/t.squares.json").exists()


def test_a_refused_proof_is_never_shown(engine, command):
    engine.refused = UnsoundError("node 3: no")
    code, out, err = command("prove", "mine.py::test_squares", "--json", "a.json")
    assert code == 4
    assert "t.squares, x of 1 entry: the second checker refuses the proof: node 3: no" in err
    assert "true for all" not in out
    assert json.loads(Path("a.json").read_text())["proved"] == []
    assert not Path(".rankcheck/proofs").exists()
    code, out, err = command("prove", "mine.py")  # the other claim is gone through, too
    assert (code, err.count("the second checker refuses")) == (4, 2)
    assert "proved" not in out


def test_a_false_mutant_that_is_proved_ends_with_four(engine, command):
    engine.false = ProvedFalseError("the mutant 'm' is proved")
    code, out, err = command("prove", "mine.py")
    assert code == 4
    assert "t.squares, x of 1 entry: the mutant 'm' is proved" in err
    assert "t.whole" not in out  # the run has ended


def test_ctrl_c_tells_what_was_proved(engine, command):
    engine.unproved = {3: KeyboardInterrupt()}
    code, out, err = command("prove", "mine.py", "--json", "a.json")
    assert code == 130
    assert "t.squares: proved at 2 of 6 shapes" in out
    assert "4 shapes not tried: interrupted" in out
    assert "t.whole" not in out
    assert "interrupted" in err
    assert len(json.loads(Path("a.json").read_text("utf-8"))["proved"]) == 1


@pytest.mark.parametrize(
    "end", [("did not end within 9 s", 9.0), ("lost its process (SIGKILL, out of memory?)",)]
)
def test_a_process_that_is_lost_at_a_shape(engine, command, monkeypatch, end):
    class Lost(executors.Inline):
        """A worker process that is stopped, or killed, at two entries."""

        def __init__(self, work, workers):
            super().__init__(work)

        def run(self, tasks, *options):
            for task in tasks:
                _, target, _ = task
                if getattr(target, "entries", 0) == 2:
                    yield Unfinished(task, *end)
                else:
                    yield from super().run([task], *options)

    monkeypatch.setattr(executors, "Processes", Lost)
    code, out, _ = command("prove", "mine.py::test_squares", "--entries", 3, "--limit", 9)
    assert code == 0
    assert "t.squares: proved at 2 of 3 shapes" in out
    assert f"Not proved for x of 2 entries: the proof {end[0]}" in out


def test_a_process_that_is_lost_over_the_shapes(engine, command, monkeypatch):
    class Lost(executors.Inline):
        def __init__(self, work, workers):
            super().__init__(work)

        def run(self, tasks, *options):
            for task in tasks:
                if task[0] == 0:
                    yield Unfinished(task, "did not end within 9 s", 9.0)
                else:
                    yield from super().run([task], *options)

    monkeypatch.setattr(executors, "Processes", Lost)
    code, out, _ = command("prove", "mine.py", "--limit", 9)
    assert code == 3
    assert "t.squares: not proved; the search for its shapes did not end within 9 s" in out
    assert "t.whole: proved" in out


@pytest.mark.slow
def test_in_a_process_of_its_own(mine, command):
    mine(*CLAIMS)
    code, out, _ = command("prove", "mine.py::test_whole", "--limit", 60)
    assert code == 0
    assert "True for all 4 instances" in out
