"""What a hunt does with the outcomes of its shards, with strategies that look at a few numbers."""

from __future__ import annotations

import pytest
import torch

from rankcheck import leq
from rankcheck.engine.counterexamples import replay
from rankcheck.engine.hunt import hunt
from rankcheck.engine.hunt.points import ShapedSource
from rankcheck.engine.hunt.shard import Outcome
from rankcheck.engine.hunt.strategies.base import Stage
from rankcheck.engine.parallel import Done, Inline
from rankcheck.engine.verification.counts import Counts
from rankcheck.theory.instances.source import instances

from .test_run import told


@instances
def numbers(source):
    return source.tensor(low=-4.0, high=4.0)


@pytest.fixture
def at_most_three(declare):
    r"""$x \le 3$ for $-4 \le x \le 4$; the body raises for $x \le -3$."""

    def body(x):
        if isinstance(x, torch.Tensor):
            torch.linalg.cholesky((x + 3)[..., None, None])
        return leq(x, 0 * x + 3)

    return declare(body, numbers(), kind="conjecture")


class Looks:
    """Looks at given numbers."""

    def __init__(
        self, *points: float, name: str = "looks", stage: Stage = "scout", visits: int = 1
    ) -> None:
        self.name = name
        self.stage = stage
        self.visits = visits
        self.searches = 0
        self._points = torch.tensor(points, dtype=torch.float64)

    def search(self, arena, seed):
        self.searches += 1
        source = ShapedSource(arena.shape.integers, seed, len(self._points))
        arena.family(source)
        arena.offer(arena.at(source.record.with_tensors([self._points])))


class Given:
    """An executor whose shards have given outcomes, one after the other; then the last one."""

    def __init__(self, *outcomes: Outcome) -> None:
        self._outcomes = outcomes
        self.ran = 0

    def __call__(self, work):
        return self

    def run(self, tasks, limits):
        for task in tasks:
            self.ran += 1
            yield Done(task, self._outcomes[min(self.ran, len(self._outcomes)) - 1])

    def close(self):
        pass


TWO = [Looks(1.0, name="first"), Looks(2.0, name="second")]


def test_a_hunt_ends_with_the_round_in_which_a_shard_was_cut(at_most_three, tmp_path):
    """The clock of a worker may be ahead of ours, so that the budget is not spent here."""
    kept = Outcome(Counts(evaluated=5), (0.5,))
    executor = Given(Outcome(Counts(evaluated=7), (0.25,), cut=True), kept)
    found = hunt(
        at_most_three, 60, rounds=4, strategies=TWO, executor=executor, folder=tmp_path,
        scope=0,
    )  # fmt: skip
    assert (found.rounds, executor.ran, found.margin) == (2, 2, 0.25)
    assert found.counts.evaluated == 1 + 1 + 7 + 5


def test_the_seconds_of_a_stage_are_those_of_all_its_shards(at_most_three, tmp_path):
    given = Given(Outcome(Counts(evaluated=1), (0.5,), seconds=20.0))
    found = hunt(
        at_most_three, None, rounds=4, strategies=TWO, executor=given, folder=tmp_path, scope=0
    )
    assert set(found.stages) == {"first", "second"}
    assert all(60 <= seconds < 80 for seconds in found.stages.values())


def test_stages_in_this_process_last_no_longer_than_the_hunt(at_most_three, tmp_path):
    looks = [Looks(3.75)]
    found = hunt(at_most_three, 60, strategies=looks, folder=tmp_path, shrink=0.1, scope=1)
    assert found.verdict == "refuted"
    assert set(found.stages) == {"scope", "looks", "shrink"}
    assert all(0 < seconds <= found.seconds for seconds in found.stages.values())


def test_a_violation_is_reported_with_what_the_body_raises_elsewhere(at_most_three, tmp_path):
    looks = [Looks(-3.5, 3.5)]
    found = hunt(at_most_three, 60, strategies=looks, folder=tmp_path, shrink=0.1, scope=0)
    assert found.message.startswith("t.made-up is false: lhs ")
    assert "\n  elsewhere its body raised _LinAlgError" in found.message
    found = hunt(at_most_three, 60, strategies=[Looks(3.5)], folder=tmp_path, scope=0)
    assert "elsewhere" not in found.message


class Backwards(Inline):
    """Runs the shards of a round from the last one to the first."""

    def run(self, tasks, *options):
        for task in reversed(list(tasks)):
            yield from super().run([task], *options)


