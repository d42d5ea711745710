"""What is measured of graphs at points: a network, its blocks, and their branches.

Points are measured in parts, each small enough for `MEMORY`. How many points make a part depends on
the graph alone, and sums are added in the order of the parts, so that the result does not depend on
where the parts are measured.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankcheck.audit.graph.derivatives import gradient_rows, jacobians, size, traces
from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.noise import Rounding
from rankcheck.audit.graph.units import kinked, units
from rankcheck.audit.merged import measured
from rankcheck.audit.part import MEMORY, PART, Part, join
from rankcheck.costs import egop
from rankcheck.linalg import singular_values
from rankcheck.parallel import Work

__all__ = ["KERNEL_ROWS", "Points", "kernel_top", "measure"]

#: The Gram matrix of the tangent kernel has at most so many rows, or those of one point.
KERNEL_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Points:
    """A graph and the points X (N, n_0) at which it is measured.

    Attributes:
        whole: whether it is the network, and not a block: the tangent kernel, the mean of JᵀJ and
            the hidden units are of the network.
    """

    graph: Graph
    X: Tensor
    whole: bool = False

    @property
    def most(self) -> int:
        """How many points a part has."""
        before, after = self.graph.widths
        rows = min(before, after)
        numbers = 4 * rows * size(self.graph) + 4 * before * after
        if self.whole:
            numbers += 2 * sum(p.numel() for p in self.graph.parameters.values())
        return max(1, min(PART, MEMORY // (8 * numbers)))


def measure(
    jobs: Sequence[Points],
    *,
    device: str = "cpu",
    executor: Any = None,
    progress: Callable[[int], object] | None = None,
) -> list[Part]:
    """What is measured of several graphs at their points, a `Part` each.

    Of one that is not `whole` it has singular values, noise and kinks; the traces of others are 0.

    Args:
        executor: where the parts are measured, as for `audit`.
        progress: called with how many points are measured, of all graphs.

    Raises:
        InputError: if there is no such executor, or its workers are lost.
    """
    tasks = _tasks(jobs)
    work = Work(partial(_prepare, tuple((job.graph, job.whole) for job in jobs), device))
    parts = iter(measured(work, tasks, executor, progress))
    return [join(_some(parts, -(-len(job.X) // job.most))) for job in jobs]


def _tasks(jobs: Sequence[Points]) -> Iterator[tuple[int, np.ndarray]]:
    for number, job in enumerate(jobs):
        for part in job.X.detach().cpu().contiguous().split(job.most):
            yield number, part.numpy()


def _some(parts: Iterator[Part], number: int) -> Iterable[Part]:
    for _ in range(number):
        yield next(parts)


def _prepare(
    graphs: tuple[tuple[Graph, bool], ...], device: str
) -> Callable[[tuple[int, tuple[int, np.ndarray]], object], Part]:
    """What measures parts in a worker; graphs go to their device when they are first measured."""
    ready: dict[int, _Measured] = {}

    def run(task: tuple[int, tuple[int, np.ndarray]], progress: object) -> Part:
        which, points = task[1]
        if which not in ready:
            ready[which] = _Measured(*graphs[which], device)
        return ready[which](points)

    return run


def on_device(graph: Graph, device: str) -> Graph:
    """The graph with its parameters where it is measured."""
    if device == "cpu":
        return graph
    return replace(graph, module=copy.deepcopy(graph.module).to(device))


class _Measured:
    """Measures parts of the points of one graph."""

    def __init__(self, graph: Graph, whole: bool, device: str) -> None:
        self._graph, self._whole, self._device = on_device(graph, device), whole, device
        self._rounding = Rounding(self._graph, device)
        self._kinked, self._units = kinked(graph), units(graph) if whole else ()

    @torch.no_grad()
    def __call__(self, points: np.ndarray) -> Part:
        graph, X = self._graph, torch.from_numpy(points).to(self._device)
        chunk = max(1, MEMORY // (32 * size(graph) * len(X)))
        J = jacobians(graph, X, chunk)
        fine = torch.isfinite(J).all(-1).all(-1)  # LAPACK refuses others
        finite = torch.where(fine[:, None, None], J, 0.0)
        before = [each.before for each in self._units]
        values = graph.values(X, dict.fromkeys([*self._kinked, *before]))
        kinks = torch.zeros(len(X), dtype=torch.bool, device=X.device)
        for name in self._kinked:
            kinks |= (values[name] == 0).any(-1)
        split = [each.split(values[each.before]) for each in self._units]
        theta, rows = X.new_zeros(len(X)), finite[:0].flatten(0, 1)
        if self._whole:
            numbers = sum(p.numel() for p in graph.parameters.values()) + size(graph)
            theta = traces(graph, X, max(1, MEMORY // (16 * numbers * len(X))))
            rows = J.flatten(0, 1)
        return Part(
            singular_values=_numpy(singular_values(finite)),
            noise=_numpy(self._rounding.of(X, finite)),
            traces=_numpy(torch.where(fine, theta, torch.nan)),
            kinks=_numpy(kinks),
            gradients=_numpy(egop(rows, rows.new_ones(len(rows)))) if self._whole else np.zeros(0),
            second=(),
            above=tuple(_numpy((z > 0).any(0).any(0)) for z in split),
            below=tuple(_numpy((z < 0).any(0).any(0)) for z in split),
        )


def kernel_top(graph: Graph, X: Tensor, device: str) -> tuple[float, int]:
    """The largest eigenvalue of Θ(X, X)/K on K points at even distances, and K."""
    number = min(len(X), max(1, KERNEL_ROWS // graph.widths[1]))
    places = torch.arange(number) * len(X) // number
    moved = on_device(graph, device)
    points = X[places].to(device)
    if not graph.parameters:
        return 0.0, number
    R = gradient_rows(moved, points)
    gram = R @ R.mT if len(R) <= R.shape[1] else R.mT @ R
    return max(0.0, float(torch.linalg.eigvalsh(gram)[-1])) / number, number


def _numpy(array: Tensor) -> np.ndarray:
    return array.cpu().numpy()
