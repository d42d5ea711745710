"""One checkpoint: it is read, audited without theorems, and its figures are kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.history.figures import figures_of, ranks_of
from rankcheck.audit.history.result import Checkpoint
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.ranks import TOLERANCE
from rankcheck.audit.reading import check_width, data_of, model_of
from rankcheck.audit.reading.opening import where
from rankcheck.audit.run import audit
from rankcheck.audit.task import Progress

__all__ = ["Measuring", "ends_of", "silent", "written_of"]


def ends_of(read: Model | Graph) -> tuple[int, int]:
    """(n_0, n_L)."""
    widths = read.widths if isinstance(read, Graph) else read.net.widths
    return widths[0], widths[-1]


def written_of(model: Any) -> float | None:
    """When the file of a model was written, in seconds since 1970; None if it is no path."""
    return Path(model).stat().st_mtime if isinstance(model, str | os.PathLike) else None


def silent(stage: str, done: int, total: int | None) -> None:
    """No progress is shown."""


@dataclass(frozen=True, eq=False)
class Measuring:
    """How checkpoints are audited; `rankcheck.audit.audit` says what the fields mean.

    Attributes:
        X: the points, (N, *shape), or None.
        load: makes of a path what `audit` takes; by default the files of models are read.
    """

    X: Tensor | None
    tolerance: float = TOLERANCE
    device: str = "cpu"
    slope: float | None = None
    executor: Any = None
    load: Callable[[Any], Any] | None = None
    progress: Progress = silent

    @classmethod
    def on(cls, data: Any, **settings: Any) -> Measuring:
        """How they are audited on data: a file, an array, or None.

        Raises:
            ModelError: if the data cannot be read.
        """
        return cls(None if data is None else data_of(data), **settings)

    def read(self, model: Any, name: str = "") -> Model | Graph:
        """The network of a file or an object.

        Args:
            name: what an error calls it, if it does not name it already.

        Raises:
            ModelError: if it cannot be read, or does not fit the data.
        """
        try:
            return self._read(model)
        except ModelError as error:
            said = str(error)
            raise ModelError(f"{name}: {said}" if name and name not in said else said) from error

    def _read(self, model: Any) -> Model | Graph:
        if self.load is not None and isinstance(model, str | os.PathLike):
            try:
                model = self.load(model)
            except Exception as error:
                error.add_note(f"raised by the function `load` for {where(Path(model))}")
                raise
        shape = None if self.X is None else tuple(self.X.shape[1:])
        read = model_of(model, slope=self.slope, shape=shape, theorems=False)
        if self.X is not None:
            check_width(read, self.X.flatten(1))
        return read

    def measure(
        self, read: Model | Graph, name: str, *, written: float | None = None, place: str = ""
    ) -> Checkpoint:
        """The figures of a network.

        Args:
            written: when its file was written, in seconds since 1970.
            place: which of how many it is, for the progress.

        Raises:
            InputError: as for `audit`.
        """
        found = audit(
            read,
            self.X,
            tolerance=self.tolerance,
            device=self.device,
            theorems=False,
            executor=self.executor,
            progress=lambda stage, done, total: self.progress(
                f"{name}{place}: {stage}", done, total
            ),
        )
        model = found.model
        return Checkpoint(
            name=name,
            figures=figures_of(found),
            ranks=ranks_of(found),
            source=model.source,
            kind=model.text,
            inputs=model.widths[0],
            outputs=model.widths[-1],
            written=written,
            points=None if self.X is None else len(self.X),
            headline=found.headline,
            is_assumed=model.is_assumed,
            assumed=model.assumed,
        )
