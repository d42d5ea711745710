"""Classes of matrices: their options, and what is reached."""

import itertools
import math

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.instances import (
    doubly_stochastic_matrices,
    hermitian_matrices,
    instances,
    orthogonal_matrices,
    permutation_matrices,
    positive_definite_matrices,
    positive_semidefinite_matrices,
    projections,
    symmetric_matrices,
    unitary_matrices,
)
from rankcheck.theory import linalg
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.drivers import BatchSource, ReplaySource
from rankcheck.theory.instances.matrix_classes import magnitudes, permutation
from rankcheck.theory.instances.record import Entries
from rankcheck.theory.instances.scope import shapes


def eye(A):
    return linalg.eye(A.shape[-1], like=A)


FACTORIES = [
    doubly_stochastic_matrices,
    hermitian_matrices,
    orthogonal_matrices,
    permutation_matrices,
    positive_definite_matrices,
    positive_semidefinite_matrices,
    projections,
    symmetric_matrices,
    unitary_matrices,
]


def on_balls(family, record):
    return family(ReplaySource(record, BallArray.exact))


@pytest.mark.parametrize(
    ("factory", "options", "rule"),
    [
        (symmetric_matrices, {"size": (0, 3)}, r"size=\(0, 3\) is no range"),
        (symmetric_matrices, {"size": (3, 2)}, r"size=\(3, 2\) is no range"),
        (symmetric_matrices, {"count": 0}, "received .*a positive integer"),
        (symmetric_matrices, {"count": True}, "received .*a positive integer"),
        (projections, {"rank": 5}, "received .*the largest size, 4"),
        (projections, {"rank": -1}, "received .*the largest size, 4"),
        (
            positive_semidefinite_matrices,
            {"size": (1, 2), "rank": 3},
            "received .*the largest size, 2",
        ),
        (positive_definite_matrices, {"condition": 0.5}, "received .*lies in"),
        (positive_definite_matrices, {"condition": 1e16}, "received .*lies in"),
        (positive_definite_matrices, {"condition": "large"}, "received .*is a number"),
    ],
)
def test_options_are_checked_where_they_are_written(factory, options, rule):
    with pytest.raises(ValueError, match=f"{factory.__name__}: .*{rule}"):
        factory(**options)


# What is reached


def found(swept, family, predicate, batches=60):
    return any(
        bool(torch.as_tensor(predicate(*parts)).any()) for _, parts, _ in swept(family, batches)
    )


def eigenvalues(A):
    return torch.linalg.eigvalsh(A)


def close(A, B):
    return (A - B).abs().amax((-2, -1)) < 1e-12


def repeated(A):
    values = eigenvalues(A)
    return (values.diff() < 1e-9).any(-1) & (values[..., -1] - values[..., 0] > 1e-3)


REACHED = {
    "symmetric, rank-deficient and not zero": (
        symmetric_matrices(size=(3, 3)),
        lambda A: linalg.rank(A) == 1,
    ),
    "symmetric, zero": (symmetric_matrices(), lambda A: (A == 0).all()),
    "symmetric, repeated": (symmetric_matrices(size=(3, 3)), repeated),
    "symmetric, indefinite": (
        symmetric_matrices(size=(2, 2)),
        lambda A: (eigenvalues(A)[..., 0] < -1) & (eigenvalues(A)[..., -1] > 1),
    ),
    "symmetric, identity": (symmetric_matrices(), lambda A: (eye(A) == A).all((-2, -1))),
    "definite, identity": (
        positive_definite_matrices(size=(3, 3)),
        lambda A: close(A, eye(A)),
    ),
    "definite, repeated": (positive_definite_matrices(size=(3, 3)), repeated),
    "definite, distinct": (
        positive_definite_matrices(size=(3, 3)),
        lambda A: (eigenvalues(A).log().diff() > 0.5).all(-1),
    ),
    "semidefinite, zero": (positive_semidefinite_matrices(), lambda A: (A == 0).all()),
    "semidefinite, rank one of three": (
        positive_semidefinite_matrices(size=(3, 3)),
        lambda A: linalg.rank(A) == 1,
    ),
    "projection, zero": (projections(), lambda A: (A == 0).all()),
    "projection, identity": (projections(size=(3, 3)), lambda A: close(A, eye(A))),
    "projection, not diagonal": (
        projections(size=(3, 3)),
        lambda A: (A - torch.diag_embed(A.diagonal(dim1=-2, dim2=-1))).abs().amax((-2, -1)) > 0.1,
    ),
    "orthogonal, identity": (orthogonal_matrices(size=(3, 3)), lambda A: close(A, eye(A))),
    "orthogonal, determinant 1": (orthogonal_matrices(size=(3, 3)), lambda A: A.det() > 0.5),
    "orthogonal, determinant -1": (orthogonal_matrices(size=(3, 3)), lambda A: A.det() < -0.5),
    "orthogonal, 1x1": (orthogonal_matrices(size=(1, 1)), lambda A: A[:, 0, 0] == 1),
    "orthogonal, 1x1 negative": (orthogonal_matrices(size=(1, 1)), lambda A: A[:, 0, 0] == -1),
    "unitary, identity": (
        unitary_matrices(size=(2, 2)),
        lambda X, Y: close(X, eye(X)) & close(Y, 0 * Y),
    ),
    "unitary, imaginary": (unitary_matrices(size=(1, 1)), lambda X, Y: Y[:, 0, 0].abs() > 0.9),
    "Hermitian, complex": (hermitian_matrices(size=(2, 2)), lambda X, Y: Y[:, 0, 1].abs() > 1),
    "Hermitian, rank one": (
        hermitian_matrices(size=(2, 2)),
        lambda X, Y: torch.linalg.matrix_rank(torch.complex(X, Y), hermitian=True, rtol=1e-9) == 1,
    ),
    "stochastic, identity": (
        doubly_stochastic_matrices(size=(3, 3)),
        lambda A: (eye(A) == A).all((-2, -1)),
    ),
    "stochastic, uniform": (
        doubly_stochastic_matrices(size=(3, 3)),
        lambda A: (A == 1 / 3).all((-2, -1)),
    ),
    "stochastic, positive and not uniform": (
        doubly_stochastic_matrices(size=(3, 3)),
        lambda A: (A > 0).all((-2, -1)) & (A.amax((-2, -1)) > 0.5),
    ),
    "stochastic, 1x1": (doubly_stochastic_matrices(), lambda A: torch.tensor(A.shape[-1] == 1)),
}


