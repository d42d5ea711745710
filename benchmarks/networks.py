"""The inner loop of a sweep: large batches of tiny matrices and networks.

    python -m benchmarks.networks [--batch N]

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
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial

import torch
from torch import Tensor

from benchmarks.measuring import Ratio, table, timed
from rankcheck.linalg import schatten_power, singular_values
from rankcheck.networks import Network

SHAPES = [(1, 4), (2, 2), (2, 4), (4, 2), (3, 3), (4, 4), (5, 5)]


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def each(call: Callable[[], object], batch: int) -> str:
    """Nanoseconds for each member of a batch, after one call that is not measured."""
    call()
    return f"{1e9 * timed(call, 5)[0] / batch:.0f}"


def titled(title: str, columns: list[str], rows: Iterable[list[str]]) -> None:
    print(f"\n{title}\n")
    table(columns, rows)


def singular_value_row(shape: tuple[int, int], batch: int) -> list[str]:
    A = normal(batch, *shape)
    leaf = A.clone().requires_grad_()
    s, oracle = singular_values(A), torch.linalg.svdvals(A)
    difference = ((s - oracle).abs() / oracle[..., :1]).max().item()
    q = Fraction(2, 50)
    return [
        f"{shape[0]} × {shape[1]}",
        each(lambda: singular_values(A), batch),
        each(lambda: torch.linalg.svdvals(A), batch),
        each(lambda: schatten_power(A, q), batch),
        each(lambda: torch.autograd.grad(schatten_power(leaf, q).sum(), leaf), batch),
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
        each(lambda: A @ B, batch),
        each(lambda: (A.unsqueeze(-1) * B.unsqueeze(-3)).sum(-2), batch),
        each(loop, batch),
    ]


def network_row(depth: int, batch: int) -> list[str]:
    net = Network([normal(batch, 4, 4)] * depth, [normal(batch, 4)] * depth)
    x = normal(batch, 4)

    def bound() -> Tensor:
        exponent = Fraction(2, depth)
        return schatten_power(net.jacobian(x), exponent) - net.cost() / depth

    return [
        str(depth),
        each(lambda: net(x), batch),
        each(lambda: net.jacobian(x), batch),
        each(bound, batch),
    ]


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """Singular values against LAPACK, by shape."""
    for rows, columns in SHAPES:
        A = normal(1_000 if quick else 100_000, rows, columns)
        here, _ = timed(partial(singular_values, A), 5)
        there, _ = timed(partial(torch.linalg.svdvals, A), 5)
        yield Ratio(f"singular values, {rows} × {columns}", "LAPACK", there / here)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--batch", type=int, default=100_000)
    batch = parser.parse_args().batch
    torch.set_num_threads(1)
    print(f"batches of {batch}, nanoseconds each, one thread")
    titled(
        "Singular values",
        ["shape", "here", "LAPACK", "Schatten sum", "with gradient", "difference / s_1"],
        (singular_value_row(shape, batch) for shape in SHAPES),
    )
    titled(
        "Products",
        ["n", "matmul", "broadcast and sum", "loop"],
        (product_row(n, batch) for n in (1, 2, 3, 4, 5, 8)),
    )
    titled(
        "Networks of width 4",
        ["depth", "f(x)", "Jf(x)", "the bound"],
        (network_row(depth, batch) for depth in (1, 2, 3, 4, 5)),
    )


if __name__ == "__main__":
    main()