def test_the_first_proof_in_the_order_of_the_shards_is_reported_in_whatever_order_they_end(
    at_most_three, tmp_path
):
    def deep(*points, name):
        return Looks(*points, name=name, stage="deepen")

    # As bad as each other, and with different counts.
    strategies = [
        Looks(1.0), deep(2.0, name="none"), deep(3.5, name="one"), deep(3.5, 0.0, name="two")
    ]  # fmt: skip
    seen: dict = {None: [], Backwards: []}
    found = {
        executor: hunt(
            at_most_three, 60, strategies=strategies, executor=executor, folder=tmp_path,
            shrink=0.1, scope=0, progress=seen[executor].append,
        )
        for executor in seen
    }  # fmt: skip
    assert found[None].strategy == "one"
    # One of them in the first round, then two in the second: nothing after a proof counts.
    assert found[None].counts.evaluated == 1 + 1 + 1
    assert [one.strategy for one in seen[None]] == ["looks", "none", "one"]
    assert told(found[None]) == told(found[Backwards])
    assert [one.strategy for one in seen[Backwards]] == ["looks", "none", "one"]
    # In this process, nothing runs after the proof: three searches, and then five backwards.
    assert [one.searches for one in strategies] == [1 + 2, 1 + 1, 1 + 1, 0 + 1]


class Stops(Exception):
    """What ends a hunt at once."""


class AllButOne(Inline):
    """Runs the shards of a round but the first one, and is stopped in that."""

    def run(self, tasks, *options):
        yield from super().run(list(tasks)[1:], *options)
        raise Stops


def test_a_proof_is_on_the_disk_when_it_arrives(at_most_three, tmp_path):
    """Also where earlier shards of its round are not done, and the hunt is stopped in these."""
    strategies = [Looks(1.0), *(Looks(x, name=f"{x}", stage="deepen") for x in (2.0, 3.5))]
    with pytest.raises(Stops):
        hunt(at_most_three, 60, strategies=strategies, executor=AllButOne, folder=tmp_path, scope=0)
    again = replay(tmp_path / "t.made-up.json", claim=at_most_three)
    assert again.instance.record.tensors[0].item() > 3


def test_of_findings_of_one_size_the_first_is_reported_and_progress_shows_the_worst(
    declare, tmp_path
):
    claim = declare(
        lambda x: leq(x, 0 * x + 3), numbers(), kind="conjecture", no_ball="for the test"
    )
    strategies = [
        Looks(-1.5, name="a"), Looks(1.5, name="b"), Looks(3.25, name="c"), Looks(4.0, name="d"),
        Looks(4.0, name="e"), Looks(3.5, name="f"),
    ]  # fmt: skip
    seen: list = []
    found = hunt(
        claim, 60, rounds=1, strategies=strategies, folder=tmp_path, scope=0,
        progress=seen.append,
    )  # fmt: skip
    assert (found.verdict, found.strategy, found.margin) == ("undecided", "d", -0.25)
    margins = [1.5, 0.5, -0.25 / 3.25, -0.25, -0.25, -0.25]
    assert [one.margin for one in seen] == pytest.approx(margins)
    assert [one.found for one in seen] == [None, None, *["undecided"] * 4]
    assert [one.counts.evaluated for one in seen] == [1, 2, 3, 4, 5, 6]


def test_nothing_that_was_measured_is_no_margin(at_most_three, tmp_path):
    seen: list = []
    hunt(
        at_most_three, 60, rounds=1, strategies=[Looks(-3.5, name="a"), Looks(1.5, name="b")],
        folder=tmp_path, scope=0, progress=seen.append,
    )  # fmt: skip
    assert [one.margin for one in seen] == [None, 0.5]


def test_a_generator_that_raises_at_a_shape_leaves_a_hunt_undecided(declare, tmp_path):
    """No strategy comes to that shape."""

    @instances
    def picky(source):
        n = source.integer(0, 9)
        x = source.tensor(low=-4.0, high=4.0)
        if n == 3:
            raise ValueError("not three")
        return x

    claim = declare(lambda x: leq(x, 0 * x + 5), picky(), kind="conjecture")
    found = hunt(claim, 60, rounds=2, strategies=[Looks(1.0)], folder=tmp_path, scope=0)
    assert found.verdict == "undecided"
    assert "the generator of t.made-up raised ValueError at the shape (3" in found.message
    assert found.shapes == 9


@pytest.mark.parametrize("wrong", range(6))
def test_the_time_of_a_strategy_that_has_stalled_breaks_what_it_cannot(declare, tmp_path, wrong):
    """`x <= 3` at one shape of six; alone, the strategy that sees it visits four in five rounds."""

    @instances
    def six(source):
        return source.integer(0, 5), source.tensor(low=-4.0, high=4.0)

    claim = declare(lambda n, x: leq(x if n == wrong else 0 * x, 0 * x + 3), six())
    strategies = [
        Looks(0.0, name="scout"),
        Looks(*[0.0] * 64, name="blind", stage="deepen", visits=3),
        Looks(3.5, name="sees", stage="deepen"),
    ]
    found = hunt(claim, None, rounds=5, strategies=strategies, folder=tmp_path, shrink=0, scope=0)
    assert (found.verdict, found.strategy) == ("refuted", "sees")
