"""An audit of a wide deep network: where its seconds go, and its Jacobians against torch.func.

    python -m benchmarks.audit [--points N] [--depth L] [--width n] [--threads T]

The network is a ReLU network with He-normal weights, 64 inputs and 10 outputs. Two Markdown tables,
measured in one run:

1. the seconds of each stage of an audit without theorems, whose balancing starts from neurons that
   are scaled apart by factors of e² (standard deviation of the logarithm 2);
2. all that an audit measures at points, Jacobians, their singular values, the traces of the tangent
   kernel, second moments and the EGOP, here in batches of bounded memory; the Jacobians and their
   singular values alone by torch.func.vmap(jacrev), all points at once;
   and the traces by jacrev in the parameters, point by point, the time of `SAMPLE` points
   multiplied. Seconds, the ratios to here, and the memory on top of that before, each in a process
   of its own; and the largest relative difference.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.func import jacrev, vmap

from benchmarks.measuring import Ratio, table
from rankcheck.audit import Model, audit
from rankcheck.audit.layers import spectra
from rankcheck.audit.part import PART, Job, join
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


def unbalanced(net: Network) -> Network:
    weights, biases = list(net.weights), list(net.biases)
    for i in range(net.depth - 1):
        scale = (2 * normal(net.widths[i + 1], seed=200 + i)).exp()
        weights[i] = weights[i] * scale.unsqueeze(-1)
        biases[i] = biases[i] * scale
        weights[i + 1] = weights[i + 1] / scale
    return net.with_parameters(weights, biases)


class Clock:
    """The seconds of each stage."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._now = ("", time.perf_counter())

    def __call__(self, stage: str, done: int = 0, total: int | None = None) -> None:
        name, begin = self._now
        if stage == name:
            return
        self._now = (stage, time.perf_counter())
        if name:
            self.stages[name] = self._now[1] - begin


def stages(options: argparse.Namespace) -> dict[str, float]:
    net = unbalanced(network(options.width, options.depth))
    names = tuple(f"layers.{i}" for i in range(net.depth))
    model = Model(net, "made up", names, (None,) * net.depth, float(net.cost()))
    clock, begin = Clock(), time.perf_counter()
    audit(model, normal(options.points, INPUTS, seed=1), theorems=False, progress=clock)
    clock("")
    return clock.stages | {"all": time.perf_counter() - begin}


def here(net: Network, X: Tensor) -> tuple[np.ndarray, np.ndarray]:
    job = Job(net, tuple(float(s[0]) for s in spectra(net)))
    found = join(job.measure(x.numpy()) for x in X.split(PART))
    return found.singular_values, found.traces[:SAMPLE]


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


def memory() -> float:
    """The most that this process has used, in MB; Linux only."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")  # ru_maxrss is the parent's
    return int(status.partition("VmHWM:")[2].split()[0]) / 1000


def alone(what: Callable[..., Any], options: argparse.Namespace) -> tuple[float, float, Any]:
    """Seconds, megabytes, and what was found."""
    torch.set_num_threads(options.threads)
    net = network(options.width, options.depth)
    X = normal(options.points, INPUTS, seed=1)
    what(net, X[:2])  # what is loaded on first use
    before, begin = memory(), time.perf_counter()
    found = what(net, X)
    return time.perf_counter() - begin, memory() - before, found


class Measured(NamedTuple):
    """What a measurement took, in a process of its own, against the one here."""

    name: str
    seconds: float
    ratio: float
    megabytes: float
    difference: float

    def cells(self) -> list[str]:
        cost = f"{self.seconds:.1f}", f"{self.ratio:.1f}", f"{self.megabytes:.0f}"
        return [self.name, *cost, f"{self.difference:.0e}"]


def measured(options: argparse.Namespace) -> Iterator[Measured]:
    """What an audit measures at points, and the same by torch.func."""
    mine: tuple[Any, Any] = (None, None)
    first = 0.0
    for name, what in {"here": here, "vmap(jacrev)": jacobians, "traces": traces}.items():
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, megabytes, found = pool.apply(alone, (what, options))
        if what is here:
            mine, first = found, seconds
        if what is traces:
            seconds *= options.points / SAMPLE
        pairs = [(a, b) for a, b in zip(mine, found, strict=True) if b is not None]
        apart = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)
        yield Measured(name, seconds, seconds / first, megabytes, apart)


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """Everything that an audit measures at points, against single parts of it by torch.func."""
    points, depth, width = (20, 3, 16) if quick else (1000, 16, 512)
    options = argparse.Namespace(points=points, depth=depth, width=width, threads=1)
    for row in measured(options):
        if row.name != "here":
            yield Ratio("all that an audit measures at points", row.name, row.ratio)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--depth", type=int, default=16)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    print(
        f"{options.points} points, depth {options.depth}, width {options.width}, "
        f"{options.threads} thread(s)\n"
    )
    table(("stage", "seconds"), ((name, f"{taken:.2f}") for name, taken in stages(options).items()))
    columns = ("what", "seconds", "ratio", "MB", "difference")
    table(columns, (row.cells() for row in measured(options)))


if __name__ == "__main__":
    main()
