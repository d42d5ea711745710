"""Promises of generators: each option has one, and whatever draws an instance keeps it."""

import pytest
import torch

from rankcheck import conjecture, leq
from rankcheck.balls import BallArray, NoBallForm, Undecided
from rankcheck.engine.hunt.arena import Arena, Shape
from rankcheck.engine.hunt.points import MagnitudeSource, StructuredSource
from rankcheck.engine.hunt.strategies.descend import NO_GRADIENT, descend
from rankcheck.engine.hunt.strategies.perturb import perturb
from rankcheck.engine.hunt.strategies.starts import starts
from rankcheck.theory.instances.drivers import BatchSource, ReplaySource, ScopeSource
from rankcheck.theory.instances.networks import (
    networks_with_inputs,
)
from rankcheck.theory.instances.promises import promises_of
from rankcheck.theory.instances.scope import shapes
from rankcheck.theory.instances.source import Rejected, seed_of
from tests.draws import arrays_of, batch_of, changed

from .families import GENERATORS, broken, chosen, kept, options_of

pytestmark = pytest.mark.slow

#: Values of each option besides its default.
VALUES = {
    "depth": [(2, 3)],
    "width": [(1, 1)],
    "slopes": ["relu", "nonnegative", "negative"],
    "points": [(4, 5)],
    "biases": [False],
    "differentiable": [False],
    "constructions": [("exact", "rescaled")],
    "diagonal": [(0.5, 0.75)],
    "above": [0.25],
    "extra": [(2, 3)],
    "rays": [(3, 3)],
    "spine": [1],
    "length": [(2, 3)],
    "size": [(2, 3)],
    "rows": [(3, 3)],
    "columns": [(2, 2)],
    "count": [2],
    "condition": [3.0],
    "rank": [0, 2],
    "decades": [2.0],
    "scale": [(0.5, 1.0)],
    "equal": [True],
    "least": [2],
    "units": [(3, 3)],
    "inputs": [(2, 3)],
    "outputs": [(2, 2)],
    "leaky": [False],
    "depths": [(3, 3)],
    "full_rank": [True],
    "regions": ["neighbouring", "different"],
}

#: What no instance of a default option has.
BROKEN = {
    "above": 0.0,
    "biases": False,
    "condition": 1.0,
    "constructions": ("exact",),
    "count": 99,
    "decades": -9.0,
    "diagonal": (99.0, 99.0),
    "differentiable": True,
    "equal": True,
    "full_rank": True,
    "leaky": False,
    "least": 99,
    "rank": 99,
    "regions": "different",
    "scale": (99.0, 99.0),
    "slopes": "negative",
    "spine": 99,
}
RANGE = (99, 99)


#: Every generator with its defaults, and with every value of every option.
CASES = [
    pytest.param(made, options, id=made(**options).name)
    for made in GENERATORS
    for options in [
        {},
        *({name: value} for name in options_of(made) for value in VALUES.get(name, [])),
    ]
]


#: What Hypothesis draws and hunts move are entries; ranges of integers are kept as in sweeps, and
#: the same number of instances in a list or the sign of a slope need no search.
MOVED = [
    case
    for case in CASES
    if not any(
        isinstance(value, tuple) or name in {"slopes", "count"}
        for name, value in case.values[1].items()
    )
]


def single(family, record, convert=torch.clone):
    """The instance of a record, and whether it lies inside the hypotheses."""
    try:
        return family(ReplaySource(record, convert)), torch.tensor(True)
    except Rejected:
        return None, torch.tensor(False)


def test_every_generator_and_every_option_has_a_promise():
    for made in GENERATORS:
        promised = [name for name, _ in promises_of(made)]
        assert promised, f"{made.__name__} promises nothing"
        missing = set(options_of(made)) - set(promised)
        assert not missing, f"{made.__name__} promises nothing for {missing}"
        assert set(promised) <= {"always", *options_of(made)}, made.__name__
        untried = set(options_of(made)) - set(VALUES)
        assert not untried, f"values of {untried} are to be added to the table of this test"


def test_the_docstrings_say_what_is_promised():
    for made in GENERATORS:
        for name, promise in promises_of(made):
            assert f"    {name}: {promise.says}." in made.__doc__


def sources(family):
    """Batches of every shape that is drawn, at random, structured, and of many magnitudes."""
    for index in range(3):
        source = BatchSource(seed_of("promises", index), 32)
        yield source, *batch_of(family, source)
        for make in (StructuredSource, MagnitudeSource):
            other = make(source.record.integers, seed_of("promises", index), 32)
            yield other, *batch_of(family, other)


#: With several points, or another slope, a kink may remain. All others lose no instance.
REJECTING = {
    "networks_with_inputs",
    "balanced_networks_with_inputs",
    "steep_networks",
    "pairs_of_points",
}


@pytest.mark.parametrize(("made", "options"), CASES)
def test_sweeps_keep_promises(made, options):
    family, lost, number = made(**options), 0, 0
    for _, built, valid in sources(family):
        assert broken(made, options, built, valid) == []
        lost += int((~valid).sum())
        number += 32
    assert lost <= (0.05 * number if made.__name__ in REJECTING else 0)


