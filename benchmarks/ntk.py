"""Jacobians and the tangent kernel against torch.func, on a ReLU network with He-normal weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import torch
from torch import Tensor
from torch.func import jacfwd, jacrev, vmap

from benchmarks.measuring import Ratio, timed
from rankcheck.networks import Network
from rankcheck.networks.tangent_kernel import gram


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


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """Each quantity against torch.func; they agree."""
    points, depth, width = (20, 3, 8) if quick else (1000, 16, 64)
    generator = torch.Generator().manual_seed(1)
    X = torch.randn(points, width, dtype=torch.float64, generator=generator)
    one, eight = (network(width, depth, outputs) for outputs in (1, 8))
    cases: dict[str, tuple[Callable[[], Tensor], Callable[[], Tensor]]] = {
        "Gram matrix, 1 output": (
            lambda: gram(one, X, biases=True),
            lambda: gram_by_func(one, X),
        ),
        "Jacobians, 1 output (jacrev)": (
            lambda: one.jacobian(X),
            lambda: vmap(jacrev(one))(X),
        ),
        "Jacobians, 8 outputs (jacrev)": (
            lambda: eight.jacobian(X),
            lambda: vmap(jacrev(eight))(X),
        ),
        "Jacobians, 8 outputs (jacfwd)": (
            lambda: eight.jacobian(X),
            lambda: vmap(jacfwd(eight))(X),
        ),
    }
    for name, (here, there) in cases.items():
        seconds, value = timed(here, 5)
        other, oracle = timed(there)
        torch.testing.assert_close(value, oracle, rtol=1e-8, atol=1e-8)
        yield Ratio(name, "torch.func", other / seconds)
