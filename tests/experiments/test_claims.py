"""Claims about recorded experiments: on the record, and on the experiment made again."""

import json
from dataclasses import replace

import pytest
import torch

from rankcheck.claims.claim import Need
from rankcheck.claims.relations import eq, leq
from rankcheck.experiments.claims import Runs, mostly, recorded_runs
from rankcheck.experiments.recording import faults
from rankcheck.experiments.records import current, recorded, using
from rankcheck.experiments.result import Run
from rankcheck.experiments.run import run_experiment
from rankcheck.terminal import table
from rankcheck.verification.check import verify_claim
from rankcheck.verification.ledger import Row
from rankcheck.verification.profiles import PROFILES, Settings

from .coins import NAME, install, write_record

FAIR, BENT = ((("fair", True),),), ((("fair", False),),)
RECORDED = "t.made-up failed: it does not hold on the recorded result"
AGAIN = "t.made-up failed: it holds on the recorded result, and not on the one made again"


def heads(runs, *, heads=1):
    return mostly([run.measured["heads"] == heads for run in runs], "heads")


@pytest.fixture
def coins(monkeypatch, tmp_path):
    """The experiment of `coins.py`, with its record in `tmp_path / "recorded"`."""
    folder = tmp_path / "recorded"
    folder.mkdir()
    made = install(folder, monkeypatch.setattr)
    write_record(folder)
    made.made.clear()
    yield made
    recorded.cache_clear()


@pytest.fixture
def record(coins, tmp_path):
    """`record()` makes the record anew, and returns its path."""
    return lambda: write_record(tmp_path / "recorded")


@pytest.fixture
def claim(declare, coins):
    """`claim()`: about the fair coins, with the bent ones as the control."""

    def make(body=heads, where=FAIR, **options):
        common = {
            "kind": "statistical",
            "needs": {"fair": Need(recorded_runs(experiment=NAME, where=BENT))},
            "mutants": {"tails": {"heads": 0}},
            "no_ball": "trained weights are floats",
            "no_batch": "an instance is a recorded experiment",
        }
        return declare(body, recorded_runs(experiment=NAME, where=where), **common | options)

    return make


@pytest.fixture
def verify(tmp_path):
    """`verify(claim, "deep", 1)`: the row; experiments are made again below `left`."""

    def run(claim, profile="quick", seed=0, **options):
        settings = Settings(PROFILES[profile], seed, folder=tmp_path / "left")
        return verify_claim(claim, settings, **options)

    return run


@pytest.mark.parametrize("profile", ["quick", "ci"])
def test_the_record_is_evaluated_once(claim, verify, coins, profile):
    evaluated = []

    def body(runs, *, heads=1):
        evaluated.append(heads)
        return mostly([run.measured["heads"] == heads for run in runs], "heads")

    row = verify(claim(body), profile)
    assert (row.verdict, row.messages, coins.made) == ("holds", (), [])
    assert (row.swept.evaluated, row.drawn.evaluated, row.scope) == (1, 0, None)
    assert row.needs == ("fair",)
    assert row.broken_by == {"fair": "5 runs with fair = False", "tails": "5 runs with fair = True"}
    assert (row.mutants.killed, row.mutants.total) == (1, 1)
    assert len(evaluated) < 12
    assert row.recorded.outcomes == ("heads: 5 of 5 runs, p = 0.0312 ≤ 0.05",)
    assert row.remade is None


def test_a_row_says_where_the_runs_come_from(claim, verify, coins):
    row = verify(claim())
    record = recorded(NAME)
    assert row.recorded.command == "rankcheck experiment t.coins --scale small --seed 1"
    assert (row.recorded.seed, row.recorded.device, row.recorded.runs) == (1, "cpu", 10)
    assert row.recorded.versions["torch"] == torch.__version__
    assert (row.recorded.made, row.recorded.seconds) == (record.made, record.seconds)
    assert row.recorded.file.endswith("recorded/t.coins.json")
    assert Row.from_json(json.loads(json.dumps(row.to_json()))) == row
    said = "\n".join(table.facts(row))
    assert f"torch {torch.__version__}" in said
    assert "  heads: 5 of 5 runs, p = 0.0312 ≤ 0.05" in said
    assert "10 runs on record" in table.sentence(row)


def test_a_claim_that_the_record_does_not_bear_out_has_failed(claim, verify, coins, record):
    coins.heads = {1: 4}
    record()
    coins.made.clear()
    for profile in ("quick", "deep"):
        row = verify(claim(), profile)
        assert (row.verdict, row.expected, row.certificate) == ("failed", False, None)
        [message] = row.messages
        assert message.startswith(RECORDED)
        assert "    heads: 4 of 5 runs, p = 0.188 > 0.05" in message
        assert coins.made == []


