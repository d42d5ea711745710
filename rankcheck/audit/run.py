"""`audit(model, data)`: what the theory says about a trained network."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from rankcheck.audit.files import check_width, data_of
from rankcheck.audit.layers import balance, measure_layers, spectra
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.outputs import check_outputs
from rankcheck.audit.points import measure_points
from rankcheck.audit.ranks import TOLERANCE
from rankcheck.audit.read import chain_of
from rankcheck.audit.result import Audit, ModelFacts, most_common
from rankcheck.audit.theorems import check_theorems, number_of_theorems
from rankcheck.audit.words import first, in_words
from rankcheck.errors import InputError
from rankcheck.hunt.settings import check_device
from rankcheck.parallel.arithmetic import single_thread
from rankcheck.versions import versions

__all__ = ["Progress", "audit"]

Progress: TypeAlias = Callable[[str, int, int | None], object]
"""Called with a stage in words, how much of it is done, and of how much; None if that is one."""


def audit(
    model: Any,
    data: Any = None,
    *,
    max_rank: int | None = None,
    tolerance: float = TOLERANCE,
    device: str = "cpu",
    slope: float | None = None,
    part: str | None = None,
    theorems: bool = True,
    outputs: Any = None,
    executor: Any = None,
    progress: Progress = lambda stage, done, total: None,
) -> Audit:
    """Measure a trained network, alone and on data, and evaluate the theorems that apply.

    Args:
        model: a file, or a `Network`, a torch module, a fitted scikit-learn MLP, or a `Model`. It
            has to be a chain of affine maps; `rankcheck.measure` is for other modules.
        data: points (N, n_0): a file, an array, or None; then nothing is said of Jacobians.
        max_rank: the bounds by rank go up to this one, and to every rank that occurs.
        tolerance: the share of the largest singular value up to which one counts as zero, in
            [0, 1). 0 leaves rounding alone.
        device: where points are measured: `cpu` or `cuda`.
        slope: of the activation, where the file does not say it.
        part: of a file with several networks, the beginning of the names of one.
        theorems: whether the theorems are evaluated.
        outputs: what the model itself puts out at the points, (N, n_L): a file or an array. The
            network as read is compared with them first.
        executor: where the points are measured: a number of worker processes, `dask://host:port`,
            or a `distributed.Client`; by default in this process. It changes no number
            beyond the last digits, and not these where `MKL_CBWR` was set before torch came.
        progress: called when a stage begins and as it goes on.

    Raises:
        InputError: if an argument is out of range, or workers are lost.
        ModelError: if the model or the data cannot be read, do not fit, or overflow; or if the
            outputs are not those of the network as read.
    """
    begin = time.monotonic()
    if max_rank is not None and (type(max_rank) is not int or max_rank < 0):
        raise InputError(f"max_rank is {max_rank!r}; it is a whole number, 0 or more, or None")
    if not isinstance(tolerance, int | float) or not 0 <= tolerance < 1:
        raise InputError(
            f"the tolerance is {tolerance!r}; it is a share of the largest singular value, at "
            "least 0 and below 1"
        )
    if outputs is not None and data is None:
        raise InputError("there are outputs and no data; outputs are compared at the points")
    check_device(device)
    with single_thread():
        progress("reading", 0, None)
        X = None if data is None else data_of(data).flatten(1)
        chain = chain_of(model, slope=slope, part=part)
        _check(chain)
        told = _told(chain)
        if X is not None:
            check_width(chain, X)
        if X is not None and outputs is not None:
            progress("outputs", 0, None)
            told = replace(told, outputs=check_outputs(chain, X, outputs), guess="")
        progress("weights", 0, None)
        values = spectra(chain.net)
        facts, measured, rank = None, None, None
        if X is not None:
            total = len(X)
            progress("points", 0, total)
            facts, measured = measure_points(
                chain,
                X,
                device=device,
                progress=lambda done: progress("points", done, total),
                max_rank=max_rank,
                tolerance=tolerance,
                values=values,
                executor=executor,
            )
            rank = most_common(facts.ranks)
        progress("layers", 0, None)
        layers = measure_layers(chain, rank=rank, tolerance=tolerance, values=values, data=measured)
        progress("balance", 0, None)
        result = Audit(
            name=_name(model),
            model=told,
            rank=most_common(Counter(each.rank.rank for each in layers)) if rank is None else rank,
            layers=tuple(layers),
            balanced=balance(chain, X, device=device),
            data=facts,
            versions=versions(),
        )
        if theorems:
            number = number_of_theorems(X is not None)
            progress("theorems", 0, number)
            evaluated = check_theorems(
                chain, X, device=device, progress=lambda done: progress("theorems", done, number)
            )
            result = replace(result, theorems=evaluated)
    result = replace(result, first=first(result), words=in_words(result))
    return replace(result, seconds=round(time.monotonic() - begin, 3))


def _check(model: Model) -> None:
    """Check that the theory is about a network.

    Raises:
        ModelError: its slope is outside [-1, 1], or its cost overflows.
    """
    a = float(model.net.slope)
    if not abs(a) <= 1:
        raise ModelError(f"the slope of the activation is {a:g}; the theory needs one in [-1, 1]")
    if not math.isfinite(float(model.net.cost())):
        raise ModelError(
            "the sum of squares of the parameters overflows; the cost has to be finite in double "
            "precision"
        )


def _name(model: Any) -> str:
    if isinstance(model, str | Path):
        return Path(model).name
    return model.source if isinstance(model, Model) else type(model).__name__


def _told(model: Model) -> ModelFacts:
    net = model.net
    return ModelFacts(
        source=model.source,
        depth=net.depth,
        widths=tuple(net.widths),
        slope=float(net.slope),
        cost=float(net.cost()),
        stored_cost=model.stored_cost,
        folded=model.folded,
        assumed=model.assumed,
        guess=model.guess,
    )
