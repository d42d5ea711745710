"""Φ_L: the certified solver against torch's L-BFGS, in one run.

    python -m benchmarks.phi

Three Markdown tables. Solver: 200 instances (K ≤ 12, D ≤ 8, L ≤ 20) and K = 200, D = 50, one at a
time, against L-BFGS on the same objective; ``excess`` is how far L-BFGS ends above the lower end of
the bracket. Batches: microseconds an instance in batches of 10 000. Sandwich: how wide the printed
bounds are. One thread.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from statistics import mean, median

import torch
from torch import Tensor

from benchmarks.measuring import Ratio, table, timed
from rankcheck.costs import phi, phi_lower, phi_upper

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


def compare(name: str, instances: list[Instance]) -> list[str]:
    """One line: both solvers on each instance alone."""
    here, there, gaps, excess, iterations = [], [], [], [], []
    for W, a, L in instances:
        seconds, bracket = timed(partial(phi, W, a, L))
        slow, value = timed(partial(by_lbfgs, W, a, L))
        here.append(1e3 * seconds)
        there.append(1e3 * slow)
        gaps.append(float(bracket.gap))
        excess.append(value / float(bracket.lower) - 1)
        iterations.append(int(bracket.iterations))
    return [
        name,
        f"{median(here):.2f}",
        f"{median(there):.1f}",
        f"{median(there) / median(here):.0f}",
        f"{max(iterations)}",
        f"{median(gaps):.0e} / {max(gaps):.0e}",
        f"{median(excess):.0e} / {max(excess):.0e}",
    ]


def small_instances(generator: torch.Generator, number: int) -> list[Instance]:
    shapes = random.Random(SEED)
    return [
        draw(generator, (), shapes.randint(1, 12), shapes.randint(1, 8), shapes.randint(2, 20))
        for _ in range(number)
    ]


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """The certified bracket against L-BFGS, one instance at a time: medians."""
    instances = small_instances(torch.Generator().manual_seed(SEED), 5 if quick else 200)
    phi(*instances[0])  # torch loads LAPACK on first use
    here = median(timed(partial(phi, *instance))[0] for instance in instances)
    there = median(timed(partial(by_lbfgs, *instance))[0] for instance in instances)
    yield Ratio("Φ_L with a certificate", "L-BFGS", there / here)


def main() -> None:
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(SEED)
    small = small_instances(generator, 200)
    large = [draw(generator, (), 200, 50, L) for L in (3, 5, 10, 20)]
    phi(*small[0])  # torch loads LAPACK on first use
    table(
        [
            "one at a time",
            "here (ms)",
            "L-BFGS (ms)",
            "ratio",
            "decompositions ≤",
            "gap: median / max",
            "excess: median / max",
        ],
        [compare("200 small", small), compare("K = 200, D = 50", large)],
    )

    rows = []
    for K, D, L in [(2, 2, 5), (4, 4, 5), (6, 4, 10), (8, 8, 10), (12, 8, 20)]:
        W, a, _ = draw(generator, (10_000,), K, D, L)
        seconds, bracket = timed(partial(phi, W, a, L), 3)
        some = [timed(partial(by_lbfgs, W[i], a[i], L))[0] for i in range(20)]
        rows.append(
            [
                f"{K}, {D}, {L}",
                f"{1e6 * seconds / len(W):.1f}",
                f"{1e6 * median(some):.0f}",
                f"{median(some) * len(W) / seconds:.0f}",
                f"{float(bracket.iterations.double().mean()):.1f}",
                f"{float(bracket.converged.double().mean()):.4f}",
                f"{float(bracket.gap.median()):.0e} / {float(bracket.gap.max()):.0e}",
            ]
        )
    table(
        [
            "10 000 at once: K, D, L",
            "µs each",
            "L-BFGS (µs)",
            "ratio",
            "decompositions",
            "converged",
            "gap: median / max",
        ],
        rows,
    )

    low, high = [], []
    for W, a, L in small:
        value = float(phi(W, a, L).upper)
        low.append(value / float(phi_lower(W, a, L)))
        high.append(float(phi_upper(W, a, L)) / value)
    table(
        ["200 small", "least", "median", "mean", "most"],
        [
            [name, *(f"{f(ratios):.3f}" for f in (min, median, mean, max))]
            for name, ratios in (("Φ / lower bound", low), ("upper bound / Φ", high))
        ],
    )


if __name__ == "__main__":
    main()
