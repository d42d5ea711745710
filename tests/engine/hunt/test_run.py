from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from rankcheck.engine.counterexamples import replay
from rankcheck.engine.counterexamples.judge import Judgement
from rankcheck.engine.hunt import STANDARD, Hunt, HuntError, Progress, hunt, report
from rankcheck.engine.hunt.run import HOPELESS
from rankcheck.engine.hunt.strategies import Corpus, Perturb, Screen
from rankcheck.engine.parallel import Inline, Unfinished
from rankcheck.errors import InputError
from rankcheck.theory.instances.choices import read_choices

pytestmark = pytest.mark.slow  # whole hunts


#: Strategies that have a round behind them quickly.
QUICK = [Corpus(), Screen(), Perturb()]


def told(found: Hunt) -> dict:
    """The result of a hunt without what depends on the clock and the folder, as plain JSON."""
    data = found.to_json()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return {
        k: v for k, v in data.items() if k not in ("seconds", "stages", "message", "certificate")
    }


def test_a_counterexample_is_certified_and_made_small(hunted, tmp_path):
    claim = hunted("generic")
    found = hunt(claim, 30, folder=tmp_path)
    assert found.verdict == "refuted"
    assert {found.strategy, "shrink"} <= set(found.stages)
    assert found.margin == -float(found.violation.judgement.relative_excess) < 0
    for violation in (found.violation, found.smallest, found.worst):
        assert violation.judgement.finding == "refuted"
    assert found.smallest.judgement.relative_excess >= found.violation.judgement.relative_excess / 2
    replayed = replay(tmp_path / "hunted.generic.json", claim=claim)
    assert not replayed.changed
    assert found.certificate == str(tmp_path / "hunted.generic.json")
    assert found.message.startswith("hunted.generic is false: lhs ")
    again = read_choices(claim.instances, told(found)["smallest"]["choices"])
    assert again.to_json() == found.smallest.record.to_json()


def says(*facts: str) -> Callable[[Hunt], bool]:
    return lambda found: all(fact in found.message for fact in facts)


@pytest.mark.parametrize(
    ("name", "rounds", "strategies", "verdict", "holds"),
    [
        ("easy", 9, STANDARD, "refuted", lambda found: found.margin < 0),
        ("deep", 9, STANDARD, "refuted", lambda found: found.margin < 0),
        ("single", 9, STANDARD, "refuted", lambda found: found.margin < 0),
        ("discrete", 9, STANDARD, "refuted", lambda found: found.margin < 0),
        ("two-relations", 9, STANDARD, "refuted", lambda found: found.margin < 0),
        ("whole", 9, STANDARD, "refuted", lambda found: found.margin < 0),
        ("no-backward", 3, STANDARD, "refuted", lambda found: found.strategy == "corpus"),
        ("true", 2, STANDARD, "survived", lambda found: abs(found.margin) < 1e-4),
        ("true-identity", 2, STANDARD, "survived", lambda found: abs(found.margin) < 1e-4),
        ("careless", 2, QUICK, "survived", lambda found: found.counts.rounding > 0),
        ("rejected-members", 1, [Screen()], "survived", lambda found: found.counts.reasons == {
            "det A is not small": found.counts.rejected}),
        ("no-ball", 2, QUICK, "undecided", lambda found: found.margin == -0.75),
        ("no-number", 2, QUICK, "undecided", lambda found: found.margin is None),
        ("sometimes-raises", 1, QUICK, "undecided", says("raised ArithmeticError", "the other")),
        ("singular-members", 1, [Screen()], "undecided", says(
            "raised _LinAlgError", "A = [")),
        ("wrong-floats", 1, QUICK, "undecided", says(
            "floats differ by more than rounding, and balls decide")),
        ("rounding-without-form", 1, STANDARD, "undecided", says("does not stand clear of it")),
        ("digits-of-a-batch", 1, QUICK, "undecided", says(
            ": lhs 0 and rhs ", "violated in a batch of instances, whose last digits may differ")),
    ],
)  # fmt: skip
def test_a_hunt_ends_as_its_statement_deserves(
    hunted, tmp_path, name, rounds, strategies, verdict, holds
):
    found = hunt(
        hunted(name), None, rounds=rounds, strategies=strategies, folder=tmp_path, shrink=0.5
    )
    assert found.verdict == verdict, found.message
    assert holds(found), found.message
    assert found.counts.evaluated > 0
    assert told(found)["margin"] == found.margin
    assert [path.name for path in tmp_path.iterdir()] == (
        [f"hunted.{name}.json"] if verdict == "refuted" else []
    )


def test_a_count_that_is_wrong_at_one_shape_of_a_thousand_is_found(hunted, tmp_path):
    found = hunt(hunted("index"), None, rounds=2, folder=tmp_path, shrink=0.01)
    assert (found.verdict, found.strategy) == ("refuted", "survey")
    assert found.violation.record.integers == (6, 3, 7)


def test_a_proved_finding_outranks_an_undecided_one(hunted, tmp_path):
    seen: list[Progress] = []
    found = hunt(hunted("half-ball"), 30, 2, folder=tmp_path, progress=seen.append)
    assert found.verdict == "refuted"
    assert found.violation.record.integers == (1,)
    assert "undecided" in [progress.found for progress in seen]


