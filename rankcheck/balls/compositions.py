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
    erf,
    exp,
    expm1,
    log1p,
    minimum,
    pi,
    relu,
    sigmoid,
    sqrt,
    tanh,
    where,
)
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.reductions import logsumexp


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


def _powers(x: BallArray, *, N: int | None = None) -> BallArray:
    return x[..., None] ** torch.arange(x.shape[-1] if N is None else N)


FORMULAS: dict[str, Callable[..., Any]] = {
    "relu": relu,
    "leaky_relu": lambda x, negative_slope=0.01: relu(x) + _below(x) * negative_slope,
    "elu": _elu,
    "silu": lambda x: x * sigmoid(x),
    "gelu": _gelu,
    "softplus": _softplus,
    "log_sigmoid": lambda x: -log1p(exp(-x)),
    "log_softmax special_log_softmax": _log_softmax,
    "linalg_vander": _powers,
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
