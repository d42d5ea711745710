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

from rankcheck.audit.graph.affordable import (
    LARGEST,
    at_a_time,
    evenly,
    is_dense,
    nodes,
    traced,
)
from rankcheck.audit.graph.derivatives import jacobians, kernel_top, largest, traces
from rankcheck.audit.graph.graph import Graph, same_names
from rankcheck.audit.graph.kinks import Kinks
from rankcheck.audit.graph.noise import Rounding
from rankcheck.audit.graph.units import represented, units
from rankcheck.audit.merged import measured
from rankcheck.audit.part import MEMORY, Part, join
from rankcheck.costs import egop
from rankcheck.linalg import singular_values
from rankcheck.parallel import Work

__all__ = ["DIRECTIONS", "KERNEL_ROWS", "Points", "kernel", "measure"]

#: The Gram matrix of the tangent kernel has at most so many rows, or those of one point.
KERNEL_ROWS = 1000
#: The mean of JᵀJ is taken for no more inputs.
DIRECTIONS = 2048


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
        return at_a_time(self.graph, whole=self.whole)


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
    return replace(graph, module=same_names(copy.deepcopy(graph.module), graph).to(device))


class _Measured:
    """Measures parts of the points of one graph."""

    def __init__(self, graph: Graph, whole: bool, device: str) -> None:
        self._graph, self._whole, self._device = on_device(graph, device), whole, device
        self._rounding = Rounding(self._graph, device)
        self._kinks = Kinks(self._graph, device)
        self._units = units(graph) if whole else ()
        self._represented = represented(graph) if whole else ()

    @torch.no_grad()
    def __call__(self, points: np.ndarray) -> Part:
        graph, X = self._graph, torch.from_numpy(points).to(self._device)
        before = [each.before for each in self._units]
        names = dict.fromkeys((*self._kinks.nodes, *before, *self._represented))
        values = graph.values(X, names)
        kinks = self._kinks.at(values)
        split = [each.split(values[each.before]) for each in self._units]
        s, noise, gradients, fine = self._jacobians(X)
        theta = X.new_zeros(len(X))
        if self._whole and traced(graph):
            numbers = sum(p.numel() for p in graph.parameters.values()) + nodes(graph)[0]
            theta = traces(graph, X, max(1, MEMORY // (16 * numbers * len(X))))
        return Part(
            singular_values=_numpy(s),
            noise=_numpy(noise),
            traces=_numpy(torch.where(fine, theta, torch.nan)),
            kinks=np.zeros(len(X), dtype=bool) if kinks is None else _numpy(kinks),
            gradients=_numpy(gradients),
            second=tuple(_numpy(values[name].mT @ values[name]) for name in self._represented),
            above=tuple(_numpy((z > 0).any(0).any(0)) for z in split),
            below=tuple(_numpy((z < 0).any(0).any(0)) for z in split),
        )

    def _jacobians(self, X: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Singular values and noise, Σ JᵀJ (empty if it is not taken), where J is finite."""
        graph, none = self._graph, X.new_zeros(0)
        if not is_dense(graph):
            s = torch.stack([largest(graph, x, LARGEST) for x in X]).to(X.device)
            noise = self._rounding.of(X)
            return s, noise, none, torch.isfinite(s).all(-1) & torch.isfinite(noise)
        J = jacobians(graph, X, max(1, MEMORY // (32 * nodes(graph)[0] * len(X))))
        fine = torch.isfinite(J).all(-1).all(-1)  # LAPACK refuses others
        finite = torch.where(fine[:, None, None], J, 0.0)
        if self._whole and graph.widths[0] <= DIRECTIONS:
            rows = J.flatten(0, 1)
            none = egop(rows, rows.new_ones(len(rows)))
        return singular_values(finite), self._rounding.of(X, finite), none, fine


def kernel(graph: Graph, X: Tensor, device: str) -> tuple[float, int]:
    """The largest eigenvalue of Θ(X, X)/K on K points at even distances, and K."""
    number = min(len(X), max(1, KERNEL_ROWS // graph.widths[1]))
    points = X[evenly(len(X), number)].to(device)
    with torch.no_grad():
        return kernel_top(on_device(graph, device), points) / number, number


def _numpy(array: Tensor) -> np.ndarray:
    return array.cpu().numpy()