def test_deep_makes_the_record_again_with_seed_0(claim, verify, coins):
    shares: list[float] = []
    row = verify(claim(), "deep", progress=shares.append)
    assert (row.verdict, coins.made) == ("holds", ["fair", "bent"])
    assert row.remade.command == row.recorded.command
    assert (row.remade.same, row.recorded.same) == (10, None)
    shares = [value for value in shares if isinstance(value, float)]  # an int counts instances
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert "10 of 10 runs have the measurements of the record" in "\n".join(table.facts(row))
    assert "10 made again" in table.sentence(row)


def test_a_claim_that_holds_on_the_record_alone_has_failed(claim, verify, coins, tmp_path):
    coins.heads = {3: 3}
    row = verify(claim(), "deep", 2)
    assert (row.verdict, row.expected) == ("failed", False)
    [message] = row.messages
    first, *lines = message.splitlines()
    assert first == AGAIN
    result = tmp_path / "left" / "remade" / "t.coins-seed-3" / "result.json"
    assert lines == [
        f"  recorded: {row.recorded.command}, 10 runs, {row.recorded.made}",
        "    heads: 5 of 5 runs, p = 0.0312 ≤ 0.05",
        f"  made again: {row.remade.command}, 10 runs, {row.remade.made}",
        "    heads: 3 of 5 runs, p = 0.5 > 0.05",
        f"  the new result: {result}",
    ]
    assert json.loads(result.read_text())["seed"] == 3
    assert current(NAME) is recorded(NAME)


def test_the_controls_are_checked_on_the_new_runs(claim, verify, coins):
    """The bent coins are not to show heads mostly; in the new experiment they do."""
    run = coins.run
    coins.run = lambda part, place: [
        replace(one, measured=one.measured | {"heads": 1}) for one in run(part, place)
    ]
    row = verify(claim(), "deep", 2)
    assert row.verdict == "failed"
    assert row.messages[0].startswith(AGAIN)
    assert "the control without the hypothesis 'fair' does not break the claim" in row.messages[0]


def test_an_interrupted_experiment_goes_on(claim, verify, coins):
    run = coins.run

    def interrupted(part, place):
        if part.name == "bent":
            raise KeyboardInterrupt
        return run(part, place)

    coins.run = interrupted
    with pytest.raises(KeyboardInterrupt):
        verify(claim(), "deep", 1)
    coins.run = run
    assert (coins.made, current(NAME)) == (["fair"], recorded(NAME))
    assert verify(claim(), "deep", 1).verdict == "holds"
    assert coins.made == ["fair", "bent"]
    assert verify(claim(), "deep", 1).verdict == "holds"
    assert coins.made == ["fair", "bent"] * 2  # it had ended, and is made anew


@pytest.mark.parametrize("file", ["mine.txt", "run.json"])
def test_a_folder_of_somebody_else_is_left_alone(claim, verify, tmp_path, file):
    place = tmp_path / "left" / "remade" / "t.coins-seed-2"
    place.mkdir(parents=True)
    (place / file).write_text("mine")
    row = verify(claim(), "deep", 1)
    assert row.verdict == "undecided"
    rule = {"mine.txt": "has other files ('mine.txt')", "run.json": "run.json cannot be read"}[file]
    assert rule in row.messages[0]
    assert (place / file).read_text() == "mine"


def test_a_training_that_diverges_fails(claim, verify, coins):
    coins.error = FloatingPointError("the training diverged at step 50")
    row = verify(claim(), "deep", 1)
    assert row.verdict == "failed"
    assert "cannot be made again: " in row.messages[0]
    assert str(coins.error) in row.messages[0]
    coins.error = RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")
    with pytest.raises(RuntimeError, match="allocate memory"):  # an undecided row is made of it
        verify(claim(), "deep", 1)


def test_training_leaves_the_arithmetic_as_it_was(claim, verify, coins):
    torch.set_flush_denormal(True)
    assert verify(claim(), "deep", 1).verdict == "holds"
    halved = torch.tensor(2.0**-1060, dtype=torch.float64) / 2
    assert int(halved.view(torch.int64)) == 2**13  # the bits of 2^-1061; a comparison flushes, too


def test_each_alternative_is_an_instance(claim, verify):
    row = verify(claim(where=(*FAIR, *BENT), needs={}))
    assert row.verdict == "failed"
    assert row.recorded.outcomes == (
        "5 runs with fair = True: heads: 5 of 5 runs, p = 0.0312 ≤ 0.05",
        "5 runs with fair = False: heads: 0 of 5 runs, p = 1 > 0.05",
    )
    body = lambda runs, *, count=5: leq(torch.tensor(len(runs)), count)  # noqa: E731
    row = verify(claim(body, (*FAIR, *BENT), needs={}, mutants={"4": {"count": 4}}))
    assert (row.verdict, row.swept.evaluated) == ("holds", 2)
    assert row.recorded.outcomes[0] == "5 runs with fair = True: relation 1: 5 ≤ 5"


