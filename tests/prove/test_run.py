"""The shapes of a claim are gone through, and a proof is believed after its second check alone."""

import dataclasses
import itertools
from pathlib import Path

import pytest

import rankcheck
from rankcheck import leq
from rankcheck.errors import InputError, InstallationError
from rankcheck.instances.source import instances
from rankcheck.linalg import rank
from rankcheck.prove import shapes
from rankcheck.prove import through as running
from rankcheck.prove.checking import UnsoundError
from rankcheck.prove.controls import ProvedFalseError
from rankcheck.prove.file import Proofs, keep, leave
from rankcheck.prove.result import Progress
from rankcheck.prove.settings import Unproved
from rankcheck.prove.shapes import selected, targets


@instances
def boxes(source, *, rows=(1, 3)):
    m = source.integer(*rows)
    return source.tensor(m, source.integer(1, 2))


@instances
def pairs(source):
    return source.tensor(source.choice((1, 2)), low=0.0, high=1.0), source.tensor(2)


def body(A):
    return leq(A.sum((-2, -1)), A.abs().sum((-2, -1)))


@pytest.fixture
def claim(declare):
    return declare(body, boxes(), mutants={})


def test_all_shapes_are_tried_the_smallest_first(claim, engine):
    result = rankcheck.prove(claim, entries=4)
    assert engine.shapes == [(1, 1), (1, 2), (2, 1), (3, 1), (2, 2)]
    assert [one.target.entries for one in result.proved] == [4, 3, 2, 2, 1]
    assert result.proofs[0].integers == (2, 2)
    assert result.proofs[0].sizes == {"rows of A": 2, "columns of A": 2}


def test_a_claim_proves_itself(claim, engine):
    assert claim.prove(entries=1).proved


def test_shapes_where_a_mutant_is_not_proved_come_first(claim, engine):
    engine.left = {1: {"m": "open", "n": "false"}, 2: {"m": "proved", "n": "proved"}}
    result = rankcheck.prove(claim, entries=2)
    assert [one.target.entries for one in result.proved] == [1, 2, 2]
    first, second, *_ = result.message.splitlines()[1:]
    assert "2 of 2 mutants cannot be proved at this shape (1 of them false there)." in first
    assert "All 2 mutants are proved at this shape, too: this proof says little." in second


def test_what_is_proved_with_exceptions_is_not_proved(claim, engine):
    engine.fields = {"exceptions": ("x0 - 1",)}
    result = rankcheck.prove(claim, entries=2)
    assert (len(result.proved), len(result.nearly)) == (0, 3)
    assert "proved at none of 3 shapes of at most 2 entries, with exceptions at 3" in str(result)
    assert "except possibly where x₀ = 1" in str(result)
    assert leave(claim, result) is None


def test_shapes_are_selected_by_their_sizes(claim, engine):
    rankcheck.prove(claim, shape={"rows": (2, 3), "columns of A": (1,)}, entries=6)
    assert engine.shapes == [(2, 1), (3, 1)]


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({"rows": (9,)}, r"--shape rows=9: .* at most 4 entries; there, rows of A is 1, 2, 3"),
        ({"depth": (1,)}, r"no size of that name; its sizes are rows of A, columns of A"),
        ({"rows": ()}, "names no value"),
    ],
)
def test_shapes_that_do_not_exist(claim, engine, shape, said):
    with pytest.raises(InputError, match=said):
        rankcheck.prove(claim, shape=shape, entries=4)
    assert engine.shapes == []


def test_no_shape_is_small_enough(declare, engine):
    claim = declare(body, pairs())
    result = rankcheck.prove(claim, entries=2)
    assert "t.made-up: it has no shape of at most 2 entries; --entries N" in result.message
    assert result.outcomes == ()
    with pytest.raises(InputError, match="has no shape of at most 2 entries; --entries N"):
        rankcheck.prove(claim, entries=2, shape={"entries": (2,)})


def test_a_generator_that_raises(declare, engine):
    @instances
    def broken(source):
        source.tensor(1)
        raise RuntimeError("no instances")

    with pytest.raises(InputError, match=r"raised at every shape, first RuntimeError: no inst"):
        rankcheck.prove(declare(body, broken()))


