"""Linear regions: splitting whole layers against a flip search, a batch against one at a time.

Over the box [-1, 1]^d, with He-normal weights and normal biases of deviation 0.3, and for batches
what sweeps draw, with its zeros and small integers. The flip search
walks from region to neighbour, one HiGHS linear programme for each candidate facet (through scipy's
`milp`, its cheapest entrance to HiGHS, some 0.5 ms of it overhead), stopped after a few seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from scipy.optimize import Bounds, LinearConstraint, milp

from benchmarks.measuring import Ratio, timed
from rankcheck.instances.drivers import BatchSource
from rankcheck.networks import Network
from rankcheck.regions import region_arrays, regions

BATCHES = [(1, 4, 1), (1, 4, 4, 1), (2, 2, 2, 1), (2, 4, 1), (2, 6, 1), (2, 4, 4, 1), (2, 6, 6, 1)]
BATCH = 256
NETWORKS = [(2, 16, 16, 1), (3, 10, 10, 10, 2), (2, 32, 32, 32, 1), (4, 10, 10, 3)]


def network(widths: tuple[int, ...]) -> Network:
    g = np.random.default_rng(0)
    weights = [g.standard_normal((m, n)) * np.sqrt(2 / n) for n, m in pairwise(widths)]
    return Network.of(weights, [0.3 * g.standard_normal(m) for m in widths[1:]])


def flip_search(net: Network, seconds: float) -> int:
    """Regions reached from the one around a random point by crossing one facet after the other.

    A facet is crossed by flipping the one neuron that vanishes on it: where two neurons vanish
    together, that leads to a pattern without a region, and the search goes no further there.
    """
    weights = [w.numpy() for w in net.weights[:-1]]
    biases = [b.numpy() for b in net.biases[:-1]]
    d = net.widths[0]
    start = torch.from_numpy(np.random.default_rng(1).uniform(-1, 1, d))
    first = tuple(torch.cat(net.pattern(start)).tolist())
    reached, waiting, done = {first}, [first], 0
    deadline = time.perf_counter() + seconds
    while waiting and time.perf_counter() < deadline:
        pattern = waiting.pop()
        done += 1
        rows, offsets = half_spaces(weights, biases, pattern)
        for i, row in enumerate(rows):
            neighbour = (*pattern[:i], not pattern[i], *pattern[i + 1 :])
            if neighbour not in reached and np.any(row):
                # Is z_i >= 0 needed beside the other constraints, and is what lies beyond a region?
                without = np.delete(rows, i, 0), np.delete(offsets, i)
                if least(row, *without) + offsets[i] < -1e-9 and has_interior(
                    *half_spaces(weights, biases, neighbour)
                ):
                    reached.add(neighbour)
                    waiting.append(neighbour)
    return len(reached) if not waiting else done


def half_spaces(
    weights: list[np.ndarray], biases: list[np.ndarray], pattern: tuple[bool, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Rows a_i and offsets c_i with a_i·x + c_i >= 0 on the region of the pattern."""
    d = weights[0].shape[1]
    A, c, left = np.eye(d), np.zeros(d), np.array(pattern)
    rows, offsets = [], []
    for W, b in zip(weights, biases, strict=True):
        A, c = W @ A, W @ c + b
        active, left = left[: len(c)], left[len(c) :]
        sign = np.where(active, 1.0, -1.0)
        rows.append(sign[:, None] * A)
        offsets.append(sign * c)
        A, c = active[:, None] * A, active * c
    return np.concatenate(rows), np.concatenate(offsets)


def least(objective: np.ndarray, rows: np.ndarray, offsets: np.ndarray) -> float:
    """min objective·x over the box and rows·x + offsets >= 0."""
    answer = milp(
        objective, constraints=LinearConstraint(rows, -offsets, np.inf), bounds=Bounds(-1, 1)
    )
    return answer.fun if answer.status == 0 else np.inf


def has_interior(rows: np.ndarray, offsets: np.ndarray) -> bool:
    """Whether a ball of radius 1e-9 fits."""
    d, length = rows.shape[1], np.linalg.norm(rows, axis=1)
    if np.any((length == 0) & (offsets < 0)):
        return False
    answer = milp(
        [0.0] * d + [-1.0],
        constraints=LinearConstraint(np.column_stack((rows, -length)), -offsets, np.inf),
        bounds=Bounds([-1.0] * d + [0.0], [1.0] * (d + 1)),
    )
    return answer.status == 0 and -answer.fun > 1e-9


def name(net: Network) -> str:
    return "-".join(map(str, net.widths))


def drawn(widths: tuple[int, ...]) -> Network:
    """A batch of networks with entries as sweeps draw them."""
    source = BatchSource(0, BATCH)
    weights = [source.tensor(m, n, low=-4, high=4) for n, m in pairwise(widths)]
    return Network(weights, [source.tensor(m, low=-4, high=4) for m in widths[1:]])


def one_at_a_time(net: Network, count: int) -> list[int]:
    return [len(regions(net[i], -1, 1)) for i in range(count)]


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """Regions per second against a flip search that is stopped after a while, and batches."""
    for net in map(network, NETWORKS[:1] if quick else NETWORKS):
        took, cells = timed(partial(regions, net, -1, 1), 10)
        flip, found = timed(partial(flip_search, net, 0.2 if quick else 5.0))
        yield Ratio(f"regions of {name(net)}", "flip search", len(cells) / took / (found / flip))
    for net in map(drawn, BATCHES[:1] if quick else BATCHES):
        count = 8 if quick else 64
        alone, _ = timed(partial(one_at_a_time, net, count), 3)
        took, _ = timed(partial(region_arrays, net, -1, 1), 3)
        what = f"regions of {BATCH} networks {name(net)}"
        yield Ratio(what, "one at a time", alone / count * BATCH / took)