def test_what_is_asserted_of_no_run_is_said(claim, verify):
    def body(runs):
        never = replace(mostly([True] * 5, "never"), where=torch.tensor(False))
        return never, heads(runs)

    row = verify(claim(body, mutants={}))
    assert row.vacuous == ("never",)
    assert row.messages == ("t.made-up: never is asserted on 0 of 1 instances",)
    assert row.recorded.outcomes[0] == "never: not asserted"


def test_a_relation_without_words_shows_its_sides(claim, verify):
    """Of several entries, the one that is closest to a violation."""
    sides = torch.tensor([1.0, 3.0, 2.5]), torch.tensor([9.0, 4.0, 2.5])

    def body(runs, *, heads=1):
        return (
            leq(*sides, label="a", where=torch.tensor([True, True, False])),
            leq(sides[1], sides[0] - 1, label="b"),
            eq(*sides, label="c", where=torch.tensor([False, False, True])),
        )

    assert verify(claim(body)).recorded.outcomes == (
        "a: 3 ≤ 4",
        "b: 9 > 0",
        "c: 2.5 = 2.5",
    )


def test_runs_that_are_not_there(claim, verify):
    with pytest.raises(Exception, match=r"the experiment t.coins has no runs with fair = 3"):
        verify(claim(where=((("fair", 3),),)))
    for where in ((("fair", True),), ()):
        with pytest.raises(TypeError, match="alternatives"):
            recorded_runs(experiment=NAME, where=where)


def test_a_setting_that_has_changed_since_the_record(claim, verify, coins):
    assert faults(recorded(NAME)) == []
    coins.sides = 3
    row = verify(claim())
    assert row.verdict == "failed"
    assert row.messages == (
        "t.made-up failed: the result of t.coins does not fit: the setting sides of fair was 2 and "
        "is now 3; `rankcheck experiment t.coins --scale small --seed 1` makes it anew",
    )


def test_what_is_no_result_of_the_experiment_is_said(coins):
    record = recorded(NAME)
    first, *others = record.runs
    more = replace(first, settings={**first.settings, "width": 4})
    for change, said in (
        ({"runs": tuple(others)}, "no run of fair with seed 100"),
        ({"runs": (*record.runs, first)}, "a run too many of fair with seed 100"),
        ({"runs": (replace(first, seed=77), *others)}, "no run of fair with seed 100"),
        ({"runs": (more, *others)}, "the setting width of fair was 4 and is now None"),
        ({"scale": "tiny"}, "of the scale tiny"),
        ({"pilot": (0, 1)}, "its pilot had other seeds"),
    ):
        [fault] = faults(replace(record, **change))
        assert said in fault


def test_no_claim_is_tested_on_its_pilot(claim, verify, coins):
    """Thresholds are fixed on the runs of seed 0; the record has others, and names these."""
    assert recorded(NAME).pilot == tuple(range(5))
    assert verify(claim()).verdict == "holds"
    pilot = run_experiment(NAME, "small", seed=0)
    assert pilot.pilot == ()
    with using(pilot):
        row = verify(claim())
    assert row.verdict == "failed"
    assert "the seed 0 is that of a pilot" in row.messages[0]


def test_a_run_is_not_both_of_the_pilot_and_of_a_test(coins):
    parts = coins.parts
    coins.parts = lambda scale, seed: parts(scale, 0)
    with pytest.raises(ValueError, match="seed 0 is one of its pilot"):
        run_experiment(NAME, "small", seed=1)


def test_a_theorem_that_fails_on_a_trained_network_is_said(claim, verify, coins):
    coins.failing = ("rank.sandwich",)
    row = verify(claim(), "deep")
    assert row.verdict == "failed"
    assert "the audit of fair with seed 100 says that rank.sandwich fails" in row.messages[0]
    with using(run_experiment(NAME, "small", seed=1)):
        assert "rank.sandwich" in verify(claim()).messages[0]


def test_what_is_evaluated_in_place_of_the_record_is_named_so(claim, verify, record):
    made = run_experiment(NAME, "small", seed=4)
    other = replace(made.runs[0], measured=made.runs[0].measured | {"height": -1.0})
    with using(replace(made, runs=(other, *made.runs[1:]))):
        row = verify(claim())
        assert (row.recorded.seed, row.recorded.file) == (4, "")
        record().unlink()
        recorded.cache_clear()
        assert verify(claim(), "deep", 3).remade.same == 9


def test_runs_are_shown_in_a_few_words():
    runs = [Run(part, seed, {}, {}) for part, seed in (("b", 0), ("a", 0), ("b", 1))]
    assert repr(Runs(runs)) == "3 runs: a (1), b (2)"
    assert repr(Runs()) == "no runs"
    assert repr(Runs(runs[:1], [("depth", 3)])) == "1 run with depth = 3"
    assert mostly([True] * 5, "so", of="pairs").note == "5 of 5 pairs, p = 0.0312 ≤ 0.05"
