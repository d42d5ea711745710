"""Linear regions: splitting whole layers against one at a time, a flip search, and growth.

    python -m benchmarks.regions [--seconds BUDGET]

Prints three Markdown tables, all measured in one run, over the box [-1, 1]^d, with He-normal
weights and normal biases of deviation 0.3, all drawn from seed 0:

1. Regions per second: here in floats, here with every sign decided in rationals, and a flip search,
   which walks from region to neighbour, one HiGHS linear programme for each candidate facet
   (through scipy's `milp`, its cheapest entrance to HiGHS, some 0.5 ms of it overhead), stopped
   after a few seconds.
2. Coinciding hyperplanes: how many of the regions the flip search finds.
3. Growth: seconds as the number of regions goes up, Jacobians and volumes timed apart.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from scipy.optimize import Bounds, LinearConstraint, milp

from benchmarks.measuring import Ratio, table, timed
from rankcheck.networks import Network
from rankcheck.regions import regions

NETWORKS = [(2, 16, 16, 1), (3, 10, 10, 10, 2), (2, 32, 32, 32, 1), (4, 10, 10, 3)]
GROWTH = [
    *((3, n, n, n, 1) for n in (4, 8, 16, 24, 32, 48, 64)),
    *((2, n, n, n, 1) for n in (16, 64, 128)),
    *((4, n, n, 1) for n in (10, 16, 24)),
]


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


def duplicated(net: Network) -> Network:
    W, V, *rest = net.weights
    b, *others = net.biases
    half = torch.cat((V[:, :1] / 2, V[:, :1] / 2, V[:, 1:]), 1)
    return Network((torch.cat((W[:1], W)), half, *rest), (torch.cat((b[:1], b)), *others))


def opposites(net: Network) -> Network:
    W, V, *rest = net.weights
    b, *others = net.biases
    return Network((torch.cat((W, -W)), torch.cat((V, V), 1), *rest), (torch.cat((b, -b)), *others))


def identity_layer(net: Network) -> Network:
    eye, zero = torch.eye(net.widths[1]).double(), torch.zeros(net.widths[1]).double()
    return Network((net.weights[0], eye, *net.weights[1:]), (net.biases[0], zero, *net.biases[1:]))


def name(net: Network) -> str:
    return "-".join(map(str, net.widths))


def speed_row(net: Network, seconds: float) -> list[str]:
    took, cells = timed(partial(regions, net, -1, 1), 10)
    exactly, same = timed(partial(regions, net, -1, 1, exact=True))
    assert len(same) == len(cells)
    flip, found = timed(partial(flip_search, net, seconds))
    speeds = len(cells) / took, len(cells) / exactly, found / flip, len(cells) / took / found * flip
    return [name(net), str(len(cells)), *(f"{speed:,.0f}" for speed in speeds)]


def coinciding_row(title: str, net: Network) -> list[str]:
    took, cells = timed(partial(regions, net, -1, 1), 10)
    found = flip_search(net, 60.0)
    return [f"{title}, {name(net)}", str(len(cells)), f"{len(cells) / took:,.0f}", str(found)]


def growth_row(net: Network) -> list[str]:
    took, cells = timed(partial(regions, net, -1, 1))
    affine, _ = timed(partial(getattr, cells, "jacobians"))
    volumes, each = timed(cells.volume)
    assert abs(each.sum() / 2 ** net.widths[0] - 1) < 1e-9
    speed = f"{len(cells) / took:,.0f}"
    return [name(net), f"{len(cells):,}", f"{took:.3g}", speed, f"{affine:.2g}", f"{volumes:.2g}"]


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """Regions per second against a flip search that is stopped after a while."""
    for net in map(network, NETWORKS[:1] if quick else NETWORKS):
        took, cells = timed(partial(regions, net, -1, 1), 10)
        flip, found = timed(partial(flip_search, net, 0.2 if quick else 5.0))
        yield Ratio(f"regions of {name(net)}", "flip search", len(cells) / took / (found / flip))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="budget of one flip search")
    seconds = parser.parse_args().seconds
    torch.set_num_threads(1)

    table(
        ("network", "regions", "here (regions/s)", "all in rationals", "flip search", "ratio"),
        (speed_row(network(widths), seconds) for widths in NETWORKS),
    )
    base = network((2, 8, 4, 1))
    table(
        ("coinciding hyperplanes", "regions", "here (regions/s)", "found by the flip search"),
        (
            coinciding_row(title, net)
            for title, net in (
                ("survived", base),
                ("a neuron twice", duplicated(base)),
                ("pairs ±z", opposites(base)),
                ("a layer of identities", identity_layer(base)),
            )
        ),
    )
    table(
        ("network", "regions", "seconds", "regions/s", "Jacobians (s)", "volumes (s)"),
        (growth_row(network(widths)) for widths in GROWTH),
    )


if __name__ == "__main__":
    main()
