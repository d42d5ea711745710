"""All that an audit measures at points against single parts of it by torch.func.

The network is a ReLU network with He-normal weights, 64 inputs and 10 outputs. Measured are
Jacobians, their singular values, the traces of the tangent kernel and the EGOP, here in batches of
bounded memory; the Jacobians and their singular values alone by torch.func.vmap(jacrev), all points
at once; and the traces by jacrev in the parameters, point by point, the time of `SAMPLE` points
multiplied. Each in a process of its own, on one thread.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.func import jacrev, vmap

from benchmarks.measuring import Ratio, timed
from rankcheck.audit.points import see
from rankcheck.networks import Network

INPUTS, OUTPUTS = 64, 10
#: Points at which the traces are differentiated one by one.
SAMPLE = 4


def normal(*shape: int, seed: int) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=draw)


def network(width: int, depth: int) -> Network:
    widths = [INPUTS, *[width] * (depth - 1), OUTPUTS]
    weights = [normal(n, m, seed=i) * (2 / m) ** 0.5 for i, (m, n) in enumerate(pairwise(widths))]
    biases = [normal(n, seed=90 + i) / 10 for i, n in enumerate(widths[1:])]
    return Network(weights, biases)


def here(net: Network, X: Tensor) -> tuple[np.ndarray, np.ndarray]:
    norms = [float(torch.linalg.matrix_norm(w, 2)) for w in net.weights]
    found = see(net, X, norms, (True,) * net.depth)
    return found.singular_values.numpy(), found.traces[:SAMPLE].numpy()


def jacobians(net: Network, X: Tensor) -> tuple[np.ndarray, None]:
    return torch.linalg.svdvals(vmap(jacrev(net))(X)).numpy(), None


def traces(net: Network, X: Tensor) -> tuple[None, np.ndarray]:
    def value(weights: Any, biases: Any, x: Tensor) -> Tensor:
        return net.with_parameters(weights, biases)(x)

    gradients = jacrev(value, argnums=(0, 1))
    found = []
    for x in X[:SAMPLE]:
        both = gradients(net.weights, net.biases, x)
        found.append(sum(float((g * g).sum()) for side in both for g in side))
    return None, np.array(found)


def alone(what: Callable[..., Any], points: int, depth: int, width: int) -> tuple[float, Any]:
    """Seconds, and what was found."""
    torch.set_num_threads(1)
    net = network(width, depth)
    X = normal(points, INPUTS, seed=1)
    what(net, X[:2])  # what is loaded on first use
    return timed(partial(what, net, X))


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """Everything that an audit measures at points, against single parts of it by torch.func."""
    points, depth, width = (20, 3, 16) if quick else (1000, 16, 512)
    first: tuple[float, Any] | None = None
    for name, what in {"here": here, "vmap(jacrev)": jacobians, "traces": traces}.items():
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, found = pool.apply(alone, (what, points, depth, width))
        if first is None:
            first = seconds, found
            continue
        for mine, theirs in zip(first[1], found, strict=True):
            assert theirs is None or np.abs(mine - theirs).max() <= 1e-6 * np.abs(theirs).max()
        seconds *= points / SAMPLE if what is traces else 1
        yield Ratio("all that an audit measures at points", name, seconds / first[0])