@pytest.mark.parametrize(("family", "predicate"), REACHED.values(), ids=REACHED)
def test_reach(family, predicate, swept):
    assert found(swept, family, predicate)


@pytest.mark.parametrize("condition", [1.0, 4.0, 1e4, 1e8])
def test_the_condition_reaches_its_bound_and_never_exceeds_it(condition, swept):
    worst = 0.0
    for _, (A,), _ in swept(positive_definite_matrices(size=(2, 3), condition=condition), 40):
        values = eigenvalues(A)
        assert bool((values > 0).all())
        root = condition**0.5
        assert bool((values <= root * (1 + 1e-9)).all())
        worst = max(worst, float((values[..., -1] / values[..., 0]).max()))
    assert worst <= condition * (1 + 1e-6)
    assert worst >= condition * 0.999


def test_the_condition_holds_exactly_on_balls():
    """The ends of the range: t = 1 and t = −1 give κ^½ and κ^−½ or numbers inside of them."""
    for condition in (1.0, 3.0, 100.0, 1e4, 1e15):

        @instances
        def ends(source, condition=condition):
            return magnitudes(source, 2, ratio=condition)

        record = read_choices(ends(), [[1, -1]])
        (values,) = on_balls(ends(), record)
        assert bool((values[0] / values[1] <= condition).all())
        assert bool((values[0] / values[1] >= condition * 0.9).all())


SHORT = torch.tensor([-2, -1, -0.5, 0, 0.5, 1, 2], dtype=torch.float64)


@pytest.mark.parametrize(
    "family",
    [
        positive_definite_matrices(size=(2, 3)),
        positive_semidefinite_matrices(size=(2, 3)),
    ],
    ids=str,
)
def test_short_choices_make_short_entries(family):
    """Three reflections, whose squares have at most two digits, or none."""
    for seed in range(60):
        source = BatchSource(seed)
        family(source)
        record = source.record.instance(0)
        nearest = [SHORT[(t.unsqueeze(-1) - SHORT).abs().argmin(-1)] for t in record.tensors]
        low = [e.low for e in record.choices if isinstance(e, Entries)]
        short = [t.clamp(least, -least) for t, least in zip(nearest, low, strict=True)]
        (A,) = on_balls(family, record.with_tensors(short))
        assert all(max(abs(int(q.p)), int(q.q)) < 10**7 for q in A.elements.flatten())


def test_permutations():
    for n in range(1, 6):
        found = {tuple(permutation(n, index)) for index in range(math.factorial(n))}
        assert found == set(itertools.permutations(range(n)))
        assert permutation(n, 0) == list(range(n))


def test_every_permutation_matrix_is_in_the_scope():
    assert shapes(permutation_matrices(), 0).instances == 1 + 2 + 6 + 24


@pytest.mark.parametrize("factory", FACTORIES, ids=lambda factory: factory.__name__)
def test_the_device_is_that_of_the_source(factory):
    for seed in range(12):
        parts = factory()(BatchSource(seed, device="meta"))
        assert all(part.device.type == "meta" for part in parts)
