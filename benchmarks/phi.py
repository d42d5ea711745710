"""Φ_L: the certified solver against torch's L-BFGS on the same objective.

200 instances (K ≤ 12, D ≤ 8, L ≤ 20), one at a time, and four with K = 200, D = 50.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from statistics import median

import torch
from torch import Tensor

from benchmarks.measuring import Ratio, timed
from rankcheck.costs import phi

Instance = tuple[Tensor, Tensor, int]
SEED = 20240611


def draw(generator: torch.Generator, batch: tuple[int, ...], K: int, D: int, L: int) -> Instance:
    """Gaussian weights, outer weights over an order of magnitude or two."""
    W = torch.randn(*batch, K, D, generator=generator, dtype=torch.float64)
    a = torch.randn(2, *batch, K, generator=generator, dtype=torch.float64)
    return W, a[0] * a[1].exp(), L


def by_lbfgs(W: Tensor, a: Tensor, L: int) -> float:
    """Φ_L by torch's L-BFGS with a strong Wolfe search, from the λ of the path norm."""
    B, q = a.unsqueeze(-1) * W, 2 / (L - 1)
    u = (torch.linalg.vector_norm(B, dim=-1).log() / 2).requires_grad_()
    optimiser = torch.optim.LBFGS(
        [u],
        max_iter=500,
        tolerance_grad=1e-9,
        tolerance_change=1e-15,
        line_search_fn="strong_wolfe",
    )

    def objective() -> Tensor:
        s = torch.linalg.svdvals(B / u.exp().unsqueeze(-1))
        return s.pow(q).sum().log() / q + torch.logsumexp(2 * u, -1) / 2

    def closure() -> Tensor:
        optimiser.zero_grad()
        value = objective()
        value.backward()
        return value

    optimiser.step(closure)
    with torch.no_grad():
        return float((2 / L * objective()).exp())


def small_instances(generator: torch.Generator, number: int) -> list[Instance]:
    shapes = random.Random(SEED)
    return [
        draw(generator, (), shapes.randint(1, 12), shapes.randint(1, 8), shapes.randint(2, 20))
        for _ in range(number)
    ]


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """The certified bracket against L-BFGS, one instance at a time: medians."""
    generator = torch.Generator().manual_seed(SEED)
    cases = {"one small instance": small_instances(generator, 5 if quick else 200)}
    if not quick:
        cases["K = 200, D = 50"] = [draw(generator, (), 200, 50, L) for L in (3, 5, 10, 20)]
    phi(*cases["one small instance"][0])  # torch loads LAPACK on first use
    for name, instances in cases.items():
        here = median(timed(partial(phi, *instance))[0] for instance in instances)
        there = median(timed(partial(by_lbfgs, *instance))[0] for instance in instances)
        yield Ratio(f"Φ_L with a certificate, {name}", "L-BFGS", there / here)
