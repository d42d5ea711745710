"""Jacobians and the tangent kernel against torch.func and against the bare matrix products.

    python -m benchmarks.ntk [--points N] [--depth L] [--width n]

Prints one Markdown table, all measured in one run on one thread, on a ReLU network with He-normal
weights: the least of five runs in milliseconds (of one run for torch.func), the ratios, and the
largest relative difference between the two results. The bare products are the matrix products that
the formula needs and nothing else: no activation, mask, or sum; for the Gram matrix both factors of
all N² entries, though the symmetric half would do.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.func import jacfwd, jacrev, vmap

from benchmarks.measuring import Ratio, table, timed
from rankcheck.networks import Network
from rankcheck.networks.tangent_kernel import gram

COLUMNS = ["what", "here (ms)", "bare products", "ratio", "torch.func", "ratio", "difference"]


def network(width: int, depth: int, outputs: int) -> Network:
    generator = torch.Generator().manual_seed(0)
    widths = [width] * depth + [outputs]
    return Network(
        [
            torch.randn(n, m, generator=generator).double() * (2 / m) ** 0.5
            for m, n in pairwise(widths)
        ],
        [torch.randn(n, generator=generator).double() for n in widths[1:]],
    )


def gram_by_func(net: Network, X: Tensor) -> Tensor:
    """Per-example gradients by vmap(jacrev), contracted parameter by parameter."""

    def function(weights: tuple[Tensor, ...], biases: tuple[Tensor, ...], x: Tensor) -> Tensor:
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            x = torch.relu(w @ x + b)
        return weights[-1] @ x + biases[-1]

    by_weights, by_biases = vmap(jacrev(function, argnums=(0, 1)), (None, None, 0))(
        net.weights, net.biases, X
    )
    K = X.new_zeros(len(X), len(X))
    for gradient in (*by_weights, *by_biases):
        rows = gradient.reshape(len(X), -1)
        K = K + rows @ rows.mT
    return K


def bare_jacobian(net: Network, X: Tensor) -> Tensor:
    """The products of the forward and of the backward pass."""
    for w in net.weights:
        X = X @ w.mT
    rows = X.new_ones(X.shape[0] * net.widths[-1], net.widths[-2])
    for w in net.weights[-2::-1]:
        rows = rows @ w
    return rows


def bare_gram(net: Network, X: Tensor) -> Tensor:
    """Those of both passes, and the two Gram matrices of each layer."""
    rows = bare_jacobian(net, X)
    for n in net.widths[1:-1]:
        for factor in (X[:, :n], rows[:, :n]):
            K = factor @ factor.mT
    return X @ X.mT + K


class Case(NamedTuple):
    """The same quantity here, as bare products, and by torch.func."""

    name: str
    here: Callable[[], Tensor]
    bare: Callable[[], Tensor]
    rival: Callable[[], Tensor]

    def cells(self) -> list[str]:
        mine, value = timed(self.here, 5)
        floor, _ = timed(self.bare, 5)
        other, oracle = timed(self.rival)
        difference = ((value - oracle).abs().max() / oracle.abs().max()).item()
        return [
            self.name,
            f"{1e3 * mine:.1f}",
            f"{1e3 * floor:.1f}",
            f"{mine / floor:.2f}",
            f"{1e3 * other:.0f}",
            f"{other / mine:.1f}",
            f"{difference:.0e}",
        ]


def cases(points: int, depth: int, width: int) -> list[Case]:
    generator = torch.Generator().manual_seed(1)
    X = torch.randn(points, width, dtype=torch.float64, generator=generator)
    one, eight = (network(width, depth, outputs) for outputs in (1, 8))

    def jacobians(net: Network, name: str, rival: Callable[..., Any]) -> Case:
        return Case(
            name,
            lambda: net.jacobian(X),
            lambda: bare_jacobian(net, X),
            lambda: vmap(rival(net))(X),
        )

    kernel = Case(
        "Gram matrix, 1 output",
        lambda: gram(one, X, biases=True),
        lambda: bare_gram(one, X),
        lambda: gram_by_func(one, X),
    )
    return [
        kernel,
        jacobians(one, "Jacobians, 1 output (jacrev)", jacrev),
        jacobians(eight, "Jacobians, 8 outputs (jacrev)", jacrev),
        jacobians(eight, "Jacobians, 8 outputs (jacfwd)", jacfwd),
    ]


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """Each quantity against torch.func."""
    for case in cases(*((20, 3, 8) if quick else (1000, 16, 64))):
        seconds, _ = timed(case.here, 5)
        yield Ratio(case.name, "torch.func", timed(case.rival)[0] / seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--depth", type=int, default=16)
    parser.add_argument("--width", type=int, default=64)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{options.points} inputs, depth {options.depth}, width {options.width}, one thread\n")
    made = cases(options.points, options.depth, options.width)
    table(COLUMNS, (case.cells() for case in made))


if __name__ == "__main__":
    main()
