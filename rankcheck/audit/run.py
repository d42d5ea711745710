"""`audit(model, data)`: what the theory says about a trained network."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from rankcheck.audit.files import check_width, data_of
from rankcheck.audit.layers import balance, measure_layers
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.outputs import check_outputs
from rankcheck.audit.points import measure_points
from rankcheck.audit.read import chain_of
from rankcheck.audit.result import Audit, ModelFacts, most_common
from rankcheck.audit.theorems import check_theorems, number_of_theorems
from rankcheck.audit.words import in_words
from rankcheck.engine.hunt.settings import check_device
from rankcheck.engine.parallel.arithmetic import single_thread
from rankcheck.errors import InputError
from rankcheck.theory.linalg import singular_values
from rankcheck.versions import versions

Progress: TypeAlias = Callable[[str, int, int | None], object]
"""Called with a stage in words, how much of it is done, and of how much; None if that is one."""


def audit(
    model: Any,
    data: Any = None,
    *,
    device: str = "cpu",
    slope: float | None = None,
    part: str | None = None,
    theorems: bool = True,
    outputs: Any = None,
    progress: Progress = lambda stage, done, total: None,
) -> Audit:
    """Measure a trained network, alone and on data, and evaluate the theorems that apply.

    Args:
        model: a file, or a `Network`, a torch module, a fitted scikit-learn MLP, or a `Model`. It
            has to be a chain of affine maps; `rankcheck.measure` is for other modules.
        data: points (N, n_0): a file, an array, or None; then nothing is said of Jacobians.
        device: where points are measured: `cpu` or `cuda`.
        slope: of the activation, where the file does not say it.
        part: of a file with several networks, the beginning of the names of one.
        theorems: whether the theorems are evaluated.
        outputs: what the model itself puts out at the points, (N, n_L): a file or an array. The
            network as read is compared with them first.
        progress: called when a stage begins and as it goes on.

    Raises:
        InputError: if an argument is out of range.
        ModelError: if the model or the data cannot be read, do not fit, or overflow; or if the
            outputs are not those of the network as read.
    """
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
        spectra = [singular_values(w) for w in chain.net.weights]
        facts, seen, rank = None, None, None
        if X is not None:
            total = len(X)
            progress("points", 0, total)
            facts, seen = measure_points(
                chain,
                X,
                spectra,
                device=device,
                progress=lambda done: progress("points", done, total),
            )
            rank = most_common(facts.ranks)
        layers = measure_layers(chain, spectra, rank=rank, seen=seen)
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
    return replace(result, words=in_words(result))


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