def test_the_smallest_shape_of_each_size_comes_first(declare, engine):
    @instances
    def flagged(source):
        return source.choice((0.0, 1.0)) * source.tensor(source.integer(1, 2))

    rankcheck.prove(declare(lambda x: leq(x, 9), flagged()), entries=2)
    assert engine.shapes == [(0, 1), (0, 2), (1, 1), (1, 2)]


def test_shapes_without_entries_are_no_shapes(declare, engine):
    @instances
    def some(source):
        return source.tensor(source.integer(0, 2))

    rankcheck.prove(declare(lambda x: leq(0, (x * x).sum(-1)), some()), entries=2)
    assert engine.shapes == [(1,), (2,)]


def test_where_there_are_many_shapes_some_are_left_out(claim, engine, monkeypatch):
    monkeypatch.setattr(shapes.targets, "__defaults__", (3,))
    result = rankcheck.prove(claim, entries=6)
    assert engine.shapes == [(1, 1), (1, 2), (2, 1)]
    assert "There are other shapes of so many entries; --shape chooses some." in result.message
    assert not result.to_json()["complete"]
    engine.shapes.clear()
    result = rankcheck.prove(claim, entries=6, shape={"rows": (3,)})
    assert engine.shapes == [(3, 1), (3, 2)]
    assert "There are other shapes" not in result.message


def test_sizes_that_do_not_tell_shapes_apart(declare):
    @instances
    def flagged(source):
        flag = source.choice((0.0, 1.0))
        return flag * source.tensor(2)

    claim = declare(lambda x: leq(x, 9), flagged())
    found, _ = targets(claim, 2)
    assert [one.twin for one in found] == [True, True]
    assert len(selected(claim, found, {"entries": (2,)}, 2)) == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "refuted"}, "is declared as false"),
        ({"kind": "cited", "instances": None}, "is cited, without instances"),
    ],
)
def test_claims_that_are_not_proved(claim, engine, changes, said):
    with pytest.raises(InputError, match=said):
        rankcheck.prove(dataclasses.replace(claim, **changes))


def test_what_is_no_claim():
    with pytest.raises(InputError, match="is not a claim; prove takes"):
        rankcheck.prove(body)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"seconds": 0}, "positive, finite number of seconds"),
        ({"seconds": float("inf")}, "positive, finite number of seconds"),
        ({"entries": -1}, "a shape has 0 or more"),
    ],
)
def test_settings_out_of_range(claim, engine, settings, said):
    with pytest.raises(InputError, match=said):
        rankcheck.prove(claim, **settings)


def test_a_proof_that_the_second_checker_refuses_is_never_shown(claim, engine):
    engine.refused = UnsoundError("node 3: no")
    with pytest.raises(InstallationError, match=r"A of size 1 × 1: the second checker refuses"):
        rankcheck.prove(claim)


def test_a_false_mutant_that_is_proved_stops_the_run(claim, engine):
    engine.false = ProvedFalseError("the mutant 'm'")
    with pytest.raises(InstallationError, match="A of size 1 × 1: the mutant 'm'"):
        rankcheck.prove(claim)


def test_what_is_not_proved_is_said_with_its_place(claim, engine):
    engine.unproved = {
        1: Unproved("exp has no exact form", place="mine.py:7"),
        2: Unproved("more than 4096 paths", paths=4096),
    }
    result = rankcheck.prove(claim, entries=3)
    assert result.message.splitlines()[0] == (
        "t.made-up: proved at 1 of 4 shapes of at most 3 entries (exact algebra: 1)"
    )
    assert (
        "  Not proved for A of size 1 × 1: exp has no exact form (mine.py:7)."
    ) in result.message
    assert (
        "  Not proved for A of size 1 × 2 and 1 other shape: more than 4096 paths."
    ) in result.message


def test_nothing_is_proved(claim, engine):
    engine.unproved = dict.fromkeys(range(9), Unproved("no"))
    result = rankcheck.prove(claim, entries=1)
    assert result.proved == ()
    assert "proved at none of 1 shape of at most 1 entry; that says nothing against it" in str(
        result
    )
    assert "Nothing is said of other shapes" not in str(result)
    assert result.left is None


