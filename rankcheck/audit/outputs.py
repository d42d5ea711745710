"""Outputs of somebody's own model: no audit is of another network than the one that made them.

Outputs may differ from those of the network as read by what rounding explains, and that is measured
on the network: its parameters and the points are moved at random by about one rounding, and the
outputs move by some σ. Networks of 2 to 50 layers and widths 3 to 784 were evaluated in single
precision, half precision and bfloat16: their outputs were at most 13 σ away. `MARGIN` is more than
twice that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from rankcheck.audit.files import rows_of, where
from rankcheck.audit.model import Model, require
from rankcheck.audit.result import OutputFacts
from rankcheck.networks import Network

__all__ = ["check_outputs"]

#: So many σ rounding may move an output.
MARGIN = 32.0
#: So often everything is changed at random to measure σ.
DRAWS = 4
#: So many numbers are held of a layer at a time.
HELD = 1 << 23
#: Outputs that agree no better than to this share of their spread say too little.
COARSE = 0.1
_PRECISIONS = {
    torch.float64: 2.0**-53,
    torch.float32: 2.0**-24,
    torch.float16: 2.0**-11,
    torch.bfloat16: 2.0**-8,
}
_SINGLE = 2.0**-24


def check_outputs(model: Model, X: Tensor, outputs: Any) -> OutputFacts:
    """Compare the network as read with outputs (N, n_L), or more axes, at the points X (N, n_0).

    Raises:
        ModelError: they have another shape, or differ by more than rounding explains: with the
            first point, both values, and at how many points; or rounding explains so much that
            they tell nothing.
    """
    name = where(outputs) if isinstance(outputs, str | os.PathLike) else "the array of outputs"
    Y = rows_of(outputs, ("outputs", "Y", "y"), name).flatten(1)
    found = _function(model.net)(X)
    shapes = tuple(Y.shape), tuple(found.shape)
    require(
        shapes[0] == shapes[1],
        f"{name} has the shape {shapes[0]}, and the network puts out {shapes[1]}: a row of "
        "numbers for each point (not the class)",
    )
    most = _explained(model.net, X, Y, found)
    off = (found - Y).abs()
    wrong = (off > most).any(1).nonzero().flatten().tolist()
    if wrong:
        place = int((off - most)[wrong[0]].argmax())
        one, two = float(Y[wrong[0], place]), float(found[wrong[0], place])
        digits = next((d for d in range(5, 17) if f"{one:.{d}g}" != f"{two:.{d}g}"), 17)
        require(
            False,
            f"{name} is not what the network as read puts out: at point {wrong[0]} output "
            f"{place} is {one:.{digits}g}, and of the network {two:.{digits}g}; they differ at "
            f"{len(wrong)} of {len(X)} points by more than rounding explains. Likely reasons: "
            "another activation, a skip connection, a softmax at the end, dropout or batch norms "
            "in training mode, another checkpoint, points that were scaled or in another order",
        )
    about = Y - Y.mean(0)
    spread = float(about.square().mean().sqrt()) or float(Y.square().mean().sqrt())
    largest = float(off.max())
    require(
        largest <= COARSE * spread,
        f"{name} cannot tell whether it is what the network as read puts out: they differ by up "
        f"to {largest:.2g} and spread by {spread:.2g}; give them in single precision",
    )
    return OutputFacts(len(X), largest, spread)


def _function(
    net: Network, change: Callable[[Tensor], Tensor] | None = None
) -> Callable[[Tensor], Tensor]:
    """The network, perhaps with changed parameters, in batches of points that fit into memory."""
    if change is not None:
        net = Network.unchecked_slope(map(change, net.weights), map(change, net.biases), net.slope)
    size = max(1, HELD // max(net.widths))
    return lambda X: torch.cat([net(some) for some in X.split(size)])


def _explained(net: Network, X: Tensor, Y: Tensor, found: Tensor) -> Tensor:
    """By how much rounding may move outputs: (N, n_L).

    They were computed in the coarsest precision that holds all of them, or in single precision if
    it holds all parameters. What no such precision holds may have been written with few decimals.
    """
    draw = torch.Generator().manual_seed(0)

    def change(array: Tensor) -> Tensor:
        return array * (1 + _SINGLE * torch.randn(array.shape, generator=draw, dtype=array.dtype))

    moved = sum((_function(net, change)(change(X)) - found).square().mean(1) for _ in range(DRAWS))
    sigma = (torch.as_tensor(moved) / DRAWS).sqrt() / _SINGLE
    sigma = sigma.clamp_min(float(sigma.median()))
    u = max(u for dtype, u in _PRECISIONS.items() if _holds(dtype, [Y]))
    u = max(u, _SINGLE * _holds(torch.float32, (*net.weights, *net.biases)))
    most = u * (MARGIN * sigma.unsqueeze(1) + 2 * Y.abs())
    if not _holds(torch.float32, [Y]):
        few = ((Y - Y.round(decimals=p)).abs().le(1e-15 * Y.abs()).all() for p in range(1, 8))
        places = next((p for p, one in enumerate(few, 1) if bool(one)), None)
        most = most if places is None else most + 0.5 * 10.0**-places
    return most


def _holds(dtype: torch.dtype, arrays: Iterable[Tensor]) -> bool:
    """Whether numbers of this type are exactly these."""
    return all(bool((one.to(dtype).to(one.dtype) == one).all()) for one in arrays)
