"""`audit(model, data)`: what the theory says about a trained network."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from rankcheck.audit.balance import balance
from rankcheck.audit.layers import measure_layers, spectra
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.points import measure_points
from rankcheck.audit.ranks import TOLERANCE, most_common
from rankcheck.audit.reading import check_width, data_of, model_of
from rankcheck.audit.result import Audit, ModelFacts, TheoremFacts
from rankcheck.audit.theorems import check_theorems, number_of_theorems
from rankcheck.audit.watcher import Watcher
from rankcheck.audit.words import in_words
from rankcheck.errors import InputError
from rankcheck.hunt.arguments import check_device
from rankcheck.parallel.arithmetic import single_thread
from rankcheck.versions import versions

__all__ = ["audit"]


def audit(
    model: Any,
    data: Any = None,
    *,
    max_rank: int | None = None,
    tolerance: float | None = None,
    device: str = "cpu",
    slope: float | None = None,
    theorems: bool = True,
    executor: Any = None,
    watcher: Watcher | None = None,
) -> Audit:
    """Measure a trained network, alone and on data, and evaluate the theorems that apply.

    Args:
        model: a file, or a `Network`, a torch module, a fitted scikit-learn MLP, or a `Model`.
        data: points (N, n_0): a file, an array, or None; then nothing is said of Jacobians.
        max_rank: the bounds by rank go up to this one, and to every rank that occurs.
        tolerance: the share of the largest singular value up to which one counts as zero, in
            [0, 1); by default `TOLERANCE` of `rankcheck.audit.ranks`. 0 leaves rounding alone.
        device: where points are measured: `cpu` or `cuda`.
        slope: of the activation, where the file does not say it.
        theorems: whether the theorems are evaluated.
        executor: where the points are measured: a number of worker processes, `dask://host:port`,
            or a `distributed.Client`; by default in this process. It changes no number.
        watcher: receives the progress.

    Raises:
        InputError: if an argument is out of range, or workers are lost.
        ModelError: if the model or the data cannot be read, do not fit, or overflow.
    """
    begin = time.monotonic()
    _check_rank(max_rank)
    tolerance = _checked_tolerance(tolerance)
    check_device(device)
    told = _Progress(watcher or Watcher())
    how = _How(max_rank, tolerance, device, theorems, executor)
    try:
        with single_thread():
            found = _audit(model, data, slope, how, told)
    except KeyboardInterrupt:
        told.watcher.interrupted(told.sentence())
        raise
    return replace(found, words=in_words(found), seconds=round(time.monotonic() - begin, 3))


@dataclass(frozen=True)
class _How:
    """The arguments of `audit` that say how."""

    max_rank: int | None
    tolerance: float
    device: str
    theorems: bool
    executor: Any


def _audit(model: Any, data: Any, slope: float | None, how: _How, told: _Progress) -> Audit:
    """The audit without its words, for arguments that are checked."""
    told.stage("reading", None)
    read, name = _model(model, slope), _name(model)
    net = read.net
    X = None if data is None else _data(data, read)
    told.stage("weights", None)
    values = spectra(net)
    facts, features, rank = None, None, None
    if X is not None:
        told.stage("points", len(X))
        facts, features = measure_points(
            read,
            X,
            device=how.device,
            progress=told.advance,
            max_rank=how.max_rank,
            tolerance=how.tolerance,
            values=values,
            executor=how.executor,
        )
        rank = most_common(facts.ranks)
    told.stage("layers", None)
    layers = measure_layers(
        read, rank=rank, tolerance=how.tolerance, values=values, features=features
    )
    told.stage("balance", None)
    balanced = balance(read, X, device=how.device)
    evaluated: tuple[TheoremFacts, ...] = ()
    if how.theorems:
        told.stage("theorems", number_of_theorems(X is not None))
        evaluated = check_theorems(
            read, X, device=how.device, progress=lambda claim: told.advance(1)
        )
    return Audit(
        name=name,
        model=_model_facts(read),
        rank=most_common(Counter(each.rank.rank for each in layers)) if rank is None else rank,
        layers=tuple(layers),
        balanced=balanced,
        data=facts,
        theorems=evaluated,
        versions=versions(),
    )


class _Progress:
    """Passes progress on to a watcher, and keeps it for the sentence at an interrupt."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._over: list[str] = []
        self._stage = ""
        self._total: int | None = None
        self._done = 0

    def stage(self, name: str, total: int | None) -> None:
        """A stage begins, and the one before is over."""
        if self._stage:
            self._over.append(self._stage)
        self._stage, self._total, self._done = name, total, 0
        self.watcher.started(name, total)

    def advance(self, number: int) -> None:
        """So many more of this stage are done."""
        self._done += number
        self.watcher.advanced(number)

    def sentence(self) -> str:
        """What was done until now."""
        over = f"done: {', '.join(self._over)}" if self._over else "nothing was done"
        now = f"; in {self._stage}" if self._stage else ""
        if self._total is not None:
            now += f", {self._done} of {self._total}"
        return f"The audit was stopped; {over}{now}. An audit is reported as a whole."


def _model(model: Any, slope: float | None) -> Model:
    """The model that is audited.

    Raises:
        ModelError: if it cannot be read, its slope is outside [-1, 1], or its cost overflows.
    """
    read = model_of(model, slope=slope)
    a, cost = float(read.net.slope), float(read.net.cost())
    if not abs(a) <= 1:
        raise ModelError(f"the slope of the activation is {a:g}; the theory needs one in [-1, 1]")
    if not math.isfinite(cost):
        raise ModelError(
            "the sum of squares of the parameters overflows; the cost has to be finite in double "
            "precision"
        )
    return read


def _name(model: Any) -> str:
    if isinstance(model, str | Path):
        return Path(model).name
    return model.source if isinstance(model, Model) else type(model).__name__


def _data(data: Any, model: Model) -> Tensor:
    """The points (N, n_0).

    Raises:
        ModelError: if they cannot be read, or do not fit the network.
    """
    X = data_of(data)
    check_width(model, X)
    return X


def _model_facts(model: Model) -> ModelFacts:
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
        guessed=model.guessed,
    )


def _check_rank(max_rank: Any) -> None:
    if max_rank is None or (
        isinstance(max_rank, int) and not isinstance(max_rank, bool) and max_rank >= 0
    ):
        return
    raise InputError(f"max_rank is {max_rank!r}; it is a whole number, 0 or more, or None")


def _checked_tolerance(tolerance: Any) -> float:
    if tolerance is None:
        return TOLERANCE
    if isinstance(tolerance, int | float) and 0 <= tolerance < 1:
        return float(tolerance)
    raise InputError(
        f"the tolerance is {tolerance!r}; it is a share of the largest singular value, at least 0 "
        "and below 1"
    )
