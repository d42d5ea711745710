"""Where floats and balls differ by more than rounding, balls decide, and that is said."""

from dataclasses import replace
from functools import partial

import pytest
import torch

from rankcheck import eq, leq
from rankcheck.claims.claim import Need
from rankcheck.engine.counterexamples import replay
from rankcheck.engine.counterexamples.certificate import write
from rankcheck.engine.counterexamples.given import from_choices
from rankcheck.engine.counterexamples.instance import DisagreementError, Instance
from rankcheck.engine.counterexamples.rounding import TOLERANCES
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.profiles import Profile
from rankcheck.engine.verification.search import draw, sweep
from rankcheck.engine.verification.tally import Tally
from rankcheck.linalg import log_pseudo_determinant
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.source import instances

SMALL = Profile("small", drawn=40, batches=6, size=64, single=12)


@instances
def numbers(source, *, count=1, low=-8.0, high=8.0):
    return tuple(source.tensor(low=low, high=high) for _ in range(count))


def in_floats(x):
    return isinstance(x, torch.Tensor)


def off_by_1000(x):
    """True; floats add 1000 to the left side."""
    return leq(x * x + (1000 if in_floats(x) else 0), x * x + 0.5)


def off_by_a_millionth(x):
    y = x * x + 1
    return eq(y * (1 + 1e-6) if in_floats(x) else y, x * x + 1)


def off_by_a_factor(x):
    y = x * x + 1
    return leq(y * 166.97 if in_floats(x) else y, y)


def wrong_at_some(x):
    """Wrong in floats for x > 7 only."""
    y = x * x + 1
    return leq(torch.where(x > 7, 2 * y, y) if in_floats(x) else y, y, label="here")


def not_a_number(x):
    return leq(x / (x - x) if in_floats(x) else x, 8.0)


def wrong_integers(x):
    n = (x > 0) * 1
    return leq(n + 1 if in_floats(x) else n, 1)


@pytest.mark.parametrize("kind", ["bound", "conjecture"])
@pytest.mark.parametrize(
    "body",
    [off_by_1000, off_by_a_millionth, off_by_a_factor, wrong_at_some, not_a_number, wrong_integers],
    ids=lambda body: body.__name__,
)
def test_what_balls_decide_is_the_answer_and_the_row_says_how_floats_differ(
    declare, verify, body, kind
):
    row = verify(declare(body, numbers(), kind=kind, loose="for the test"))
    assert row.expected
    assert row.arithmetic
    assert row.best_ratio is None or row.best_ratio <= 1 + 1e-12
    claim, tally = declare(body, numbers()), Tally()
    assert draw(claim, claim.instances, 200, 0, tally) is None
    assert tally.differing > 0
    assert tally.differs


def test_a_row_that_is_refuted_does_not_say_that_the_relation_holds(declare, verify):
    """Floats are off at x = 0 and x = 1, and balls refute x = -1, which comes later."""

    def body(x):
        return leq(torch.where(x < 0, x + 2, x - 2 if not in_floats(x) else x + 9), 0)

    row = verify(declare(body, numbers(), kind="conjecture"))
    assert (row.verdict, row.arithmetic) == ("refuted", ())


def test_more_instances_are_judged_where_floats_are_far_off(declare):
    """The largest violations in floats are none; the one that is proved is much smaller."""

    def body(x):
        y = x * x + 1
        wrong = torch.where(x > 1, 2 * y, y) if in_floats(x) else y
        return leq(wrong + torch.where((x - 0.5).abs() < 0.5, 0.01, 0.0), y)

    claim, tally = declare(body, numbers()), Tally()
    found = sweep(claim, claim.instances, SMALL, 0, tally)
    assert found is not None
    assert found.proved
    assert abs(found.record.tensors[0] - 0.5) < 0.5


