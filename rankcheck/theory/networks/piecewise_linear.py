"""Piecewise-linear functions of one variable, a batch at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from rankcheck.theory.linalg import Array


@dataclass(frozen=True, eq=False)
class PiecewiseLinear:
    """The continuous function through the points (breakpoints[k], values[k]), linear in between.

    Both arrays have shape (*B, K), K >= 2, or broadcast to it; the breakpoints ascend strictly
    along the last axis. The first and the last piece are extended to infinity, so the function is
    defined on all of R with the same Lipschitz constant.

    >>> import torch
    >>> tent = PiecewiseLinear(torch.tensor([0.0, 1.0, 2.0]), torch.tensor([0.0, 1.0, 0.0]))
    >>> tent(torch.tensor([0.5, 1.0, 3.0])).tolist()
    [0.5, 1.0, -1.0]

    Raises ValueError for other shapes. The order of the breakpoints is not checked, because this
    code reads no values (it also runs on balls); two equal breakpoints give a slope of nan.
    """

    breakpoints: Array
    values: Array

    def __post_init__(self) -> None:
        b, v = tuple(self.breakpoints.shape), tuple(self.values.shape)
        if not b or not v or b[-1] != v[-1] or b[-1] < 2:
            raise ValueError(
                f"received breakpoints of shape {b} and values of shape {v}; "
                "their last axes must be equal, of length two at least"
            )
        try:
            np.broadcast_shapes(b, v)
        except ValueError:
            raise ValueError(
                f"the batch axes of breakpoints {b} and values {v} do not broadcast"
            ) from None

    @classmethod
    def from_slopes(cls, breakpoints: Array, slopes: Array, first: Array) -> PiecewiseLinear:
        """The function with the given slopes (*B, K - 1) and value first (*B) at breakpoint 0."""
        rises = slopes * (breakpoints[..., 1:] - breakpoints[..., :-1])
        start = first.unsqueeze(-1) + 0 * rises[..., :1]
        return cls(breakpoints, torch.cat((start, start + rises.cumsum(-1)), -1))

    @property
    def slopes(self) -> Array:
        """The slopes of the K - 1 pieces, shape (*B, K - 1)."""
        b, v = self.breakpoints, self.values
        return (v[..., 1:] - v[..., :-1]) / (b[..., 1:] - b[..., :-1])

    def __call__(self, x: Array) -> Array:
        """The values (*B, P) at P points for each function, x of shape (*B, P) or broadcast to it.

        f(x) = v_0 + Σ over the pieces of the slope times the length of the piece to the left of x.
        Inside the breakpoints no term exceeds the rise of its piece, so the rounding error stays
        below K ulps of the total variation.
        """
        b = self.breakpoints.unsqueeze(-2)
        inner = b[..., 1:-1]
        x = x.unsqueeze(-1) + 0 * b[..., :1]
        reached = torch.cat((torch.minimum(x, inner), x), -1)
        reached = torch.cat((reached[..., :1], torch.maximum(reached[..., 1:], inner)), -1)
        rises = self.slopes.unsqueeze(-2) * (reached - b[..., :-1])
        return self.values[..., :1] + rises.sum(-1)

    def lipschitz(self) -> Array:
        """The least Lipschitz constant, max |slope|, shape (*B)."""
        return self.slopes.abs().amax(-1)


def zigzag(
    radius: Array, lipschitz: Array, cells: int, signs: Array | None = None
) -> PiecewiseLinear:
    """The L-Lipschitz function farthest from its chords over cells of length h = R/cells.

    It vanishes at the 2·cells + 1 multiples of h in [-R, R] and has slopes ±L, with a tooth of
    height L·h/2 in each cell: upwards, or with the sign in signs (*B, 2·cells). radius and
    lipschitz have shape (*B), the breakpoints (*B, 4·cells + 1). Raises ValueError if cells < 1.
    """
    if cells < 1:
        raise ValueError(
            f"zigzag received {cells} cells; it takes at least one on either side of 0"
        )
    steps = radius.new_ones(4 * cells + 1).cumsum(-1) - (2 * cells + 1)
    breakpoints = radius.unsqueeze(-1) * steps / (2 * cells)
    height = (lipschitz * radius / (2 * cells)).unsqueeze(-1)
    teeth = height * (radius.new_ones(2 * cells) if signs is None else signs)
    pairs = torch.stack((0 * teeth, teeth), -1)
    values = pairs.reshape(*pairs.shape[:-2], 4 * cells)
    return PiecewiseLinear(breakpoints, torch.cat((values, 0 * values[..., :1]), -1))
