"""Random matrices and networks for the tests of the mathematics."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch

from rankcheck.networks import Network


def normal(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def uniform(seed: int, *shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def integers(seed: int, *shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-3, 4, shape, generator=generator).to(torch.float64)


def random_units(seed: int, count: int, K: int, D: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Random W and a, with row lengths over about three orders of magnitude."""
    return normal(seed, count, K, D), normal(seed + 1, count, K) * normal(seed + 2, count, K).exp()


def random_network(
    widths: Sequence[int],
    slope: Any = 0.0,
    batch: Sequence[int] = (),
    seed: int = 0,
    draw: Callable[..., torch.Tensor] = normal,
) -> Network:
    """A network of these widths, whose weights and biases `draw` gives."""
    weights = [draw(1000 * seed + i, *batch, n, m) for i, (m, n) in enumerate(pairwise(widths))]
    biases = [draw(1000 * seed + 500 + i, *batch, n) for i, n in enumerate(widths[1:])]
    return Network(weights, biases, slope)
