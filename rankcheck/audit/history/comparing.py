"""`compare(old, new, data)`: what changed from one checkpoint to another."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.history.measure import Measuring, ends_of, silent, written_of
from rankcheck.audit.history.result import Checkpoint, Comparison, Difference, Moved
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.part import PART, Job, batch_size
from rankcheck.audit.ranks import TOLERANCE
from rankcheck.audit.task import Progress
from rankcheck.parallel.arithmetic import single_thread
from rankcheck.versions import versions

__all__ = ["compare"]


def compare(
    old: Any,
    new: Any,
    data: Any = None,
    *,
    tolerance: float = TOLERANCE,
    device: str = "cpu",
    slope: float | None = None,
    executor: Any = None,
    load: Callable[[Any], Any] | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Compare the audits of two networks, their parameters, and their functions on data.

    Args:
        old, new: as the model of `audit`.
        data: as for `audit`, and so are the other arguments. Theorems are not evaluated.
        load: makes a network, such as a module of torch, of the path of a file.

    Raises:
        InputError: as for `audit`.
        ModelError: one cannot be read, or they differ in the width of inputs or outputs.
    """
    begin = time.monotonic()
    measuring = Measuring.on(
        data,
        tolerance=tolerance,
        device=device,
        slope=slope,
        executor=executor,
        load=load,
        progress=progress,
    )
    named = [_name(old, "old"), _name(new, "new")]
    if len(set(named)) < 2:  # of two folders
        named = [str(old), str(new)]
    with single_thread():
        one, two = (measuring.read(*pair) for pair in zip((old, new), named, strict=True))
        _check_widths(one, two, named)
        before, after = (
            measuring.measure(read, name, written=written_of(path))
            for read, name, path in zip((one, two), named, (old, new), strict=True)
        )
        X = measuring.X
        difference = None if X is None else _difference(one, two, X.flatten(1), device)
    moved = _moved(one, two)
    return Comparison(
        old=before,
        new=after,
        difference=difference,
        moved=moved,
        notes=tuple(_notes(before, after, moved)),
        seconds=round(time.monotonic() - begin, 3),
        versions=versions(),
    )


def _name(model: Any, else_: str) -> str:
    return Path(model).name if isinstance(model, str | os.PathLike) else else_


def _check_widths(one: Model | Graph, two: Model | Graph, names: list[str]) -> None:
    """Check that both networks take and give numbers of one width.

    Raises:
        ModelError: they do not.
    """
    ends = [ends_of(one), ends_of(two)]
    if ends[0] != ends[1]:
        said = [
            f"{name} has {n} inputs and {m} outputs"
            for name, (n, m) in zip(names, ends, strict=True)
        ]
        raise ModelError(
            f"{said[0]}, and {said[1]}; compared are networks with the same inputs and outputs"
        )


def _difference(one: Model | Graph, two: Model | Graph, X: Tensor, device: str) -> Difference:
    """How far the functions differ at the points X (N, n_0)."""
    first, second = _function(one, device), _function(two, device)
    size = min(_batch(one), _batch(two))
    top = largest = squares = whole = 0.0
    point = decisions = done = 0
    for x in X.split(size):
        f, g = first(x), second(x)
        apart = (f - g).abs()
        top = max(top, float(f.abs().max()))
        if float(apart.max()) > largest:
            largest, point = float(apart.max()), done + int(apart.amax(-1).argmax())
        squares += float((apart * apart).sum())
        whole += float((f * f).sum())
        decisions += int((f.argmax(-1) != g.argmax(-1)).sum())
        done += len(x)
    return Difference(
        points=len(X),
        largest=largest,
        relative=largest / top if top else None,
        point=point,
        mean=math.sqrt(squares / whole) if whole else None,
        decisions=decisions if ends_of(one)[1] > 1 else None,
    )


def _function(read: Model | Graph, device: str) -> Callable[[Tensor], Tensor]:
    if isinstance(read, Graph):
        return read
    net = Job(read.net, (), device).on_device().net
    return lambda x: net(x.to(device)).cpu()


def _batch(read: Model | Graph) -> int:
    return PART if isinstance(read, Graph) else batch_size(read.net)


def _moved(one: Model | Graph, two: Model | Graph) -> tuple[Moved, ...]:
    """The layers of both, the one that moved most first; none if the two have other layers."""
    before, after = _parameters(one), _parameters(two)
    names = [[name for name, _ in layers] for layers in (before, after)]
    if len(set(names[0])) == len(names[0]) and set(names[0]) == set(names[1]):
        after.sort(key=lambda layer: names[0].index(layer[0]))
    if [_shapes(layer) for layer in before] != [_shapes(layer) for layer in after]:
        return ()
    found = []
    for (_, old), (name, new) in zip(before, after, strict=True):
        squares = [_squares(side) for side in (old, new)]
        apart = _squares([b - a for a, b in zip(old, new, strict=True)])
        distance = math.sqrt(apart / squares[0]) if squares[0] else None
        found.append(Moved(name, distance, *squares))
    return tuple(
        sorted(found, key=lambda one: -math.inf if one.distance is None else -one.distance)
    )


def _parameters(read: Model | Graph) -> list[tuple[str, list[Tensor]]]:
    """The parameters of each layer: of a chain W and b, of other networks those of one module."""
    if isinstance(read, Model):
        layers = zip(read.names, read.net.weights, read.net.biases, strict=True)
        return [(name, [w, b]) for name, w, b in layers]
    found: dict[str, list[Tensor]] = {}
    for name, parameter in read.parameters.items():
        found.setdefault(name.rpartition(".")[0] or name, []).append(parameter)
    return list(found.items())


def _shapes(layer: tuple[str, list[Tensor]]) -> list[torch.Size]:
    return [parameter.shape for parameter in layer[1]]


def _squares(parameters: list[Tensor]) -> float:
    return math.fsum(float(torch.square(one).sum()) for one in parameters)


def _notes(old: Checkpoint, new: Checkpoint, moved: tuple[Moved, ...]) -> list[str]:
    notes = []
    if old.kind != new.kind:
        notes.append(f"The networks are of two kinds: {old.kind}; {new.kind}.")
    elif not moved:
        notes.append("The networks have other layers, so these are not compared.")
    return notes
