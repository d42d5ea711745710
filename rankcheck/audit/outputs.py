"""Outputs of somebody's own model: no audit is of another network than the one that made them.

Outputs in single precision or better may differ from those of the network as read by what rounding
explains, and that is measured on the network: its parameters and the points are moved at random by
one rounding, and the outputs move by some σ. Networks of 2 to 50 layers and widths 3 to 784 were
evaluated in single precision: their outputs were at most 13 σ away. `MARGIN` is more than twice
that.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from torch import Tensor

from rankcheck.audit.files import rows_of, where
from rankcheck.audit.model import Model, ModelError, require
from rankcheck.audit.result import OutputFacts
from rankcheck.theory.networks import Network

#: So many σ rounding may move an output, and at most this share of the spread of all outputs.
MARGIN, MOST = 32.0, 0.1
#: So often everything is changed at random to measure σ, by this share.
DRAWS, ROUNDING = 4, 2.0**-24
#: So many numbers are held of a layer at a time.
HELD = 1 << 23


def check_outputs(model: Model, X: Tensor, outputs: Any) -> OutputFacts:
    """Compare the network as read with outputs (N, n_L), or more axes, at the points X (N, n_0).

    Raises:
        ModelError: they have another shape, or differ by more than rounding explains: with the
            first point, both values, and at how many points.
    """
    name = where(outputs) if isinstance(outputs, str | os.PathLike) else "the array of outputs"
    Y = rows_of(outputs, ("outputs", "Y", "y"), name).flatten(1)
    found = _values(model.net, X)
    shapes = tuple(Y.shape), tuple(found.shape)
    require(
        shapes[0] == shapes[1],
        f"{name} has the shape {shapes[0]}, and the network puts out {shapes[1]}: a row of "
        "numbers for each point (not the class)",
    )
    spread = float((Y - Y.mean(0)).square().mean().sqrt()) or float(Y.square().mean().sqrt())
    most = MARGIN * _moved(model.net, X, found) + 2 * ROUNDING * Y.abs()
    off = (found - Y).abs()
    wrong = (~(off <= most.clamp_max(MOST * spread))).any(1).nonzero().flatten().tolist()
    if wrong:
        place = int(off[wrong[0]].argmax())
        one, two = float(Y[wrong[0], place]), float(found[wrong[0], place])
        digits = next((d for d in range(5, 17) if f"{one:.{d}g}" != f"{two:.{d}g}"), 17)
        raise ModelError(
            f"{name} is not what the network as read puts out: at point {wrong[0]} output "
            f"{place} is {one:.{digits}g}, and of the network {two:.{digits}g}; they differ at "
            f"{len(wrong)} of {len(X)} points by more than rounding in single precision explains. "
            "Likely reasons: another activation, a skip connection, a softmax at the end, dropout "
            "or batch norms in training mode, another checkpoint, points that were scaled or in "
            "another order, outputs in half precision or of few decimals",
        )
    return OutputFacts(len(X), float(off.max()), spread)


def _values(net: Network, X: Tensor) -> Tensor:
    """The outputs, in batches of points that fit into memory."""
    return torch.cat([net(some) for some in X.split(max(1, HELD // max(net.widths)))])


def _moved(net: Network, X: Tensor, found: Tensor) -> Tensor:
    """σ: by how much the outputs move at each point, (N, 1), and at least by the median."""
    draw = torch.Generator().manual_seed(0)

    def change(array: Tensor) -> Tensor:
        return array * (1 + ROUNDING * torch.randn(array.shape, generator=draw, dtype=array.dtype))

    total = torch.zeros(len(X), dtype=torch.float64)
    for _ in range(DRAWS):
        weights, biases = map(change, net.weights), map(change, net.biases)
        other = Network.unchecked_slope(weights, biases, net.slope)
        total += (_values(other, change(X)) - found).square().mean(1)
    sigma = (total / DRAWS).sqrt()
    return sigma.clamp_min(float(sigma.median())).unsqueeze(1)
