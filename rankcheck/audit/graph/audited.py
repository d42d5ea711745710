"""The audit of a network that is no chain: measurements, and no theorem about it as a whole."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from rankcheck.audit.graph.affordable import evenly, is_dense, number_of_points, traced
from rankcheck.audit.graph.balance import balance
from rankcheck.audit.graph.block_facts import block_facts, block_jobs
from rankcheck.audit.graph.blocks import blocks
from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.kinds.activation import NOT_HOMOGENEOUS
from rankcheck.audit.graph.layers import measure_maps, most_rank
from rankcheck.audit.graph.least_cost import least_cost
from rankcheck.audit.graph.points import Points, kernel, measure
from rankcheck.audit.graph.scalable import scalable
from rankcheck.audit.graph.units import represented, units
from rankcheck.audit.layers import represented_by
from rankcheck.audit.merged import check_finite, index_rank, jacobian_facts, quantiles
from rankcheck.audit.part import Part
from rankcheck.audit.ranks import most_common
from rankcheck.audit.result import Audit, DataFacts, LayerFacts, ModelFacts
from rankcheck.audit.task import Task

__all__ = ["audit_graph"]

#: Operations for the Jacobians of the network, and so at how many points they are taken.
WHOLE = 2**40


def audit_graph(graph: Graph, task: Task) -> Audit:
    """What is measured of a network that is no chain, by layers, by blocks, and at the points."""
    X, progress = task.X, task.progress
    parts, hidden = blocks(graph), scalable(graph)
    progress("weights", 0, None)
    data, measured, found = None, None, []
    if X is not None:
        number = number_of_points(graph, len(X), WHOLE, whole=True)
        whole = Points(graph, X[evenly(len(X), number)], whole=True)
        jobs = block_jobs(graph, parts, X)
        total = sum(len(job.X) for job in (whole, *jobs))
        progress("points", 0, total)
        measured, *found = measure(
            (whole, *jobs),
            device=task.device,
            executor=task.executor,
            progress=lambda done: progress("points", done, total),
        )
        for each in (measured, *found):
            check_finite(each)
        progress("kernel", 0, None)
        data = _data(graph, X, measured, task)
    progress("layers", 0, None)
    rank = None if data is None else most_common(data.ranks)
    layers = measure_maps(graph, task.tolerance, rank, hidden=hidden)
    if rank is None:
        rank = most_rank(layers)
    if measured is not None:
        layers = _on_data(graph, layers, measured)
    return Audit(
        name="",
        model=_model(graph),
        rank=rank,
        layers=tuple(layers),
        balanced=balance(graph, hidden, X),
        data=data,
        blocks=block_facts(parts, found, task.tolerance, hidden),
    )


def _model(graph: Graph) -> ModelFacts:
    kinds = [
        layer.title
        for layer in graph.layers.values()
        if layer.slope is not None or layer.title in NOT_HOMOGENEOUS
    ]
    return ModelFacts(
        source=graph.source,
        depth=graph.depth,
        widths=graph.widths,
        slope=None,
        cost=graph.stored_cost,
        stored_cost=graph.stored_cost,
        folded=(),
        assumed=graph.assumed,
        activations=tuple(dict.fromkeys(kinds)),
    )


def _data(graph: Graph, X: Tensor, merged: Part, task: Task) -> DataFacts:
    s, noise = torch.from_numpy(merged.singular_values), torch.from_numpy(merged.noise)
    before, after = graph.widths
    found = jacobian_facts(s, noise, (after, before), task.tolerance)
    top, number = kernel(graph, X, task.device)
    mean = torch.from_numpy(merged.gradients) / len(merged)
    spectrum, of_index = index_rank(mean, task.tolerance) if mean.ndim == 2 else ((), None)
    traces = quantiles(torch.from_numpy(merged.traces)) if traced(graph) else None
    return DataFacts(
        points=len(X),
        ranks=found.ranks,
        undecided=found.undecided,
        gaps=found.gaps,
        tolerance=task.tolerance,
        singular_values=found.singular_values,
        schatten=None,
        bounds=(),
        kinks=int(merged.kinks.sum()),
        kernel_trace=traces,
        kernel_top=top,
        kernel_points=number,
        egop=spectrum,
        index_rank=of_index,
        least_cost=least_cost(graph, s, found.clear, torch.from_numpy(merged.kinks)),
        complete=is_dense(graph),
    )


def _on_data(graph: Graph, layers: list[LayerFacts], merged: Part) -> list[LayerFacts]:
    """The layers with what their hidden neurons or channels do on the data."""
    found = {layer.name: layer for layer in layers}
    second = dict(zip(represented(graph), merged.second, strict=True))
    *_, output = graph.module.graph.nodes
    last = output.all_input_nodes[0].name
    maps = graph.layers[last].maps if last in graph.layers else ()
    behind = {one.name: last for one in maps}
    for each, above, below in zip(units(graph), merged.above, merged.below, strict=True):
        name = graph.layers[each.layer].maps[0].name
        behind[name] = each.after
        found[name] = replace(
            found[name],
            dead=int((~above).sum()),
            linear=int((~below).sum()),
            bent=int((above & below).sum()),
        )
    for name, after in behind.items():
        if after in second:
            C = torch.from_numpy(second[after]) / len(merged)
            found[name] = represented_by(found[name], C, len(merged))
    return list(found.values())