def test_a_small_multiple_of_the_tolerance_is_rounding(declare, record):
    """Floats are off by so many tolerances; the body is otherwise exact."""
    tolerance = 4 * 256 * 2.0**-53

    def body(x, *, times=1.0):
        return leq(x * (1 + times * tolerance) if in_floats(x) else x, x)

    claim = declare(body, numbers())
    one = record(1.0)

    def settled(times):
        other = replace(claim, body=partial(claim.body, times=times))
        return Instance(other, claim.instances, one).judgement

    assert Counts.of(settled(2.0)) == Counts(rounding=1)
    assert settled(TOLERANCES * 0.9).finding == "satisfied"
    assert not settled(TOLERANCES * 0.9).violation
    assert not settled(TOLERANCES * 0.9).differs
    assert settled(TOLERANCES * 1.1).finding == "satisfied"
    assert settled(TOLERANCES * 1.1).differs
    assert settled(0.5).finding == "satisfied"  # no violation alone


CANCELLING = {
    "sums": lambda x, y: leq((x + y) - x - y, 0 * x),
    "squares": lambda x, y: eq((x + y) * (x + y), x * x + 2 * x * y + y * y),
    "a square": lambda x, y: leq((x + y) * (x + y), x * x + 2 * x * y + y * y),
    "a large constant": lambda x, y: leq(
        ((x + 2**20) ** 2 - x * x - 2**21 * x - 2**40) * 2**20, 0 * y
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CANCELLING)
def test_honest_rounding_beyond_the_tolerance_is_no_alarm(declare, name):
    """Sides that cancel and say no `scale`: the errors are large multiples of the tolerance."""
    claim, tally = declare(CANCELLING[name], numbers(count=2)), Tally()
    profile = Profile("p", drawn=40, batches=12, size=512, single=12)
    assert sweep(claim, claim.instances, profile, 0, tally) is None
    assert draw(claim, claim.instances, 40, 0, tally) is None
    assert tally.counts.rounding > 0
    assert all((seen.ratio or 0.0) <= 1 + 1e-9 for seen in tally.relations.values())


@instances
def on_the_edge(source):
    """An identity of real numbers that rounding decides, as a hypothesis."""
    x, y = source.tensor(), source.tensor()
    source.require((x + y) - x < y, "rounding says so")
    return x, y


@instances
def never_exactly(source):
    x = source.tensor(low=1.0, high=8.0)
    source.require(x > 0 if in_floats(x) else x < 0, "floats think so")
    return x


def swept(claim):
    """The violation that a sweep finds; None if it counts some outside the hypotheses only."""
    tally = Tally()
    found = sweep(claim, claim.instances, SMALL, 0, tally)
    assert found is not None or (tally.counts.outside > 0 and tally.counts.rounding == 0)
    return found


def off_by_little(x):
    """A violation that is hardly one."""
    return leq(x * (1 + 2.0**-42), x)


def where_by_rounding(x, y):
    return leq(x.abs() + 1, x.abs(), where=(x + y) - x < y)


@pytest.mark.parametrize(
    ("body", "family"),
    [
        (lambda x, y: leq(x.abs() + 1, x.abs()), on_the_edge()),
        (where_by_rounding, numbers(count=2)),
        (off_by_little, never_exactly()),
    ],
)
def test_what_is_outside_the_hypotheses_by_rounding_is_counted_as_such(declare, body, family):
    assert swept(declare(body, family)) is None


def test_where_floats_assert_what_balls_put_outside_nothing_is_counted(declare):
    def never(x):
        return leq(x.abs() + 1, x.abs(), where=x > (0 if in_floats(x) else 9))

    for body, family in ((lambda x: leq(x + 1, x), never_exactly()), (never, numbers())):
        claim, tally = declare(body, family), Tally()
        assert sweep(claim, claim.instances, SMALL, 0, tally) is None
        assert tally.counts.outside > 0
        assert tally.relations[0].asserted == 0
        assert tally.left > 0


# What balls prove, and no search has found: an instance that was typed, or is in a certificate.

WRONG_ON_BALLS = {
    "a side": lambda x: leq(x if in_floats(x) else x + 100, 8.0),
    "a little": lambda x: leq(x if in_floats(x) else x * (1 + 2.0**-20), x),
    "integers": lambda x: leq((x > 0) * 1 + (0 if in_floats(x) else 1), 1),
    "where": lambda x: leq(x.abs() + 1, x.abs(), where=x > (9 if in_floats(x) else 0)),
    "a relation more": lambda x: (leq(x, 8.0), *([] if in_floats(x) else [leq(8.0, x)])),
    "an error": lambda x: leq(x.reshape(7) if in_floats(x) else x + 100, 8.0),
}


@pytest.mark.parametrize("name", WRONG_ON_BALLS)
def test_a_proof_that_floats_contradict_is_none(declare, tmp_path, name):
    claim = declare(WRONG_ON_BALLS[name], numbers())
    with pytest.raises(DisagreementError, match="undecided: floats and balls disagree: in balls"):
        from_choices(claim, [1.5])
    [record] = [read_choices(claim.instances, [1.5])]
    wrong = Instance(claim, claim.instances, record)
    assert wrong.proved
    path = write(tmp_path, wrong)
    with pytest.raises(DisagreementError):
        replay(path, claim=claim)


def test_a_hypothesis_that_only_balls_see_is_no_proof(declare):
    @instances
    def only_exactly(source):
        x = source.tensor(low=1.0, high=8.0)
        source.require(x < 0 if in_floats(x) else x > 0, "balls think so")
        return x

    with pytest.raises(DisagreementError, match="outside the hypotheses"):
        from_choices(declare(lambda x: leq(x + 1, x), only_exactly()), [2])


ROUNDED_UP = 0.1
"""3 + 0.1 − 3 is more than 0.1 in floats."""


@pytest.mark.parametrize(
    "body",
    [
        lambda x, y: leq(x * x, 8.99 + y - y),  # floats see it
        lambda x, y: leq(x + 1e-18, x),  # it is smaller than the tolerance
        lambda x, y: leq(((x + y) - x - y) * 2**30 + 1e-9, 0 * x),  # cancelled
        lambda x, y: leq(torch.where((x + y) - x <= y, x + 1, x), x),
        lambda x, y: leq(x + 1, x, where=(x + y) - x <= y),
    ],
)
def test_a_proof_that_floats_are_too_coarse_for_stands(declare, body):
    """Rounding, and what rounding decides near the edge, contradict nothing."""

    assert (torch.tensor(3.0).double() + ROUNDED_UP) - 3 > ROUNDED_UP
    assert from_choices(declare(body, numbers(count=2)), [3, ROUNDED_UP]).proved


def test_a_control_that_only_floats_break_is_not_caught(declare, verify):
    def body(x, *, off=0):
        return leq(x * x + (off if in_floats(x) else 0), 64.0)

    row = verify(declare(body, numbers(), mutants={"off": {"off": 1000}}))
    assert row.verdict == "failed"
    assert row.mutants.survivors == ("off",)
    need = Need(numbers(), {"off": 1000})
    row = verify(declare(body, numbers(), needs={"nothing": need}))
    assert (row.verdict, row.unbroken) == ("failed", ("nothing",))


def test_several_relations_are_looked_at(declare, record):
    """The relation with the larger excess is rounding; the other one is wrong in floats."""

    def body(x):
        y = x * x + 1
        return (
            leq(1e9 * y * (1 + (3e-13 if in_floats(x) else 0)), 1e9 * y),
            leq(y * (1 + (1e-6 if in_floats(x) else 0)), y, label="wrong"),
        )

    claim = declare(body, numbers())
    one = record(1.5)
    judgement = Instance(claim, claim.instances, one).judgement
    assert judgement.finding == "satisfied"
    assert judgement.differs


def gram(A, *, d=0.0):
    size = d * A.square().sum((-2, -1)).sqrt()
    left = log_pseudo_determinant(A @ A.mT, noise=size**2)
    return eq(left, 2 * log_pseudo_determinant(A, noise=size), scale=2)


def test_a_rank_that_flips_differs_and_noise_helps(declare):
    """A singular value of 3e-8 of the size of A, whose square floats take for 0."""

    @instances
    def factors(source):
        return source.tensor(2, 2) @ source.tensor(2, 2)

    near = [["-45/16", "-45/16"], ["-45/16", "-181/64"]]
    rest = [["11585/4096", "181/64"], ["11585/4096", "11585/4096"]]

    def judged(body):
        claim = declare(body, factors())
        return Instance(
            claim, claim.instances, read_choices(claim.instances, [near, rest])
        ).judgement

    assert judged(gram).finding == "satisfied"
    assert judged(gram).differs
    assert not judged(partial(gram, d=1e-6)).differs
