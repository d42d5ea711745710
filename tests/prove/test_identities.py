"""Identities at random points: what is true passes, what is false is seen, the rest is named."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest
import torch

from rankcheck import eq, leq
from rankcheck.algebra.modular import Modular
from rankcheck.algebra.points import ThinCell
from rankcheck.balls import NoBallForm, Undecided
from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.claims.labels import relation_name
from rankcheck.claims.variants import mutant
from rankcheck.errors import InputError
from rankcheck.instances.networks import networks_at_points
from rankcheck.instances.source import instances
from rankcheck.linalg import rank
from rankcheck.prove import identities
from rankcheck.prove.identities import identity, sample

CLAIMS = [
    "bottleneck.hessian-at-interpolation",
    "bottleneck.identity-planar",
    "bottleneck.ntk-trace",
    "bottleneck.rotation-symmetry",
    "linear.gradient-variance",
    "linear.reparameterisation",
    "rank.balance-and-gradient",
    "rank.composition-cost",
    "rank.equal-factors-cost",
    "rank.piecewise-linear-depth",
    "rank.weak-balancedness",
    "separation.neuron-is-separable",
]


def named(claim):
    [found] = load(select([claim]))
    return found


@instances
def pairs(source, *, size=2):
    return source.tensor(size), source.tensor(size)


@pytest.fixture
def claim(declare):
    """`claim(body)`: a claim about two vectors x and y."""
    return lambda body: declare(body, pairs(), kind="identity")


# What is true, and what is false.


@pytest.mark.parametrize("name", CLAIMS)
def test_identities_pass(name):
    found = identity(named(name))
    assert found.passed
    assert found.exponent >= 80
    assert found.rounds == 2
    assert "on the activation pattern of this sample; if it were false there" in found.sentence
    assert replace(found, exponent=80).sentence.endswith("with probability at most 2⁻⁸⁰ (no proof)")


def off(claim, name):
    """The claim with the right side of a relation moved by a fiftieth, or by 1 between integers."""

    def body(*instance):
        return tuple(
            replace(relation, rhs=relation.rhs + (1 if relation.exact else Fraction(1, 50)))
            if relation_name(relation.label, at) == name
            else relation
            for at, relation in enumerate(claim.relations(instance))
        )

    return replace(claim, body=body, mutants={}, needs={})


@pytest.mark.parametrize("name", CLAIMS)
def test_every_identity_with_a_side_that_is_off_is_seen(name):
    claim = named(name)
    for relation in identity(claim).relations:
        found = identity(off(claim, relation))
        assert len(found.refuted_by) >= 1
        assert all(relation in one for one in found.refuted_by)
        assert "not an identity on the activation pattern of this sample" in found.sentence
        assert "no counterexample" in found.sentence


#: Other exponents than integers make no rational functions.
MUTANTS = [
    pytest.param(name, one, id=f"{name}: {one}")
    for name in CLAIMS
    for entry in select([name])
    for one in entry.mutants
    if "exponent" not in one
]


@pytest.mark.parametrize(("name", "one"), MUTANTS)
def test_mutants_are_seen_on_one_of_a_few_samples(name, one):
    false = mutant(named(name), one)

    def passes(seed):
        try:
            return identity(false, seed=seed).passed
        except (InputError, NoBallForm, ThinCell):
            return True  # nothing is said

    assert not all(passes(seed) for seed in range(8))


def test_one_wrong_entry_of_many_is_seen(claim):
    def body(x, y):
        products = x.unsqueeze(-1) * y
        off = torch.zeros(tuple(products.shape), dtype=torch.float64)
        off[1, 0] = 2.0**-20
        return eq(products + off * x, products, label="products")

    found = identity(claim(body))
    assert found.refuted_by == ("the sides of products, entry 2 differ at the random points",)


def test_functions_that_agree_at_the_sample_alone_differ(claim):
    one = claim(lambda x, y: eq(x[0] * y[1], x[1] * y[0]))
    assert identity(one, point(one, [1, 2], [2, 4])).refuted_by == (
        "the sides of relation 1 differ at the random points",
    )


def test_residues_that_agree_do_not_excuse_the_sample(claim, monkeypatch):
    """Modulo 2, x² is x at each point; and a wrong bound of the degree is seen."""
    monkeypatch.setattr(identities, "random_primes", lambda rounds, draw: (2,))
    false = claim(lambda x, y: eq(x[0] * x[0], x[0], label="a square"))
    record = point(false, [3, 5], [7, 4])
    found = identity(false, record, rounds=1)
    assert found.refuted_by == ("the sides of a square differ at the sample",)
    assert found.exponent == 0
    monkeypatch.setattr(Modular, "_sum", lambda self, other: (0, 0.0, 1, {}))
    assert identity(false, record, rounds=1).exponent > 0


def point(claim, *rows):
    """The record of an instance."""
    record = sample(claim.instances, None, random.Random(0))
    return record.with_tensors([torch.tensor(row, dtype=torch.float64) for row in rows])


# Patterns.


def test_a_pattern_is_that_of_the_sample(claim):
    """relu(x) = x where x is positive, and nowhere else."""
    relu = claim(lambda x, y: eq(torch.relu(x), x))
    assert identity(relu, point(relu, [1, 2], [1, 1])).passed
    assert not identity(relu, point(relu, [1, -2], [1, 1])).passed


def test_the_edge_of_a_pattern_is_refused(claim):
    """relu(x) = 0 where x = 0; around it there are two patterns, of which one has another value."""
    edge = claim(lambda x, y: eq(torch.relu(x), 0 * x))
    for zero in ([0, -1], [-1, 0]):
        with pytest.raises(ThinCell, match="0 >= 0 holds at the sample and not around it"):
            identity(edge, point(edge, zero, [1, 1]))
    equal = claim(lambda x, y: eq(torch.where(x == y, x, x + 1), y))
    with pytest.raises(ThinCell):
        identity(equal, point(equal, [3, 4], [3, 4]))


def test_a_body_does_not_hide_an_edge(claim):
    def body(x, y):
        try:
            return eq(torch.relu(x), x)
        except Undecided:
            return eq(x, x)

    hidden = claim(body)
    with pytest.raises(ThinCell):
        identity(hidden, point(hidden, [0, 1], [1, 1]))


def test_what_is_identically_zero_is_no_edge(claim):
    """Both factors are dead units: a comparison of two equal functions decides nothing."""
    dead = claim(lambda x, y: eq(torch.relu(x * y - y * x), 0 * x))
    found = identity(dead)
    assert found.passed
    assert 80 <= found.exponent < 120


def test_a_rank_belongs_to_the_pattern(claim):
    thin = claim(lambda x, y: eq(rank(torch.stack((x, y), -2)), 1))
    with pytest.raises(ThinCell, match="the rank of a 2 × 2 matrix, 1,"):
        identity(thin, point(thin, [1, 2], [2, 4]))
    assert not identity(thin).passed
    outer = claim(lambda x, y: eq(rank(x.unsqueeze(-1) * y), 1, label="an outer product"))
    assert identity(outer).passed


def test_a_sample_is_in_general_position():
    family = networks_at_points(depth=(2, 2), width=(3, 3))
    record = sample(family, None, random.Random(3))
    values = torch.cat([t.reshape(-1) for t in record.tensors])
    assert (values != 0).all()
    assert len(set(values.tolist())) == len(values)
    again = sample(family, record.integers, random.Random(4))
    assert again.integers == record.integers
    assert not torch.equal(again.tensors[-1], record.tensors[-1])


# What is left out, and what is refused.


def test_bounds_are_left_out(claim):
    def body(x, y):
        return (
            eq(x * y, y * x, label="products"),
            leq(x, x + 1, label="a bound"),
            eq(x, y, where=x > 9, label="nowhere"),
        )

    found = identity(claim(body))
    assert found.relations == ("products",)
    assert found.others == ("a bound", "nowhere")
    with pytest.raises(InputError, match="random points show nothing of a bound"):
        identity(claim(lambda x, y: leq(x, x + 1)))


@pytest.mark.parametrize(
    ("operation", "of"),
    [
        ("sqrt", lambda x: (x * x).sqrt()),
        ("log", lambda x: (x * x + 1).log()),
        ("exp", torch.exp),
        ("power", lambda x: (x * x) ** Fraction(1, 3)),
        ("singular values", lambda x: torch.linalg.svdvals(x.unsqueeze(-1) * x + 1)),
        ("constant that is known as a ball", lambda x: x * (2 / 3)),
        ("midpoint", lambda x: torch.tensor(x.midpoints().tolist()) * x),
    ],
)
def test_what_is_no_rational_function_is_named(claim, operation, of):
    with pytest.raises(NoBallForm, match=operation):
        identity(claim(lambda x, y: eq(of(x), of(x))))


def test_a_root_may_decide_and_be_a_scale(claim):
    def body(x, y):
        size = (x * x).sum(-1).sqrt()
        return eq(torch.where(size > 1000, x + 1, x) * y, y * x, scale=size)

    assert identity(claim(body)).passed


def test_a_root_that_cannot_decide_is_no_guess(claim):
    def body(x, y):
        size = (x * x).sum(-1).sqrt()
        return eq(torch.where(size * size > (x * x).sum(-1), x + 1, x), x)

    with pytest.raises(Undecided):
        identity(claim(body))


def test_more_rounds_and_other_seeds():
    claim = named("rank.weak-balancedness")
    one, four = (identity(claim, rounds=rounds, seed=5) for rounds in (1, 4))
    assert 40 < one.exponent < 61 < 4 * one.exponent <= four.exponent + 8
    shape = one.sample.integers
    assert identity(claim, shape, seed=6).sample.integers == shape
    with pytest.raises(InputError, match="there is at least one"):
        identity(claim, rounds=0)
    with pytest.raises(InputError, match="has 1 integers too many"):
        identity(claim, (*shape, 1))
    with pytest.raises(InputError, match="the shape is at its end"):
        identity(claim, shape[:1])
    with pytest.raises(InputError, match="the shape has 99"):
        identity(claim, (99,))


def test_a_claim_without_a_ball_form_or_without_instances_is_refused():
    with pytest.raises(NoBallForm, match="quadrature, in floats"):
        identity(named("separation.width-lower-bound"))
    with pytest.raises(InputError, match="draws no instances"):
        identity(named("linear.alignment"))


@pytest.mark.parametrize("name", CLAIMS)
def test_residues_are_those_of_the_same_functions(name, monkeypatch):
    """Where the random point is the sample, every residue is that of the value."""
    make = Modular.__init__

    def checked(self, points, value, residue, *rest, **options):
        if not options.get("lost"):
            at_sample = points.rational(int(value.p), int(value.q))
            assert residue % points.modulus == at_sample
        make(self, points, value, residue, *rest, **options)

    def at_sample(points, value):
        return Modular(points, value, points.rational(int(value.p), int(value.q)), 1, 0.0)

    monkeypatch.setattr(Modular, "__init__", checked)
    monkeypatch.setattr(Modular, "entry", at_sample)
    assert identity(named(name)).passed
