r"""The task of bottleneck.figure-2: to predict the losses of gradient descent.

The losses are those of `rankcheck.costs.rank_one_matching`: $C(v) = \|vv^T - (ww^T + E)\|_F^2$ for
a unit vector w. For E = 0 they depend on v(0) through $((w^T v)^2, \|(1 - ww^T) v\|^2)$ alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rankcheck.costs.rank_one_matching import descent_path, matching_loss, split_along

__all__ = ["REACH", "Task", "reflected", "rotated", "starts"]

#: The largest |w^T v(0)|, and the largest distance of v(0) to the axis of w.
REACH = 1.3
#: Orbits, and points on each.
ORBITS, ON_ORBIT = 40, 32


def starts(along: Tensor, beside: Tensor, w: Tensor, draw: torch.Generator) -> Tensor:
    """Points with w^T v = along and ‖(1 − ww^T) v‖ = beside, in random directions beside w.

    Args:
        along, beside: (*B).
        w: a unit vector (d), d ≥ 2.

    Returns:
        v, of shape (*B, d); the directions are uniform on the unit sphere beside w.
    """
    normal = torch.randn(*along.shape, len(w), generator=draw, dtype=torch.float64)
    normal = normal - (normal @ w).unsqueeze(-1) * w
    unit = normal / normal.norm(dim=-1, keepdim=True)
    return along.unsqueeze(-1) * w + beside.unsqueeze(-1) * unit


@dataclass(frozen=True)
class Task:
    """The function v(0) ↦ (C(v(1)), ..., C(v(T))), its inputs and its outputs scaled.

    Attributes:
        w: the unit vector, (d).
        noise: E, (d, d).
        rate: the step size of the descent.
        steps: T.
        size: the inputs are divided by it.
        shift, scale: y = (C − shift) / scale, with a shift for each step.
    """

    w: Tensor
    noise: Tensor
    rate: float
    steps: int
    size: float = 1.0
    shift: Tensor | float = 0.0
    scale: float = 1.0

    @classmethod
    def drawn(
        cls, settings: Mapping[str, Any], draw: torch.Generator
    ) -> tuple[Task, Tensor, Tensor]:
        """A task, and N points with their values, of mean square 1, the values of mean 0."""
        w = torch.randn(settings["inputs"], generator=draw, dtype=torch.float64)
        w = w / w.norm()
        noise = settings["noise"] * torch.randn(len(w), len(w), generator=draw, dtype=torch.float64)
        plain = cls(w, noise, settings["descent_rate"], settings["descent_steps"])
        v = plain.points(settings["points"], draw)
        C = plain.values(v)
        shift = C.mean(0)
        size, scale = _size(v), _size(C - shift)
        made = cls(w, noise, plain.rate, plain.steps, size, shift, scale)
        return made, made.inputs(v), made.values(v)

    def points(self, count: int, draw: torch.Generator) -> Tensor:
        """v (count, d) with w^T v uniform in [−REACH, REACH], ‖(1 − ww^T) v‖ in [0, REACH]."""
        along, beside = torch.rand(2, count, generator=draw, dtype=torch.float64)
        return starts(REACH * (2 * along - 1), REACH * beside, self.w, draw)

    def inputs(self, v: Tensor) -> Tensor:
        """x = v / size."""
        return v / self.size

    def path(self, v: Tensor) -> Tensor:
        """v(0), ..., v(T), shape (N, T + 1, d), for starts (N, d)."""
        rate = torch.full(v.shape[:-1], self.rate, dtype=v.dtype)
        return torch.stack(descent_path(v, self.w, rate, self.steps, self.noise), -2)

    def values(self, v: Tensor) -> Tensor:
        """y, shape (N, T), for starts (N, d)."""
        losses = matching_loss(self.path(v)[..., 1:, :], self.w, self.noise)
        return (losses - self.shift) / self.scale


def _size(values: Tensor) -> float:
    return float(values.square().mean().sqrt())


def rotated(task: Task, draw: torch.Generator) -> Tensor:
    """Orbits of the rotations about w, (orbits, points on each, d), of starts of the task."""
    v = task.points(ORBITS, draw)
    along, beside = v @ task.w, split_along(v, task.w)[1].sqrt()
    wide = (ORBITS, ON_ORBIT)
    return starts(along[:, None].expand(wide), beside[:, None].expand(wide), task.w, draw)


def reflected(task: Task, draw: torch.Generator) -> Tensor:
    """Orbits {v, v − 2 (w^T v) w} of the reflection that takes w to −w, (orbits, 2, d)."""
    v = task.points(ORBITS * ON_ORBIT // 2, draw)
    return torch.stack((v, v - 2 * (v @ task.w).unsqueeze(-1) * task.w), 1)
