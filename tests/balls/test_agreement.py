"""The same code on tensors and on ball arrays: equal shapes, equal values."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from rankcheck.balls import BallArray, Undecided, balls
from rankcheck.balls.complexes import Complex


def dyadics(*shape, seed=0, low=-16, high=17, scale=4):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(low, high, shape, generator=generator).double() / scale


def assert_same(expected, got, unknown=False):
    """The same numbers in the same shape; with `unknown`, balls may not know some of them."""
    if isinstance(expected, torch.Tensor) and (
        expected.is_floating_point() or expected.is_complex()
    ):
        assert isinstance(got, BallArray)
        assert got.shape == expected.shape
        assert all(isinstance(x, (fmpq, arb, Complex)) for x in got.elements.ravel().tolist())
        known = got.radii().isfinite() if unknown else torch.ones(got.shape, dtype=torch.bool)
        close = 1e-12 if expected.dtype in (torch.float64, torch.complex128) else 1e-5
        middle, expected = got.midpoints()[known], expected[known]
        torch.testing.assert_close(
            middle.to(torch.complex128), expected.to(torch.complex128), rtol=close, atol=close
        )
        assert (got.radii()[known] <= 1e-12).all()
    elif isinstance(expected, torch.Tensor):
        assert isinstance(got, torch.Tensor)
        assert got.dtype is expected.dtype
        assert torch.equal(got, expected)
    elif isinstance(expected, (tuple, list)):
        assert len(expected) == len(got)
        for a, b in zip(expected, got, strict=True):
            assert_same(a, b, unknown)
    else:
        assert got == expected


def assert_agrees(function, *tensors):
    assert_same(function(*tensors), function(*(BallArray.exact(t) for t in tensors)))


X = dyadics(2, 3, 4, seed=1)
POSITIVE = X.abs() + 0.25
M = dyadics(2, 4, 4, seed=2)
V = dyadics(4, seed=3)
SCALAR = torch.tensor(1.25, dtype=torch.float64)
MASK = X > 0
PLACES = torch.tensor([2, 0, 1])

ELEMENTWISE = {
    "operators": lambda x: ((1 - x) * 2 + x / 4, 3 / (x.abs() + 1), -x, +x, abs(x), 2 + x, 2 * x),
    "tensor operators": lambda x: (V + x, V - x, V * x, x - V, V / (x.abs() + 1), x > V, x <= V),
    "more tensor operators": lambda x: (
        V // (x.abs() + 1),
        V % (x.abs() + 1),
        V.abs() ** (x.abs() + 1),
        V.double().sub(x, alpha=2),
        torch.rsub(x, V),
        torch.rsub(x, 1),
        torch.eq(V, x),
        torch.ne(V, x),
        torch.lt(V, x),
        V.le(x),
        V.gt(x),
        V.ge(x),
    ),
    "numpy numbers": lambda x: (np.float64(0.5) * x, x + np.int64(3)),
    "functions": lambda x: (torch.add(x, x, alpha=2), torch.sub(x, 1), torch.mul(x, 2), x.neg()),
    "division": lambda x: (torch.div(x, 2), x // 3, x % 3, 7 % (x.abs() + 1), x.remainder(2)),
    "rounded division": lambda x: (
        torch.div(x, 3, rounding_mode="floor"),
        torch.div(x, 3, rounding_mode="trunc"),
    ),
    "powers": lambda x: (x**2, x**3, x.pow(2), torch.pow(x, 0), 2**x, torch.pow(2, x), x.square()),
    "roots": lambda x: (x.abs().sqrt(), x.abs() ** 0.5, (x.abs() + 1) ** -0.25, (x**2) ** 1.5),
    "power of arrays": lambda x: (x.abs() + 1) ** x,
    "exponentials": lambda x: (x.exp(), torch.expm1(x), torch.exp2(x), x.tanh(), x.sigmoid()),
    "logarithms": lambda x: (
        (x.abs() + 1).log(),
        torch.log1p(x.abs()),
        torch.log2(x.abs() + 1),
        torch.log10(x.abs() + 1),
    ),
    "trigonometry": lambda x: (x.sin(), torch.cos(x), x.atan(), (x / 8).asin(), (x / 8).arccos()),
    "gamma": lambda x: (torch.lgamma(x.abs() + 1), torch.special.gammaln(x.abs() + 1)),
    "reciprocals": lambda x: ((x.abs() + 1).reciprocal(), (x.abs() + 1).rsqrt()),
    "rounding": lambda x: (x.floor(), x.ceil(), x.round(), x.trunc(), torch.round(x, decimals=1)),
    "signs": lambda x: (x.sign(), x.abs(), torch.heaviside(x, torch.tensor(0.5).double())),
    "relu": lambda x: (x.relu(), torch.relu(x), functional.relu(x), x.clamp_min(0), x.clamp_max(1)),
    "leaky relu": lambda x: functional.leaky_relu(x, 0.25),
    "clamps": lambda x: (x.clamp(-1, 2), torch.clamp(x, min=0), x.clamp(max=1), x.clip(0, 1)),
    "clamps by arrays": lambda x: (torch.clamp(x, min=x / 2), x.clamp(max=V)),
    "extremes": lambda x: (torch.maximum(x, V.expand_as(x)), x.minimum(-x), torch.max(x, -x)),
    "hypot": lambda x: torch.hypot(x, x + 1),
    "comparisons": lambda x: (x < 0, x <= 1, x > V, x >= -x, x == 1, x != 0, x > 0, torch.lt(x, 2)),
    "where": lambda x: (torch.where(x > 0, x, 0.0), torch.where(x > 0, 1, -x), x.where(x < 0, -x)),
    "where of numbers": lambda x: x * torch.where(x > 0, 1.0, 0.25),
    "where of a tensor": lambda x: (torch.where(MASK, V, x), V.where(MASK, x)),
    "masks": lambda x: (x * (x > 0), x.masked_fill(MASK, 2.5), torch.masked_select(x, MASK)),
    "unselected branch": lambda x: torch.where(x > 0, torch.log(torch.where(x > 0, x, 1.0)), 0.0),
    "finite": lambda x: (torch.isfinite(x), torch.isnan(x)),
    "addcmul": lambda x: torch.addcmul(x, x, x, value=2),
}

SHAPES = {
    "attributes": lambda x: (
        x.shape,
        x.ndim,
        x.dim(),
        x.dtype,
        x.device,
        x.requires_grad,
        x.numel(),
        x.size(),
        x.size(-1),
        len(x),
        x.is_floating_point(),
        torch.numel(x),
    ),
    "kinds": lambda x: (
        torch.is_complex(x),
        torch.positive(x),
        x.detach(),
        x.clone(),
        x.contiguous(),
        x.to(V),
        x.double(),
        x.to(x.dtype),
    ),
    "reshape": lambda x: (
        x.reshape(6, -1),
        torch.reshape(x, (4, 6)),
        x.view(24),
        x.view((2, 12)),
        x.view_as(X),
    ),
    "flatten": lambda x: (x.flatten(), x.flatten(1), torch.flatten(x, 0, 1), SCALAR.flatten() * x),
    "unflatten": lambda x: (x.unflatten(2, (2, 2)), torch.unflatten(x, -1, (2, -1))),
    "squeeze": lambda x: (x[:1].squeeze(), x[:1, :, :1].squeeze(-1), x[:1, :, :1].squeeze((0, 2))),
    "unsqueeze": lambda x: (x.unsqueeze(0), x.unsqueeze(-1), torch.unsqueeze(x, 2), x.squeeze(1)),
    "expand": lambda x: (
        x[:, :1].expand(-1, 5, -1),
        x[0].expand(2, 2, 3, 4),
        torch.broadcast_to(x[0, 0], (2, 4)),
        x[0].expand_as(x),
    ),
    "broadcast": lambda x: torch.broadcast_tensors(x[:, :1], x[:, :, :1]),
    "repeat": lambda x: (
        x.repeat(2, 1, 3),
        x[0].repeat(2, 1, 1),
        x.repeat_interleave(2, 1),
        x.tile(2),
        torch.tile(x[0], (2, 1, 3)),
    ),
    "transpose": lambda x: (
        x.mT,
        x[0].T,
        x[0].t(),
        x.mH,
        x.adjoint(),
        x.transpose(0, -1),
        torch.swapaxes(x, 0, 1),
    ),
    "permute": lambda x: (x.permute(2, 0, 1), x.permute((1, 0, 2)), torch.movedim(x, 0, -1)),
    "cat": lambda x: (
        torch.cat((x, x), -1),
        torch.cat([x, MASK.double()], 1),
        torch.concat([x, x]),
    ),
    "stack": lambda x: (torch.stack((x, -x)), torch.stack([x, X], -1), torch.stack([x, x], dim=1)),
    "hstack": lambda x: (
        torch.hstack([x, x]),
        torch.hstack([x[0, 0], V]),
        torch.vstack([x[0, 0], x[0, 1]]),
    ),
    "split": lambda x: (x.split(2, -1), torch.split(x, [1, 3], dim=2), x.chunk(2, 1), x.unbind(1)),
    "flip": lambda x: (x.flip(0), x.flip((0, 2)), torch.flip(x, [-1]), x.flip(0, 1)),
    "roll": lambda x: (x.roll(1), torch.roll(x, 2, -1), x.roll((1, 2), (0, 1))),
    "at least": lambda x: (torch.atleast_1d(x[0, 0, 0]), torch.atleast_2d(x[0, 0])),
    "narrow": lambda x: (x.narrow(1, 1, 2), x.select(2, -1)),
    "iteration": lambda x: [row * 2 for row in x],
    "pad": lambda x: (functional.pad(x, (1, 2)), functional.pad(x, (0, 1, 2, 0), value=1.5)),
    "gather": lambda x: (
        torch.gather(x, 2, torch.tensor([[[0, 3]], [[1, 1]]])),
        x.gather(1, PLACES[None, :, None].expand(2, 3, 4)),
        x.index_select(1, PLACES),
        torch.take_along_dim(x, x.argsort(dim=-1, stable=True), -1),
    ),
    "diagonals": lambda x: (
        x[0].diagonal(),
        torch.diagonal(x, 1, -2, -1),
        torch.linalg.diagonal(x, offset=1),
        torch.diag_embed(x),
        x.diag_embed(1),
        torch.diag_embed(x, -2, 0, 2),
        torch.diag(x[0, 0]),
        x[0].diag(-1),
    ),
    "triangles": lambda x: (x.tril(), torch.tril(x, -1), x.triu(), torch.triu(x, 1)),
    "block diagonal": lambda x: torch.block_diag(x[0], x[1], x[0, 0]),
    "new": lambda x: (
        x.new_zeros(2, 3),
        x.new_zeros((2, 0)),
        x.new_ones(()),
        x.new_full((2,), 1.5),
        x.new_tensor([[1.0, 2.5]]),
        torch.zeros_like(x),
        torch.ones_like(x),
        torch.full_like(x, 3),
        x.new_zeros(2, dtype=torch.bool),
        torch.ones_like(x, dtype=torch.int64),
    ),
}

REDUCTIONS = {
    "sum": lambda x: (x.sum(), x.sum(-1), x.sum((0, 2)), torch.sum(x, dim=1, keepdim=True)),
    "sum of nothing": lambda x: (x[:0].sum(0), x[:, :0].sum(1), x[:, :0].prod(1), x[:0].sum()),
    "mean": lambda x: (x.mean(), x.mean(-1), torch.mean(x, (0, 1), keepdim=True)),
    "spread": lambda x: (x.var(), x.var(-1), x.var(1, correction=0), x.std(0, keepdim=True)),
    "prod": lambda x: (x.prod(), x.prod(-1), torch.prod(x, 0, keepdim=True)),
    "scans": lambda x: (x.cumsum(-1), torch.cumprod(x, 1), x.diff(), torch.diff(x, dim=0)),
    "amax": lambda x: (x.amax(), x.amax(-1), x.amin((0, 2)), torch.amax(x, dim=1, keepdim=True)),
    "max": lambda x: (x.max(), x.min(), x.max(-1).values, torch.min(x, dim=1, keepdim=True)[0]),
    "logsumexp": lambda x: (torch.logsumexp(x, -1), x.logsumexp((0, 1), keepdim=True)),
    "softmax": lambda x: (x.softmax(-1), torch.softmax(x, dim=1), functional.softmax(x, dim=0)),
    "sort": lambda x: (x.sort().values, x.sort(1, descending=True)[0], torch.sort(x, dim=0).values),
    "argsort": lambda x: (
        x.argsort(dim=-1, stable=True),
        torch.argsort(x, dim=1, descending=True, stable=True),
        torch.sort(x, stable=True).indices,
    ),
    "topk": lambda x: (x.topk(2).values, torch.topk(x, 2, dim=1, largest=False).values),
    "argmax": lambda x: (x.argmax(), x.argmax(-1), torch.argmin(x, 1, keepdim=True)),
    "bools": lambda x: (
        torch.any(x),
        x.all(),
        torch.any(x, -1),
        x.any(0, keepdim=True),
        torch.all(x, -1),
        x.all(1, keepdim=True),
    ),
    "counts": lambda x: (torch.count_nonzero(x), x.count_nonzero(-1), torch.equal(x, x)),
}

PRODUCTS = {
    "matmul": lambda x: (x @ x.mT, torch.matmul(x, V), x @ V, V @ x.mT, X @ x.mT, x.mT.matmul(X)),
    "vectors": lambda x: (V @ x[0, 0], torch.dot(x[0, 0], V), x[0].mv(V), torch.outer(V, x[0, 0])),
    "batches": lambda x: (torch.bmm(x, x.mT), x[0].mm(x[1].T), x[:, None] @ x[None].mT),
    "empty": lambda x: (x[:, :, :0] @ x.mT[:, :0], x[:0] @ V, x[0, 0, :0] @ x[0, 0, :0]),
    "einsum": lambda x: (
        torch.einsum("bij,bkj->bik", x, x),
        torch.einsum("bij->b", x),
        torch.einsum("...ij,j->...i", x, V),
        torch.einsum("bij,bkj,bkl->bil", x, x, x),
        torch.einsum("ii->i", x[0, :, :3]),
        torch.einsum("ii", x[0, :, :3]),
        torch.einsum("bij,j->b", x[..., :0], V[:0]),
    ),
    "tensordot": lambda x: (
        torch.tensordot(x, V, 1),
        torch.tensordot(x, x[0]),  # over two axes by default
        torch.tensordot(x, x, 3),
        torch.tensordot(x, x, ([1, 2], [1, 2])),
        torch.inner(x, V),
    ),
    "kron": lambda x: torch.kron(x[0], x[1, :2, :2]),
    "linear": lambda x: (functional.linear(x, X[0]), functional.linear(x, X[0], V[:3])),
    "chains": lambda x: (
        torch.linalg.multi_dot([x[0], x[1].T, x[0]]),
        torch.linalg.matrix_power(x[:, :, :3], 3),
        torch.linalg.matrix_power(torch.ones_like(x[:, :, :3]), 0),  # of a singular matrix
        torch.linalg.matrix_power(x[0, :2, :2], -2),
        torch.linalg.vecdot(x, V),
        torch.addmm(x[0], x[0, :, :3], x[1], beta=2, alpha=3),
        torch.addmm(x[0], x[0, :, :3], x[1]),
    ),
    "distances": lambda x: (torch.cdist(x, x), torch.cdist(x, X[:1], p=1)),
    "trace": lambda x: x[0, :, :3].trace(),
}

CALLS = {
    f"{group}: {name}": call
    for group, calls in {
        "elementwise": ELEMENTWISE,
        "shapes": SHAPES,
        "reductions": REDUCTIONS,
        "products": PRODUCTS,
    }.items()
    for name, call in calls.items()
}


@pytest.mark.parametrize("name", CALLS)
def test_the_same_code_gives_the_same(name):
    assert_agrees(CALLS[name], X)


OF_FIXED_SHAPE = {"tensor operators", "clamps by arrays", "extremes", "comparisons", "masks"}
OF_FIXED_SHAPE |= {"where of a tensor", "more tensor operators"}


@pytest.mark.parametrize("name", sorted(ELEMENTWISE.keys() - OF_FIXED_SHAPE))
def test_elementwise_functions_keep_shapes(name):
    for x in (SCALAR, V[:0], X[:, :, None], X[:, :0]):
        assert_agrees(ELEMENTWISE[name], x)


def test_scalars_behave_as_arrays_without_axes():
    assert_agrees(
        lambda x: (
            x.sum(),
            x.sum(-1),
            x.sum(0, keepdim=True),
            x.mean(),
            x.prod(0),
            x.amax(),
            x.max(),
            x.argmax(),
            x.cumsum(0),
            x.sort().values,
            x.argsort(),
            x[None],
            x[...],
            x.reshape(1, 1),
            x.reshape(()),
            x.expand(2, 3),
            x.squeeze(),
            x.unsqueeze(0),
            x.flatten(),
            torch.stack([x, x]),
            x == x,
            x.transpose(0, 0),
            torch.linalg.vector_norm(x),
        ),
        SCALAR,
    )


INDICES = [
    0,
    -1,
    (1, 2),
    (1, 2, 3),
    (0, ..., 1),
    (..., -1),
    (slice(None), 1),
    (slice(0, 1), slice(None), slice(None, None, 2)),
    None,
    (None, 0, None, ..., None),
    MASK,
    MASK[..., 0],
    (slice(None), torch.tensor([True, False, True])),
    (..., torch.tensor([True, False, True, True])),
    (0, torch.tensor([True, False, True])),
    PLACES % 2,
    (slice(None), PLACES),
    (0, slice(None), PLACES),
    (0, PLACES),
    (PLACES % 2, 0),
    (PLACES % 2, slice(None), PLACES),
    (PLACES % 2, slice(None), 1),
    (..., 0, PLACES[:, None] % 2),
    (None, 0, None, PLACES),
    (PLACES % 2, PLACES, PLACES),
    (PLACES[:, None] % 2, PLACES),
    [1, 0],
    (0, [2, 1]),
    (torch.tensor(1), slice(None), PLACES),
    (0, MASK[0]),
    pytest.param(
        (slice(None), MASK[0], None),
        marks=pytest.mark.skipif(
            torch.__version__.startswith("2.6."), reason="torch 2.6 refuses this index"
        ),
    ),
    torch.tensor([], dtype=torch.int64),
    (0, ..., PLACES),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing_agrees(index):
    assert_agrees(lambda x: x[index], X)


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
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
    "batch": M,
    "one": M[0],
    "wide": X,
    "tall": X.mT,
    "row": X[:, :1],
    "empty batch": X[:0],
    "two axes of batch": dyadics(2, 1, 3, 2, seed=8),
    "zero": torch.zeros(3, 2, dtype=torch.float64),
    "rank one": V[:, None] * V,
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize(
    "function",
    [
        torch.linalg.svdvals,
        lambda A: torch.linalg.eigvalsh(A @ A.mT),
        lambda A: torch.linalg.matrix_norm(A),
        lambda A: torch.linalg.matrix_norm(A, "nuc", keepdim=True),
        lambda A: torch.linalg.matrix_norm(A, 2),
        lambda A: torch.linalg.matrix_norm(A, -2),
        lambda A: torch.linalg.matrix_norm(A, 1),
        lambda A: torch.linalg.matrix_norm(A, -1, keepdim=True),
        lambda A: torch.linalg.matrix_norm(A, float("inf")),
        lambda A: torch.linalg.matrix_rank(A),
        lambda A: torch.linalg.det(A @ A.mT + torch.eye(A.shape[-2], dtype=A.dtype)),
        lambda A: torch.linalg.inv(A @ A.mT + torch.eye(A.shape[-2], dtype=A.dtype)),
        lambda A: torch.linalg.cholesky(A @ A.mT + torch.eye(A.shape[-2], dtype=A.dtype)),
        lambda A: torch.linalg.pinv(A),
        lambda A: torch.linalg.norm(A),
        lambda A: torch.linalg.norm(A, dim=-1),
        lambda A: torch.linalg.norm(A, 2, dim=(-2, -1)),
        lambda A: torch.norm(A),
        lambda A: A.norm(dim=-1),
        lambda A: A.norm(1, dim=-2, keepdim=True),
    ],
)
def test_matrix_functions_agree(name, function):
    assert_agrees(function, MATRICES[name])


@pytest.mark.parametrize("order", [1, 2, 3, 0.5, 4, 1.5, float("inf"), 0, -float("inf")])
def test_vector_norms_agree(order):
    for dim in (None, -1, (0, 2)):
        assert_agrees(lambda x, dim=dim: torch.linalg.vector_norm(x, order, dim=dim), POSITIVE - 1)
        assert_agrees(lambda x, dim=dim: torch.linalg.vector_norm(x, order, dim, True), POSITIVE)


def test_a_sum_of_absolute_values_keeps_its_sign():
    """The norm of order 1 of (x, 5) is at least 5 if x may be of any sign."""
    x = torch.stack([balls(0).enlarged(Fraction(1)), balls(5)])
    assert Fraction(5) <= torch.linalg.vector_norm(x, 1).lower()
    assert torch.linalg.vector_norm(x, 1).upper() < 6 + Fraction(1, 10**6)


def test_solving_agrees():
    A = M + 9 * torch.eye(4, dtype=torch.float64)
    assert_agrees(
        lambda A: (
            torch.linalg.solve(A, V),
            torch.linalg.solve(A, A.mT),
            torch.linalg.solve(A, V.expand(2, 4)),
            torch.linalg.solve(A[0], A),
            torch.linalg.solve(A, A[:, :3], left=False),
            A.inverse(),
            A.det(),
            A.logdet().exp(),
            torch.linalg.slogdet(-A),
            torch.linalg.cond(A),
        ),
        A,
    )


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
