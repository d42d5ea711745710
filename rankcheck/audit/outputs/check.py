"""The outputs of somebody's own model, against those of the network as it was read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.outputs.kinds import COARSE, Classes, Kind, Values
from rankcheck.audit.outputs.readings import Reading, other_activations, with_endings, with_skips
from rankcheck.audit.outputs.rounding import (
    TF32,
    explained,
    function,
    parameter_error,
    rounding,
    scatter,
)
from rankcheck.audit.reading.data import array_of, as_array, numbers_of
from rankcheck.audit.reading.opening import require, where
from rankcheck.audit.result import OutputFacts

__all__ = ["Outputs", "check_outputs", "outputs_of"]

#: The names under which an archive of several arrays may hold the outputs.
NAMES = ("outputs", "Y", "y")
#: At so many points another reading has to agree before it is tried at all of them.
FIRST = 16


@dataclass(frozen=True, eq=False)
class Outputs:
    """What a model puts out at the points, as it was given.

    Attributes:
        values: (N, ...), float64.
        name: of the file, or in words.
    """

    values: Tensor
    name: str


def outputs_of(outputs: Any) -> Outputs:
    """Outputs from a file or an array: one for each place of the first axis.

    Files are of the formats of data; of an archive of several arrays, the one that is called
    outputs, Y or y is read. Half precision is read as well.

    Raises:
        ModelError: they cannot be read, are no numbers, or are not finite.
    """
    name = "the array of outputs"
    if isinstance(outputs, str | os.PathLike):
        path = Path(outputs)
        name, outputs = where(path), array_of(path, NAMES, half=True)
    return Outputs(numbers_of(as_array(outputs, name), name, half=True), name)


def check_outputs(read: Model | Graph, X: Tensor, outputs: Outputs) -> OutputFacts:
    """Compare the network as read with the outputs at the points X (N, n_0).

    Outputs are (N, n_L), further axes flattened. One whole number for each point is, for a network
    of several outputs, the number of the largest one, from 0; for a network of one output, 1 where
    it is positive, and 0 or −1 elsewhere.

    Raises:
        ModelError: they have another shape; or they differ by more than rounding explains: with the
            first point, both values, at how many points, and what would make them agree.
    """
    X = X.detach().cpu()
    compute = function(read)
    found = compute(X)
    tests = kinds_of(read, X, found, outputs)
    for test in tests:
        if not bool(test.off(found).any()):
            return replace(test.facts(found, outputs.name), others=_others(read, X, test))
    test = tests[-1]
    off = test.off(found)
    first, number = int(off.nonzero()[0]), int(off.sum())
    raise ModelError(
        f"{outputs.name} is not what the network as read puts out: at point {first} "
        f"{test.at(first, found)}; they differ at {number} of {_points(len(X))} by more than "
        f"rounding explains. {_reason(read, X, test, found, compute) or test.likely(number)}"
    )


def kinds_of(read: Model | Graph, X: Tensor, found: Tensor, outputs: Outputs) -> list[Kind]:
    """What outputs of this shape may be, values first.

    Raises:
        ModelError: they have none that fits.
    """
    name, n = outputs.name, found.shape[1]
    Y = outputs.values.reshape(len(outputs.values), -1)
    require(
        len(Y) == len(X),
        f"{name} has outputs of {_points(len(Y))}, and the data have {_points(len(X))}; row i is "
        "to be the output at point i",
    )
    single = Y.shape[1] == 1
    whole = single and bool((Y.round() == Y).all())
    require(
        Y.shape[1] == n or whole,
        f"{name} has {Y.shape[1]} number{'' if single else 's'} for each point, and the network "
        f"puts out {n}" + ("; one for each point would be a class, a whole number" * single),
    )
    moved = scatter(read, X, found)
    tests: list[Kind] = []
    if Y.shape[1] == n:
        tests.append(Values(Y, explained(read, Y, moved)))
    if whole and n > 1:
        wrong = Y[(Y < 0) | (n - 1 < Y)]
        require(
            not len(wrong),
            f"{name} has the class {float(wrong[0]) if len(wrong) else 0:g}; the network has "
            f"{n} outputs, and classes are numbered from 0 to {n - 1}",
        )
    if whole and (n > 1 or set(Y.unique().tolist()) <= {-1.0, 0.0, 1.0}):
        most = rounding(parameter_error(read), moved, found)
        tests.append(Classes(Y.flatten(), most.amax(1)))
    return tests


def _others(read: Model | Graph, X: Tensor, test: Kind) -> tuple[str, ...]:
    """What a network with these parameters may have as well, by outputs that agree."""
    if isinstance(read, Graph):
        return ()
    readings = other_activations(read) if read.guessed else iter(())
    if isinstance(test, Classes) and (read.guessed or read.branches):
        readings = chain(readings, with_skips(read, own=True))
    return tuple(one.words for one in readings if _agrees(one, X, test))


def _reason(
    read: Model | Graph,
    X: Tensor,
    test: Kind,
    found: Tensor,
    compute: Callable[[Tensor], Tensor],
) -> str | None:
    """What would make the outputs agree, and what to do then; None if nothing is found."""
    readings: Iterator[Reading] = iter(())
    if isinstance(test, Values):
        readings = with_endings(compute)
    if isinstance(read, Model):
        readings = chain(readings, other_activations(read), with_skips(read))
    for one in readings:
        if _agrees(one, X, test):
            return f"They agree at all points with {one.words}: {one.advice}"
    if not isinstance(test, Values):
        return None
    most = test.most.max()
    if len(X) > 2 and bool(((found.sort(0)[0] - test.given.sort(0)[0]).abs() <= most).all()):
        return "They agree in another order of the points: row i is to be the output at point i"
    off = (found - test.given).abs()
    small = bool((off <= COARSE * test.spread).all())
    if small and bool((off <= rounding(TF32, scatter(read, X, found), found)).all()):
        return (
            "Products in TF32, of a graphics card, would explain it: compute the outputs on the "
            "CPU, or after torch.set_float32_matmul_precision('highest')"
        )
    return None


def _agrees(reading: Reading, X: Tensor, test: Kind) -> bool:
    """Whether the outputs are those of another reading: at some points first, and then at all."""
    some = torch.linspace(0, len(X) - 1, min(FIRST, len(X))).long()
    return not bool(test.off(reading.compute(X[some]), some).any()) and not bool(
        test.off(reading.compute(X)).any()
    )


def _points(number: int) -> str:
    return f"{number} point{'' if number == 1 else 's'}"
