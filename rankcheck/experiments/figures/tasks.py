"""What is learnt: data of a low-rank function, for several experiments."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from rankcheck.experiments.base import Part
from rankcheck.experiments.stack import Stack, generators

__all__ = ["latent_task", "learners", "shallow_network"]


def shallow_network(n: int, m: int, width: int, draw: torch.Generator) -> tuple[Tensor, ...]:
    """A random shallow ReLU network R^n → R^m of one hidden layer, as (W, b, V).

    Entries are independent and normal: W with variance 1/n, b with variance 1/4, V with variance
    2/width. The documents say "random parameters" and no more.
    """
    W = torch.randn(width, n, generator=draw) / n**0.5
    b = torch.randn(width, generator=draw) / 2
    V = torch.randn(m, width, generator=draw) * (2 / width) ** 0.5
    return W, b, V


def latent_task(
    draws: Sequence[torch.Generator],
    points: int,
    *,
    latent: int,
    inputs: int,
    used: int,
    outputs: int,
    width: int = 100,
) -> tuple[Tensor, Tensor]:
    """Points x = g(z) and values y = h(z_1, ..., z_k), of shapes (R, N, n) and (R, N, m), float32.

    z has `latent` independent normal entries, k is `used`, and g, h are shallow networks of
    `width` hidden units, drawn anew for each run. Where g is injective, x ↦ y is h ∘ g⁻¹, whose
    bottleneck rank is at most k. x and y are shifted to mean 0, and scaled to mean square 1.
    """

    def each(draw: torch.Generator) -> tuple[Tensor, Tensor]:
        z = torch.randn(points, latent, generator=draw)
        g = shallow_network(latent, inputs, width, draw)
        h = shallow_network(used, outputs, width, draw)
        return _standard(_apply(g, z)), _standard(_apply(h, z[:, :used]))

    pairs = [each(draw) for draw in draws]
    return torch.stack([x for x, _ in pairs]), torch.stack([y for _, y in pairs])


def learners(
    part: Part, *, used: int, gain: float, last: float = 1.0
) -> tuple[Tensor, Tensor, Stack]:
    """The points and values of a task of rank `used` for each run, and networks to learn it.

    Values have mean squared norm 1. The sizes, the width and the depth are those of the part; the
    first weights have this gain, and those of the last layer are multiplied by `last`.
    """
    settings, draws = part.settings, generators(part.seeds)
    size, inner = settings["size"], [settings["width"]] * (settings["depth"] - 1)
    x, y = latent_task(
        draws,
        settings["points"],
        latent=settings["latent"],
        inputs=size,
        used=used,
        outputs=size,
    )
    stack = Stack.random([size, *inner, size], draws, gain=gain)
    stack.weights[-1] = stack.weights[-1] * last
    return x, y / size**0.5, stack


def _apply(net: tuple[Tensor, ...], z: Tensor) -> Tensor:
    W, b, V = net
    return torch.relu(z @ W.mT + b) @ V.mT


def _standard(values: Tensor) -> Tensor:
    """Values of mean 0 in every entry, and of mean square 1 over all of them."""
    centred = values - values.mean(0)
    return centred / centred.square().mean().sqrt()
