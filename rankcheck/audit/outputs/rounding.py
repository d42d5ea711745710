"""What rounding explains of a difference between outputs.

It is measured on the network itself: its parameters and the points are changed at random by about
one rounding, and the outputs move by some σ. Networks of 2 to 50 layers and widths 3 to 784, some
with convolutions or layer norms, were evaluated in single precision, half precision and bfloat16:
their outputs were at most 13 σ away. `MARGIN` is more than twice that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial

import torch
from torch import Tensor

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.model import Model
from rankcheck.networks import Network

__all__ = ["TF32", "explained", "function", "parameter_error", "rounding", "scatter"]

#: So many σ rounding may move an output.
MARGIN = 32.0
#: So often everything is changed at random to measure σ.
DRAWS = 4
#: So many numbers are held of a layer at a time.
HELD = 1 << 23

#: The rounding errors of kinds of numbers, the finest first.
_PRECISIONS: dict[str, tuple[torch.dtype, float]] = {
    "double precision": (torch.float64, 2.0**-53),
    "single precision": (torch.float32, 2.0**-24),
    "half precision": (torch.float16, 2.0**-11),
    "bfloat16": (torch.bfloat16, 2.0**-8),
}
_SINGLE = 2.0**-24
#: The rounding error of TF32, in which graphics cards may multiply matrices of single precision.
TF32 = 2.0**-11


def function(
    read: Model | Graph, change: Callable[[Tensor], Tensor] | None = None
) -> Callable[[Tensor], Tensor]:
    """The network, perhaps with changed parameters, in batches of points that fit into memory."""
    at: Callable[[Tensor], Tensor]
    if isinstance(read, Graph):
        parameters = None if change is None else read.map_parameters(change)
        at = torch.vmap(partial(read.at, parameters=parameters))
        widest = max((math.prod(shape) for shape in read.shapes.values()), default=1)
    else:
        net, widest = read.net, max(read.net.widths)
        if change is not None:
            weights, biases = map(change, net.weights), map(change, net.biases)
            net = Network.unchecked_slope(weights, biases, net.slope)
        at = net

    def compute(X: Tensor) -> Tensor:
        with torch.no_grad():
            return torch.cat([at(part) for part in X.split(max(1, HELD // widest))])

    return compute


def scatter(read: Model | Graph, X: Tensor, found: Tensor) -> Tensor:
    """σ / u at each point (N): how far outputs move if all moves by a relative u at random."""
    draw, u = torch.Generator().manual_seed(0), _SINGLE

    def change(array: Tensor) -> Tensor:
        return array * (1 + u * torch.randn(array.shape, generator=draw, dtype=array.dtype))

    squares = torch.zeros(len(X), dtype=X.dtype)
    for _ in range(DRAWS):
        squares += (function(read, change)(change(X)) - found).square().mean(1)
    scatter = (squares / DRAWS).sqrt() / u
    return scatter.clamp_min(float(scatter.median()))


def rounding(u: float, scatter: Tensor, values: Tensor) -> Tensor:
    """By how much outputs (N, n_L) may be off, in a precision of rounding error u."""
    return u * (MARGIN * scatter.unsqueeze(1) + 2 * values.abs())


def explained(read: Model | Graph, Y: Tensor, scatter: Tensor) -> dict[str, Tensor]:
    """By how much outputs may be off, by the precision in which they may have been computed.

    That is one which holds all of them, or single precision if it holds all parameters. Outputs
    that no such precision holds, and that have few decimals, were rounded to these.
    """
    explained: dict[str, Tensor] = {}
    for name, (dtype, u) in _PRECISIONS.items():
        if _holds(dtype, [Y]) or (u == _SINGLE and _holds(dtype, _own(read))):
            explained[name] = rounding(u, scatter, Y)
    if not _holds(torch.float32, [Y]):
        most = list(explained.values())[-1]
        for places in range(1, 8):
            if bool(((Y - Y.round(decimals=places)).abs() <= 1e-15 * Y.abs()).all()):
                explained[f"rounding to {10.0**-places:g}"] = most + 0.5 * 10.0**-places
                break
    return explained


def parameter_error(read: Model | Graph) -> float:
    """The rounding error of the coarsest precision, from single on, that holds all parameters."""
    own = tuple(_own(read))
    return max(u for dtype, u in _PRECISIONS.values() if u == _SINGLE or _holds(dtype, own))


def _own(read: Model | Graph) -> Iterable[Tensor]:
    """The parameters of a network as read."""
    return (
        read.parameters.values() if isinstance(read, Graph) else read.net.weights + read.net.biases
    )


def _holds(dtype: torch.dtype, arrays: Iterable[Tensor]) -> bool:
    """Whether numbers of this type are exactly these."""
    return all(bool((one.to(dtype).to(one.dtype) == one).all()) for one in arrays)
