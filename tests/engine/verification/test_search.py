"""Sweeping and drawing: what is counted, what is re-checked in balls, and what was rounding."""

from typing import Any

import pytest
import torch

from rankcheck import eq, leq
from rankcheck.engine.counterexamples.instance import excess
from rankcheck.engine.verification.batches import evaluate_batch
from rankcheck.engine.verification.evaluation import Part
from rankcheck.engine.verification.profiles import Profile, Settings
from rankcheck.engine.verification.search import JUDGED, draw, sweep, worst_of
from rankcheck.engine.verification.stages import search
from rankcheck.engine.verification.tally import Tally
from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import instances

SMALL = Profile("small", drawn=40, batches=6, size=64, single=12)


def swept(claim, family=None, **options) -> Any:
    tally = Tally()
    return sweep(claim, family or claim.instances, SMALL, 0, tally, **options), tally


def drawn(claim, count=20, seed=0, tally=None) -> Any:
    return draw(claim, claim.instances, count, seed, Tally() if tally is None else tally)


def test_a_false_claim_is_found_and_proved(declare, scalars):
    claim = declare(lambda x: leq(x, 7.0), scalars())
    found, _ = swept(claim)
    assert found.judgement.finding == "refuted"
    assert float(found.record.tensors[0]) > 7
    assert drawn(claim, 300).judgement.finding == "refuted"


def test_rounding_is_no_violation(declare, scalars):
    """The claim is true; its tolerance is zero, so that rounding looks like a violation."""
    claim = declare(lambda x, y: eq((x + y) * (x - y), x * x - y * y, terms=0), scalars(count=2))
    found, tally = swept(claim)
    assert found is None
    assert tally.counts.rounding >= 6
    tally = Tally()
    assert drawn(claim, 40, 0, tally) is None
    assert tally.counts.rounding > 0


def test_noise_does_not_hide_a_violation(declare):
    """Where both sides cancel, rounding is as large as the sides, and sorts before a violation."""

    @instances
    def pairs(source):
        return source.tensor(), source.tensor()

    def body(x, y):
        noise = ((x + y) - x) - y
        return (
            eq(noise, 0 * x, label="true, and noisy"),
            leq(y, 7.75 + 0 * y, label="false, hardly"),
        )

    claim = declare(body, pairs())
    _, evaluation = evaluate_batch(claim, claim.instances, BatchSource(1, 2048))
    [part] = evaluation.parts
    assert int((excess(part.relations) > 0.9).sum()) > 100
    found, _ = swept(claim)
    assert found.judgement.finding == "refuted"
    assert found.judgement.label == "false, hardly"


def test_the_worst_by_either_measure(scalars):
    lhs = torch.tensor([1.0, 1e6 + 1, 3.0, 2.0, 1e-9, 5.0, 0.0, 1e5]).double()
    rhs = torch.tensor([0.5, 1e6, 3.0, 1.9, 0.0, 4.0, 1.0, 0.0]).double()
    valid = torch.tensor([True] * 7 + [False])
    order = worst_of(Part(scalars(), Record(()), torch.arange(8), valid, (leq(lhs, rhs),)))
    assert len(order) == len(set(order)) <= 2 * JUDGED
    assert set(order) == {0, 1, 3, 4, 5}
    assert order[:4] == [4, 0, 5, 3]


def test_a_proved_violation_goes_before_an_undecided_one(declare, lists):
    """Both occur in one batch."""

    def body(x):
        first = x[..., 0]
        return leq(torch.where(first < 0, first / (first - first), first), 5.0 + 0 * first)

    some = [swept(declare(body, lists(), id=f"t.n{n}"))[0].judgement.finding for n in range(6)]
    assert "refuted" in some


def test_where_is_respected(declare, scalars):
    claim = declare(lambda x: leq(x, 1.0, where=x < 1), scalars())
    found, tally = swept(claim)
    assert found is None
    assert 0 < tally.relations[0].asserted < 384
    nowhere = declare(lambda x: leq(x, 1.0, where=x > 8), scalars())
    found, tally = swept(nowhere)
    assert found is None
    [seen] = tally.relations.values()
    assert (seen.asserted, seen.killed, seen.ratio) == (0, False, None)


def test_rejected_instances_do_not_count(declare):
    @instances
    def halves(source):
        x = source.tensor()
        source.require(x > 0, "x is positive")
        return x

    claim = declare(lambda x: leq(-x, 0.0), halves())
    found, tally = swept(claim)
    assert found is None
    assert tally.counts.evaluated + tally.counts.rejected == 6 * 64
    assert tally.counts.reasons == {"x is positive": tally.counts.rejected}
    tally = Tally()
    assert drawn(claim, 40, 0, tally) is None
    assert tally.counts.evaluated > 0
    assert tally.counts.rejected > 0
    # The claim is false outside the hypotheses, which is no violation.
    alone = declare(lambda x: leq(-x.item() + 0 * x, 0.0), halves(), id="t.alone")
    found, tally = swept(alone)
    assert found is None
    assert tally.counts.rejected > 0


def test_with_proof_a_search_goes_on_after_what_is_not_conclusive(declare, scalars):
    """The first instances have no number on a side; the violation that is proved is rarer."""

    def body(x):
        return leq(torch.where((x - 4).abs() < 1, x / (x - x), x), 7.0)

    claim = declare(body, scalars())
    assert not swept(claim)[0].conclusive
    found = sweep(claim, claim.instances, SMALL, 0, Tally(), proof=True)
    assert found.proved
    none = declare(lambda x: leq(x / (x - x), x), scalars())  # nothing is proved, nor drawn twice
    assert not drawn(none).conclusive
    assert draw(none, none.instances, 20, 0, Tally(), proof=True) is None
    assert search(claim, Settings(SMALL), control=True).violation.proved
    assert not search(claim, Settings(SMALL)).violation.conclusive


def test_rounding_kills_no_mutant(declare, scalars):
    """2 % of zero is below rounding: an instance that fails anyway kills nothing."""
    claim = declare(lambda x, y: leq((x + y) - x - y, 0 * x), scalars(count=2))
    found, tally = swept(claim)
    assert found is None
    assert tally.counts.rounding > 0
    assert not tally.relations[0].killed


RUNS = {
    "draw": lambda claim, seed: draw(claim, claim.instances, 20, seed, Tally()),
    "sweep": lambda claim, seed: sweep(claim, claim.instances, SMALL, seed, Tally()),
    "controls": lambda claim, seed: search(claim, Settings(SMALL, seed), control=True),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_the_seed_decides_what_is_seen(declare, scalars, run):
    """The same seed shows a claim the same instances, another seed others."""

    def seen(seed):
        values = []

        def body(x):
            values.append(x.item())  # one at a time
            return leq(x * x, 64.5)

        run(declare(body, scalars()), seed)
        return values

    assert seen(0) == seen(0)
    assert seen(0) != seen(1)
