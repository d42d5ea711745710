"""The audit of a network that is no chain: measurements, and no theorem about it as a whole."""

from __future__ import annotations

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.result import Audit
from rankcheck.audit.task import Task

__all__ = ["audit_graph"]


def audit_graph(graph: Graph, task: Task) -> Audit:
    """What is measured of a network that is no chain, by layers, by blocks, and at the points."""
    raise NotImplementedError