@pytest.mark.parametrize(("made", "options"), CASES)
def test_balls_keep_promises(made, options):
    """Exactly, as what is drawn is rational."""
    family = made(**options)
    for index in range(2):
        source = BatchSource(seed_of("promises", index))
        family(source)
        if index % 2:
            source = StructuredSource(source.record.integers, seed_of("promises", index))
            family(source)
        try:
            built, valid = single(family, source.record.instance(0), BallArray.exact)
        except (NoBallForm, Undecided):
            assert "rescaled" in chosen(made, options).constructions
            continue
        assert not bool(valid) or broken(made, options, built, valid) == []


@pytest.mark.parametrize(("made", "options"), MOVED)
def test_draws_keep_promises(made, options, drawn):
    for pair in drawn(made(**options), 10):
        if pair is not None:
            assert broken(made, options, pair[1], torch.tensor(True)) == []


@pytest.mark.parametrize(("made", "options"), CASES)
def test_scopes_keep_promises(made, options):
    family = made(**options)
    for shape in shapes(family, 8, runs=40).shapes[:6]:
        source = ScopeSource(shape, 0, min(64, shape.instances))
        assert broken(made, options, *batch_of(family, source)) == []
        built, valid = single(family, source.record.instance(0))
        assert not bool(valid) or broken(made, options, built, valid) == []


class Watched(Arena):
    """Keeps the records of all batches that a search looks at."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.seen = []

    def measure(self, record):
        self.seen.append(record.detach())
        return super().measure(record)


@pytest.mark.parametrize(("made", "options"), MOVED)
def test_what_hunts_move_keeps_promises(made, options, monkeypatch):
    """Towards zero, where most hypotheses end."""
    monkeypatch.setattr("rankcheck.engine.hunt.strategies.descend.STEPS", 12)
    monkeypatch.setattr("rankcheck.engine.hunt.strategies.perturb.GENERATIONS", 4)
    family = made(**options)

    def body(*built):
        """A statement: the entries are not all zero."""
        return leq(-sum(a.square().sum() for a in arrays_of(built)), -1e-30)

    claim = conjecture("promises.local", instances=family)(body)
    source = BatchSource(seed_of("hunts", family))
    family(source)
    arena = Watched(claim, Shape("instances", source.record.integers))
    start = starts(arena, 0, 24)
    if start is None:
        assert not any(t.numel() for t in source.record.tensors)
        return
    descend(arena, start, 0)
    perturb(arena, start, 0)
    assert set(arena.troubles) <= {NO_GRADIENT}
    assert len(arena.seen) >= 5
    for record in arena.seen[-8:]:
        assert broken(made, options, *batch_of(family, record)) == []


def test_without_biases_a_descent_reaches_the_weights():
    """Moved units, turned points and positive rows have gradients."""
    family = networks_with_inputs(biases=False, depth=(3, 3), points=(3, 3))
    for source, *_ in sources(family):
        leaves = [t.clone().requires_grad_() for t in source.record.tensors]
        record = source.record.with_tensors(leaves)
        (net, x), _ = batch_of(family, record)
        reached = torch.autograd.grad(net(x).square().sum(), leaves, allow_unused=True)
        assert all(torch.isfinite(g).all() for g in reached if g is not None)
        assert any(bool(g.any()) for g in reached if g is not None)


# Every predicate is false of something


def noise(values):
    generator = torch.Generator().manual_seed(0)
    return values + torch.randn(values.shape, dtype=values.dtype, generator=generator)


def same_number(number):
    return number


def without_first_row(values):
    row = torch.arange(values.shape[-2 if values.ndim > 2 else -1]) == 0
    return torch.where(row.unsqueeze(-1) if values.ndim > 2 else row, 0.0, values)


CHANGES = {
    "noise": (noise, same_number),
    "zeros": (torch.zeros_like, same_number),
    "negative": (torch.neg, same_number),
    "large": (lambda values: 99 * values, same_number),
    "ones": (torch.ones_like, same_number),
    "one row": (lambda values: values[..., :1, :] if values.ndim > 2 else values, same_number),
    "a zero row": (without_first_row, same_number),
    "shorter": (lambda values: values[..., :-1], same_number),
    "small integers": (lambda values: values, lambda number: number - 99),
}


def of_floats(array):
    return lambda values: array(values) if values.is_floating_point() else values


def is_false(promise, options, built, batch):
    try:
        return not bool(kept(promise, options, built, batch).all())
    except (TypeError, ValueError, IndexError, RuntimeError):
        return False


@pytest.mark.parametrize("made", GENERATORS, ids=lambda made: made.__name__)
def test_every_promise_can_be_broken(made):
    """By an instance that was changed, or by one that other options have drawn."""
    never = []
    for name, promise in promises_of(made):
        caught = False
        for index in range(8):
            family = made(**({"differentiable": False} if name == "differentiable" else {}))
            built, _ = batch_of(family, BatchSource(seed_of("broken", index), 32))
            o = chosen(made, {} if name == "always" else {name: BROKEN.get(name, RANGE)})
            plain = chosen(made, {})
            caught = caught or (name != "always" and is_false(promise, o, built, (32,)))
            for array, number in CHANGES.values():
                for begin in (0, len(built) - 1):
                    other = (*built[:begin], *changed(built[begin:], of_floats(array), number))
                    caught = caught or is_false(promise, plain, other, (32,))
        if not caught:
            never.append(f"{name}: {promise.says}")
    assert never == []
