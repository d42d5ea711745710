"""The inner loop of a sweep: large batches of tiny matrices and networks.

    python benchmarks/networks.py [--batch N]

Prints three Markdown tables, measured in one run on one thread, in nanoseconds for each matrix or
network (the least of five runs):

1. singular values, here and by LAPACK (torch.linalg.svdvals), the Schatten sum at q = 2/50 with and
   without its gradient, and the largest difference in units of s_1;
2. products of n × n matrices: torch.matmul, a sum over a broadcast axis, a loop over that axis;
3. networks of width 4 by depth: f(x), Jf(x), and the sum of both sides of the bound
   ‖Jf(x)‖_{S^{2/L}}^{2/L} ≤ ‖θ‖²/L.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from fractions import Fraction

import torch
from torch import Tensor

from rankcheck.linalg import schatten_power, singular_values
from rankcheck.networks import Network

SHAPES = [(1, 4), (2, 2), (2, 4), (4, 2), (3, 3), (4, 4), (5, 5)]


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def timed(call: Callable[[], object], batch: int) -> str:
    call()
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return f"{1e9 * best / batch:.0f}"


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    print(f"\n{title}\n\n| " + " | ".join(columns) + " |")
    print("|" + " --- |" * len(columns))
    for cells in rows:
        print("| " + " | ".join(cells) + " |", flush=True)


def singular_value_row(shape: tuple[int, int], batch: int) -> list[str]:
    A = normal(batch, *shape)
    leaf = A.clone().requires_grad_()
    s, oracle = singular_values(A), torch.linalg.svdvals(A)
    difference = ((s - oracle).abs() / oracle[..., :1]).max().item()
    q = Fraction(2, 50)
    return [
        f"{shape[0]} × {shape[1]}",
        timed(lambda: singular_values(A), batch),
        timed(lambda: torch.linalg.svdvals(A), batch),
        timed(lambda: schatten_power(A, q), batch),
        timed(lambda: torch.autograd.grad(schatten_power(leaf, q).sum(), leaf), batch),
        f"{difference:.0e}",
    ]


def product_row(n: int, batch: int) -> list[str]:
    A, B = normal(batch, n, n), normal(batch, n, n)

    def loop() -> Tensor:
        total = A[..., :1] * B[..., :1, :]
        for k in range(1, n):
            total = torch.addcmul(total, A[..., k : k + 1], B[..., k : k + 1, :])
        return total

    return [
        str(n),
        timed(lambda: A @ B, batch),
        timed(lambda: (A.unsqueeze(-1) * B.unsqueeze(-3)).sum(-2), batch),
        timed(loop, batch),
    ]


def network_row(depth: int, batch: int) -> list[str]:
    net = Network([normal(batch, 4, 4)] * depth, [normal(batch, 4)] * depth)
    x = normal(batch, 4)

    def bound() -> Tensor:
        exponent = Fraction(2, depth)
        return schatten_power(net.jacobian(x), exponent) - net.cost() / depth

    return [
        str(depth),
        timed(lambda: net(x), batch),
        timed(lambda: net.jacobian(x), batch),
        timed(bound, batch),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=100_000)
    batch = parser.parse_args().batch
    torch.set_num_threads(1)
    print(f"batches of {batch}, nanoseconds each, one thread")
    table(
        "Singular values",
        ["shape", "here", "LAPACK", "Schatten sum", "with gradient", "difference / s_1"],
        [singular_value_row(shape, batch) for shape in SHAPES],
    )
    table(
        "Products",
        ["n", "matmul", "broadcast and sum", "loop"],
        [product_row(n, batch) for n in (1, 2, 3, 4, 5, 8)],
    )
    table(
        "Networks of width 4",
        ["depth", "f(x)", "Jf(x)", "the bound"],
        [network_row(depth, batch) for depth in (1, 2, 3, 4, 5)],
    )


if __name__ == "__main__":
    main()