def test_memory_ends_a_shape_and_not_the_run(claim, engine):
    engine.unproved = {1: MemoryError()}
    result = rankcheck.prove(claim, entries=2)
    assert [one.reason for one in result.outcomes] == ["memory was short", "", ""]


def test_an_error_ends_a_shape_and_not_the_run(claim, engine):
    engine.unproved = {1: ZeroDivisionError("division by zero")}
    result = rankcheck.prove(claim, entries=2)
    first, *others = [one.reason for one in result.outcomes]
    assert (first, others) == ("internal error: ZeroDivisionError: division by zero", ["", ""])


def test_the_seconds_end_the_run(claim, engine, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(running.time, "monotonic", lambda: float(next(clock)))
    result = rankcheck.prove(claim, entries=4, seconds=6.0)
    assert 0 < len(result.outcomes) < 5
    assert "not tried: the seconds were spent" in result.message
    assert max(engine.seconds) == 1.5  # of several shapes one has a quarter
    engine.seconds.clear()
    rankcheck.prove(claim, shape={"rows": (1,), "columns": (1,)}, seconds=6.0)
    assert max(engine.seconds) > 1.5


def test_ctrl_c_leaves_what_was_proved(claim, engine):
    engine.unproved = {3: KeyboardInterrupt()}
    result = rankcheck.prove(claim, entries=4)
    assert (result.interrupted, len(result.proved)) == (True, 3)
    assert "2 shapes not tried: interrupted" in result.message


def test_somebody_is_told(claim, engine):
    states: list[Progress] = []
    rankcheck.prove(claim, entries=2, progress=states.append)
    assert [(one.done, one.shapes, one.proved) for one in states] == [
        (0, 3, 0),
        (1, 3, 1),
        (2, 3, 2),
    ]
    assert states[0].doing == "A of size 1 × 1"


def test_proofs_are_left_and_read(claim, engine):
    result = rankcheck.prove(claim, entries=2)
    assert result.left == ".rankcheck/proofs/t.made-up.json"
    found = Proofs.read(Path(result.left))
    assert found.shapes == {"algebra": 3}
    assert len(found.proofs) == 3


def test_json_has_what_the_text_says(claim, engine):
    engine.unproved = {1: Unproved("no", paths=2)}
    assert ": no, after 2 paths." in rankcheck.prove(claim, entries=1).message
    data = rankcheck.prove(claim, entries=2, seed=3).to_json()
    assert (data["schema"], data["claim"], data["proved"], data["shapes"]) == (1, "t.made-up", 2, 3)
    assert data["outcomes"][0]["reason"] == "no"
    assert data["outcomes"][0]["method"] is None
    assert data["outcomes"][1]["method"] == "algebra"
    assert data["outcomes"][1]["sentence"] in data["message"]


def test_a_notebook_shows_the_text(claim, engine):
    result = rankcheck.prove(claim, entries=1)
    shown = result._repr_html_()
    assert '<span class="verdict good">proved</span> <code>t.made-up</code>' in shown
    assert '<pre class="message">t.made-up: proved at 1 of 1 shape' in shown
    odd = dataclasses.replace(result, left="<script>")
    assert "<script>" not in odd._repr_html_()


@instances
def squares(source):
    n = source.integer(1, 3)
    if source.choice(("dense", "rank one", "zero")) == "rank one":
        return source.tensor(n, 1) @ source.tensor(1, n)
    return source.tensor(n, n)


def test_what_is_decided_of_a_part_is_told_so_and_not_kept(declare, engine, tmp_path):
    """The dense matrices of size 3 × 3 have more entries than the shapes that are tried."""
    claim = declare(lambda A: leq(rank(A), 1), squares(), file=tmp_path / "claims.py", mutants={})
    result = rankcheck.prove(claim, entries=6, shape={"rows": (3,)})
    [one] = result.proved
    assert one.text == "A of size 3 × 3 (integers of the generator: 3, 1)"
    assert "true whatever numbers the generator draws" in result.message
    assert keep(claim, result) is None
    whole = rankcheck.prove(declare(body, boxes(), mutants={}, file=claim.file), entries=2)
    assert "integers of the generator" not in whole.message
    assert keep(claim, whole) is not None