def test_a_violation_that_cannot_be_proved_does_not_end_the_hunt(hunted, tmp_path):
    found = hunt(hunted("no-form"), 60, rounds=HOPELESS + 1, folder=tmp_path)
    assert found.verdict == "undecided"
    assert "not certified: no ball form: " in found.message
    assert "the violation stands clear of it" in found.message
    assert found.rounds == HOPELESS + 1


def test_without_instances_the_hunt_gives_up(hunted, tmp_path):
    found = hunt(hunted("empty"), 30, folder=tmp_path)
    assert found.verdict == "gave_up"
    assert found.margin is None
    assert found.counts.evaluated == 0
    assert found.counts.rejected > 1000
    assert found.counts.reasons == {"x > 100": found.counts.rejected}
    assert found.rounds == HOPELESS
    assert found.message == (
        f"hunted.empty: gave up, 0 of {found.counts.rejected} instances satisfied the hypotheses\n"
        f"  rejected: x > 100 ({found.counts.rejected})"
    )


class Loses(Inline):
    """Loses the first shard of each round."""

    def run(self, tasks, *options):
        yield Unfinished(tasks[0], "did not end within 3 s")
        yield from super().run(tasks[1:], *options)


def test_a_hunt_with_lost_shards_is_undecided(hunted, tmp_path):
    claim = hunted("true")
    arguments = {"rounds": 2, "folder": tmp_path, "strategies": QUICK}
    whole = hunt(claim, None, **arguments)
    found = hunt(claim, None, **arguments, executor=Loses)
    assert (found.verdict, found.lost) == ("undecided", 1)  # the first round is run here
    assert found.message.startswith("hunted.true is undecided: 1 shard did not end within 3 s\n")
    assert 0 < found.counts.evaluated < whole.counts.evaluated


class Stops(Exception):
    pass


def stopped_at_a_proof(state: Progress) -> None:
    if state.found == "refuted":
        raise Stops


def test_a_proof_is_on_the_disk_before_anything_else_is_done(hunted, tmp_path):
    """Whatever ends the hunt then, the counterexample proves itself again."""
    claim = hunted("generic")
    with pytest.raises(Stops):
        hunt(claim, 30, folder=tmp_path, progress=stopped_at_a_proof)
    replayed = replay(tmp_path / "hunted.generic.json", claim=claim)
    assert replayed.refuted


def test_a_budget_ends_a_hunt_in_the_middle_of_a_shard(hunted, tmp_path):
    class Endless:
        name, stage, visits = "endless", "scout", 0

        def search(self, arena, seed):
            while True:
                arena.sample(seed, 16)

    found = hunt(hunted("true"), 0.5, strategies=[Endless()], folder=tmp_path)
    assert found.verdict == "survived"
    assert found.seconds >= 0.5
    assert found.counts.evaluated > 0


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"budget": 0}, "the budget is 0; it is a positive, finite number of seconds"),
        ({"budget": math.nan}, "the budget is nan; it is a positive"),
        ({"budget": None}, "neither a budget nor rounds is given"),
        ({"scope": -1}, "the scope is -1"),
        ({"rounds": 0}, "received 0 rounds; a hunt has at least one"),
        ({"workers": 0}, "received 0 workers; a hunt has at least one"),
        ({"executor": "slurm"}, "the executor is 'slurm'; .* dask://host:port"),
        ({"executor": 0}, "the executor is 0; an executor is"),
        ({"strategies": []}, r"the strategies are \[\]; a hunt has at least one"),
        ({"strategies": [STANDARD[0]] * 2}, r"are \['corpus', 'corpus'\]; .* their names differ"),
        ({"device": "warp"}, "cannot use the device 'warp'"),
    ],
)
def test_arguments_out_of_range_are_refused(hunted, tmp_path, arguments, rule):
    with pytest.raises(InputError, match=rule):
        hunt(hunted("easy"), **{"budget": 5, "folder": tmp_path, **arguments})


def test_what_is_no_claim_is_refused(tmp_path):
    with pytest.raises(HuntError, match="len> is not a claim; hunt takes what"):
        hunt(len, 5)  # type: ignore[arg-type]


def test_a_claim_at_a_prompt_is_hunted_in_this_process(at_a_prompt, tmp_path):
    found = hunt(at_a_prompt, budget=5, folder=tmp_path)
    assert found.verdict == "refuted"
    assert "prompt.easy is false: lhs" in found.message
    assert Path(found.certificate).exists()


def test_a_violation_that_is_none_when_it_is_judged_again_is_an_error(
    hunted, tmp_path, monkeypatch
):
    outside = Judgement("outside", 128)
    monkeypatch.setattr(report, "Instance", lambda *given: SimpleNamespace(judgement=outside))
    with pytest.raises(HuntError, match=r"of hunted\.easy, which is outside when it is judged"):
        hunt(hunted("easy"), 30, folder=tmp_path)


def test_a_body_that_raises_ends_the_hunt(hunted, tmp_path):
    with pytest.raises(HuntError, match=r"hunted\.broken: .*raised TypeError"):
        hunt(hunted("broken"), 5, folder=tmp_path)
