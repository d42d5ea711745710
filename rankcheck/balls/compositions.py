"""Functions of torch that are compositions of others: the formulas of torch's documentation.

They decide no sign where a formula without a branch encloses the value: an elu is
relu(x) + α expm1(min(x, 0)). An `eps` is part of the definition.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import torch

from rankcheck.balls.array import BallArray, balls, divide, implements
from rankcheck.balls.elementwise import (
    absolute,
    clamp,
    erf,
    exp,
    exp2,
    expm1,
    log,
    log1p,
    log2,
    maximum,
    minimum,
    pi,
    relu,
    root_of_squares,
    sigmoid,
    sqrt,
    square,
    tanh,
    trunc,
    where,
)
from rankcheck.balls.linalg import matmul, outer, vector_norm
from rankcheck.balls.numbers import NoBallForm
from rankcheck.balls.reductions import logsumexp, mean, softmax, sum_, var
from rankcheck.balls.shapes import adjoint, diagonal, flip, roll

SELU = Fraction("1.6732632423543772848170429916717"), Fraction("1.0507009873554804934193349852946")
"""α and the scale of selu."""


def _below(x: Any) -> BallArray:
    return minimum(x, 0)


def _elu(x: BallArray, alpha: Any = 1.0) -> BallArray:
    return relu(x) + expm1(_below(x)) * alpha


def _softplus(x: BallArray, beta: Any = 1, threshold: Any = 20) -> BallArray:
    scaled = x * beta
    return where(scaled > threshold, x, divide(log1p(exp(scaled)), beta))


def _gelu(x: BallArray, approximate: str = "none") -> BallArray:
    if approximate == "none":
        return x * (erf(x / sqrt(2)) + 1) / 2
    return x * (tanh(sqrt(2 / pi()) * (x + x**3 * Fraction("0.044715"))) + 1) / 2


def _log_softmax(x: BallArray, dim: Any = None, *_: Any, **__: Any) -> BallArray:
    if dim is None:
        raise NoBallForm("torch.nn.functional.log_softmax without dim", "name the axis")
    return x - logsumexp(x, dim, keepdim=True)


def _huber(d: BallArray, delta: Any) -> BallArray:
    """d²/2 up to δ, and the tangent beyond."""
    short = minimum(absolute(d), delta)
    return short * (absolute(d) - short / 2)


def _smooth_l1(d: BallArray, beta: Any) -> BallArray:
    return absolute(d) if beta == 0 else divide(_huber(d, beta), beta)


def _loss(of_difference: Callable[..., BallArray], **parameters: Any) -> Callable[..., BallArray]:
    """A loss of the differences, which are averaged, summed, or left."""

    def loss(x: Any, target: Any, *, reduction: str = "mean", **given: Any) -> BallArray:
        chosen = {name: given.pop(name, value) for name, value in parameters.items()}
        if any(value is not None for value in given.values()):
            raise NoBallForm(f"a loss with {', '.join(given)}", "write the weighted sum")
        losses = of_difference(balls(x) - target, **chosen)
        return {"mean": mean, "sum": sum_}.get(reduction, balls)(losses)

    return loss


def _cov(x: BallArray, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    if fweights is not None or aweights is not None:
        raise NoBallForm("torch.cov with weights", "write the weighted sum")
    rows = x if x.ndim == 2 else x.reshape(1, -1)
    centred = rows - mean(rows, 1, keepdim=True)
    result = divide(matmul(centred, adjoint(centred)), max(rows.shape[1] - correction, 0))
    return result if x.ndim == 2 else result.reshape(())


def _corrcoef(x: BallArray) -> BallArray:
    covariances = _cov(x)
    if x.ndim < 2:
        return divide(covariances, covariances)
    deviations = root_of_squares(diagonal(covariances))
    return clamp(divide(covariances, outer(deviations, deviations)), -1, 1)


def _cross(x: BallArray, y: Any, dim: int | None = None) -> BallArray:
    if dim is None:
        raise NoBallForm("torch.cross without dim", "name the axis")
    y = balls(y)
    return roll(x, -1, dim) * roll(y, -2, dim) - roll(x, -2, dim) * roll(y, -1, dim)


def _length(x: Any, eps: Any, dim: int, p: Any = 2) -> BallArray:
    return maximum(vector_norm(x, p, dim, keepdim=True), eps)


def _cosine_similarity(x: Any, y: Any, dim: int = 1, eps: float = 1e-8) -> BallArray:
    x, y = torch.broadcast_tensors(x, y)
    return sum_(x / _length(x, eps, dim) * (y / _length(y, eps, dim)), dim)


def _layer_norm(
    x: BallArray, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> BallArray:
    dims = tuple(range(-len(shape), 0))
    spread = var(x, dims, keepdim=True, correction=0) + eps
    normal = (x - mean(x, dims, keepdim=True)) / sqrt(spread)
    normal = normal if weight is None else normal * weight
    return normal if bias is None else normal + bias


def _vander(x: BallArray, N: int | None = None, increasing: bool = False) -> BallArray:
    powers = _powers(x, N=N)
    return powers if increasing else flip(powers, -1)


def _powers(x: BallArray, *, N: int | None = None) -> BallArray:
    return x[..., None] ** torch.arange(x.shape[-1] if N is None else N)


FORMULAS: dict[str, Callable[..., Any]] = {
    # Functions of numbers.
    "frac": lambda x: x - trunc(x),
    "fmod": lambda x, y: x - trunc(divide(x, y)) * y,
    "deg2rad": lambda x: x * pi() / 180,
    "rad2deg": lambda x: x * 180 / pi(),
    "lerp": lambda x, end, weight: x + (balls(end) - x) * weight,
    "addcdiv": lambda x, y, z, *, value=1: x + divide(y * value, z),
    "logaddexp": lambda x, y: log(exp(x) + exp(y)),
    "logaddexp2": lambda x, y: log2(exp2(x) + exp2(y)),
    # Activations.
    "relu": relu,
    "leaky_relu": lambda x, negative_slope=0.01: relu(x) + _below(x) * negative_slope,
    "elu": _elu,
    "celu": lambda x, alpha=1.0: relu(x) + expm1(divide(_below(x), alpha)) * alpha,
    "selu": lambda x: _elu(x, SELU[0]) * SELU[1],
    "silu": lambda x: x * sigmoid(x),
    "mish": lambda x: x * tanh(log1p(exp(x))),
    "gelu": _gelu,
    "softplus": _softplus,
    "log_sigmoid": lambda x: -log1p(exp(-x)),
    "relu6": lambda x: clamp(x, 0, 6),
    "hardtanh": lambda x, min_val=-1.0, max_val=1.0: clamp(x, min_val, max_val),
    "hardsigmoid": lambda x: clamp(x + 3, 0, 6) / 6,
    "hardswish": lambda x: x * clamp(x + 3, 0, 6) / 6,
    "softsign": lambda x: x / (absolute(x) + 1),
    "tanhshrink": lambda x: x - tanh(x),
    "softshrink": lambda x, lambd=0.5: x - clamp(x, -lambd, lambd),
    "log_softmax special_log_softmax": _log_softmax,
    "softmin": lambda x, dim=None, *_, **__: softmax(-x, dim),
    "layer_norm": _layer_norm,
    # Distances and losses.
    "dist": lambda x, y, p=2: vector_norm(x - y, p),
    "pairwise_distance": lambda x, y, p=2, eps=1e-6, keepdim=False: vector_norm(
        x - y + eps, p, -1, keepdim
    ),
    "normalize": lambda x, p=2, dim=1, eps=1e-12, out=None: x / _length(x, eps, dim, p),
    "cosine_similarity": _cosine_similarity,
    "mse_loss": _loss(square),
    "huber_loss": _loss(_huber, delta=1.0),
    "smooth_l1_loss": _loss(_smooth_l1, beta=1.0),
    # Matrices.
    "addr": lambda x, u, v, *, beta=1, alpha=1: x * beta + outer(u, v) * alpha,
    "cross": _cross,
    "linalg_cross": lambda x, y, *, dim=-1: _cross(x, y, dim),
    "cov": _cov,
    "corrcoef": _corrcoef,
    "linalg_vander": _powers,
    "vander": _vander,
}
"""By the names that torch dispatches by. The tensors among the arguments come as ball arrays."""


def _register(names: str, formula: Callable[..., Any]) -> None:
    def composed(*args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        if inplace:
            raise NoBallForm("an activation in place", "leave inplace out")
        if "input" in kwargs:
            args = (kwargs.pop("input"), *args)
        given = {name: _converted(value) for name, value in kwargs.items()}
        return formula(*map(_converted, args), **given)

    implements(*names.split())(composed)


def _converted(argument: Any) -> Any:
    return balls(argument) if isinstance(argument, (torch.Tensor, BallArray)) else argument


for _names, _formula in FORMULAS.items():
    _register(_names, _formula)
