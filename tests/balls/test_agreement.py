"""The same code on tensors and on ball arrays: equal shapes, equal values."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from rankcheck.balls import BallArray, Undecided, balls
from rankcheck.balls.complexes import Complex


def dyadics(*shape, seed=0, low=-16, high=17, scale=4):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(low, high, shape, generator=generator).double() / scale


def assert_same(expected, got, unknown=False, narrow=False):
    """The same numbers in the same shape; with `unknown`, balls may not know some of them.

    Numbers of a type narrower than float64 may be known to half a unit of it alone; with `narrow`,
    those of float64 to half a unit of float32.
    """
    if isinstance(expected, torch.Tensor) and (
        expected.is_floating_point() or expected.is_complex()
    ):
        assert isinstance(got, BallArray)
        assert got.shape == expected.shape
        assert all(isinstance(x, (fmpq, arb, Complex)) for x in got.elements.ravel().tolist())
        known = got.radii().isfinite() if unknown else torch.ones(got.shape, dtype=torch.bool)
        wide = expected.dtype in (torch.float64, torch.complex128)
        close = 1e-12 if wide else 1e-5
        rounded_to = torch.float32 if wide and narrow else expected.dtype
        unit = torch.finfo(rounded_to).eps if narrow or not wide else 0.0
        middle, expected = got.midpoints()[known], expected[known]
        torch.testing.assert_close(
            middle.to(torch.complex128), expected.to(torch.complex128), rtol=close, atol=close
        )
        assert (got.radii()[known] <= 1e-12 + 0.501 * unit * middle.abs()).all()
    elif isinstance(expected, torch.Tensor):
        assert isinstance(got, torch.Tensor)
        assert got.dtype is expected.dtype
        assert torch.equal(got, expected)
    elif isinstance(expected, (tuple, list)):
        assert len(expected) == len(got)
        for a, b in zip(expected, got, strict=True):
            assert_same(a, b, unknown, narrow)
    else:
        assert got == expected


def assert_agrees(function, *tensors):
    assert_same(function(*tensors), function(*(BallArray.exact(t) for t in tensors)))


X = dyadics(2, 3, 4, seed=1)
V = dyadics(4, seed=3)
M = dyadics(2, 4, 4, seed=2) + 9 * torch.eye(4, dtype=torch.float64)
MASK = X > 0

CALLS = {
    "operators": lambda x: ((1 - x) * 2 + x / 4, 3 / (x.abs() + 1), -x, +x, abs(x), 2 + x, 2 * x),
    "tensor operators": lambda x: (V + x, V - x, V * x, x - V, V / (x.abs() + 1), x > V, x <= V),
    "numpy numbers": lambda x: (np.float64(0.5) * x, x + np.int64(3)),
    "powers": lambda x: (x**2, x**3, torch.pow(x, 0), 2**x, (x**2) ** 1.5, (x.abs() + 1) ** x),
    "exponentials": lambda x: (x.exp(), torch.expm1(x), torch.exp2(x), x.tanh(), x.sigmoid()),
    "logarithms": lambda x: ((x.abs() + 1).log(), torch.log1p(x.abs()), torch.log2(x.abs() + 1)),
    "rounding": lambda x: (x.floor(), x.ceil(), x.trunc(), torch.round(x, decimals=1), x // 3),
    "extremes": lambda x: (torch.maximum(x, V.expand_as(x)), x.minimum(-x), x.clamp(-1, 2)),
    "comparisons": lambda x: (x < 0, x <= 1, x > V, x >= -x, x == 1, x != 0, torch.lt(x, 2)),
    "where": lambda x: (
        torch.where(MASK, V, x),
        V.where(MASK, x),
        x * torch.where(x > 0, 1.0, 0.5),
    ),
    "attributes": lambda x: (x.shape, x.dtype, x.device, x.requires_grad, x.size(-1), len(x)),
    "views": lambda x: (x.reshape(6, -1), x.mT, x[:1].squeeze(), x[:, :1].expand(-1, 5, -1)),
    "joins": lambda x: (torch.cat([x, MASK.double()], 1), torch.stack([x, X], -1)),
    "iteration": lambda x: [row * 2 for row in x],
    "sums": lambda x: (x.sum(-1), x.sum((0, 2)), x[:0].sum(0), x.mean(-1), x.prod(-1), x.cumsum(1)),
    "orders": lambda x: (x.amax(-1), x.min(), x.sort().values, x.argsort(dim=-1, stable=True)),
    "softmax": lambda x: (torch.logsumexp(x, -1), torch.softmax(x, dim=1)),
    "matmul": lambda x: (x @ x.mT, torch.matmul(x, V), V @ x.mT, X @ x.mT, x[:, None] @ x[None].mT),
    "empty products": lambda x: (x[:, :, :0] @ x.mT[:, :0], x[:0] @ V, x[0, 0, :0] @ x[0, 0, :0]),
    "einsum": lambda x: (
        torch.einsum("bij,bkj->bik", x, x),
        torch.einsum("...ij,j->...i", x, V),
        torch.einsum("bij,bkj,bkl->bil", x, x, x),
        torch.einsum("bij,j->b", x[..., :0], V[:0]),
    ),
    "solving": lambda x: (
        torch.linalg.solve(M, x.mT),
        torch.linalg.solve(x[:, :3, :3] + M[:, :3, :3], x),
        torch.linalg.solve(M, x[:, 0]),
        torch.linalg.solve(M, x, left=False),
    ),
}
"""What bodies write. test_forms has every function, in every form."""


@pytest.mark.parametrize("name", CALLS)
def test_the_same_code_gives_the_same(name):
    assert_agrees(CALLS[name], X)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_random_indices_agree(data):
    """Ints, tensors, slices and new axes in any order: the result has the axes of torch."""
    shape = (2, 3, 2, 4)
    x = torch.arange(48, dtype=torch.float64).reshape(shape)
    index: list[Any] = []
    for n in shape[: data.draw(st.integers(0, 4))]:
        kind = data.draw(st.sampled_from(["int", "slice", "none", "tensor", "mask", "wide"]))
        place = data.draw(st.integers(0, n - 1))
        if kind == "none":
            index.append(None)
        index.append(
            {
                "int": place,
                "slice": slice(place, None),
                "none": slice(None),
                "tensor": torch.tensor([place, 0]),
                "mask": torch.arange(n) < 2,
                "wide": torch.tensor([[place], [n - 1]]),
            }[kind]
        )
    if data.draw(st.booleans()):
        index.insert(data.draw(st.integers(0, len(index))), ...)
        # Items after the ellipsis would index other axes, and may be out of range there.
        index = index[: [item is ... for item in index].index(True) + 1]
    assert_agrees(lambda a: a[tuple(index)], x)


MATRICES = {
    "wide": X,
    "tall": X.mT,
    "row": X[:, :1],
    "empty batch": X[:0],
    "two axes of batch": dyadics(2, 1, 3, 2, seed=8),
    "zero": torch.zeros(3, 2, dtype=torch.float64),
    "rank one": V[:, None] * V,
}


def functions_of_matrices(A):
    gram = A @ A.mT
    regular = gram + torch.eye(A.shape[-2], dtype=A.dtype)
    norms = [torch.linalg.matrix_norm(A, p, keepdim=True) for p in ("fro", "nuc", 2, -2, 1, -1)]
    of_regular = (torch.linalg.det, torch.linalg.inv, torch.linalg.cholesky)
    return (
        torch.linalg.svdvals(A),
        torch.linalg.eigvalsh(gram),
        torch.linalg.matrix_rank(A),
        torch.linalg.pinv(A),
        *norms,
        *(function(regular) for function in of_regular),
    )


@pytest.mark.parametrize("name", MATRICES)
def test_functions_of_matrices_agree(name):
    assert_agrees(functions_of_matrices, MATRICES[name])


def test_a_sum_of_absolute_values_keeps_its_sign():
    """The norm of order 1 of (x, 5) is at least 5 if x may be of any sign."""
    x = torch.stack([balls(0).enlarged(Fraction(1)), balls(5)])
    assert Fraction(5) <= torch.linalg.vector_norm(x, 1).lower()
    assert torch.linalg.vector_norm(x, 1).upper() < 6 + Fraction(1, 10**6)


def test_a_claim_body_runs_on_both():
    def body(W, b, x):
        z = (W @ x[..., None])[..., 0] + b
        mask = torch.where(z > 0, 1.0, 0.25)
        jacobian = mask[..., None] * W
        h = torch.where(z > 0, z, 0.25 * z)
        cost = (W**2).sum((-2, -1)) + b.square().sum(-1)
        return torch.linalg.svdvals(jacobian).sum(-1), h, cost, h.amax(-1) <= cost

    W, b, x = dyadics(5, 3, 2, seed=11), dyadics(5, 3, seed=12), dyadics(5, 2, seed=13)
    assert_agrees(body, W, b, x)
    one = body(*(BallArray.exact(t[2]) for t in (W, b, x)))
    batch = body(*(BallArray.exact(t) for t in (W, b, x)))
    assert (one[1] == batch[1][2]).all()
    power = (torch.linalg.svdvals(BallArray.exact(W)) ** Fraction(2, 3)).sum(-1)
    expected = (torch.linalg.svdvals(W) ** (2 / 3)).sum(-1)
    torch.testing.assert_close(power.midpoints(), expected, rtol=1e-12, atol=1e-12)


def test_values_and_indices_are_a_pair():
    """As torch's are: of length 2, by position from both ends, and to be taken apart."""
    for x in (X, BallArray.exact(X)):
        for pair in (x.max(dim=-1), x.min(1), x.sort(), torch.sort(x, descending=True), x.topk(2)):
            assert len(pair) == 2
            values, indices = pair
            assert (pair[0] == pair.values).all()
            assert (pair[-2] == values).all()
            assert torch.equal(pair[1], pair.indices)
            assert torch.equal(pair[-1], indices)
            with pytest.raises(IndexError):
                pair[2]


def test_values_of_ties_need_no_decision_but_their_places_do():
    root = BallArray.exact([2.0, 2.0]).sqrt()
    largest = root.max(dim=-1)
    assert (largest.values**2 - 2).abs() < Fraction(1, 2**100)
    assert ((torch.sort(root).values ** 2 - 2).abs() < Fraction(1, 2**100)).all()
    for decide in (
        lambda: largest.indices,
        lambda: root.argmax(),
        lambda: root.argsort(),
        lambda: root.sort().indices,
        lambda: root.topk(1).indices,
        lambda: tuple(largest),
    ):
        with pytest.raises(Undecided, match="cannot decide"):
            decide()
    assert BallArray.exact([1, 3, 3]).argmax() == 1
    assert balls(torch.tensor([3, 1, 1])).argmin() == 1
