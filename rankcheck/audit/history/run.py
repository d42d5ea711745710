"""`over_time(folder, data)`: the checkpoints of a training as curves."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.history.folder import Entry, Folder, Looks
from rankcheck.audit.history.measure import Measuring, silent, written_of
from rankcheck.audit.history.order import By, ordered
from rankcheck.audit.history.result import Checkpoint, History, Skipped
from rankcheck.audit.history.sharing import Waiting, measure_all
from rankcheck.audit.history.words import in_words
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.ranks import TOLERANCE
from rankcheck.audit.reading.opening import where
from rankcheck.audit.task import Progress
from rankcheck.errors import InputError
from rankcheck.networks import Network
from rankcheck.versions import versions

__all__ = ["Course", "over_time"]


def over_time(
    models: Any,
    data: Any = None,
    *,
    by: By | None = None,
    tolerance: float = TOLERANCE,
    device: str = "cpu",
    slope: float | None = None,
    executor: Any = None,
    load: Callable[[Any], Any] | None = None,
    progress: Progress = silent,
) -> History:
    """Audit the checkpoints of a training, without theorems.

    Args:
        models: a folder; or models as `audit` takes them (files, modules, networks, …), in their
            order; or a mapping from steps to these.
        data: as for `audit`, and so are the arguments without a line here. An executor takes
            whole networks, several at a time.
        by: how a folder is ordered: `names`, by the step in the names, or `time`, by time of
            writing; by default by the names if these tell.
        load: makes a network, such as a module of torch, of the path of a file. Then all files of a
            folder are checkpoints, and what it raises ends the whole.

    Raises:
        InputError: as for `audit`; also if there is no checkpoint.
        ModelError: the data or a model cannot be read. In a folder such a model is skipped.
    """
    measuring = Measuring.on(
        data,
        tolerance=tolerance,
        device=device,
        slope=slope,
        executor=executor,
        load=load,
        progress=progress,
    )
    if by not in (None, "names", "time"):
        raise InputError(f"by is {by!r}; a folder is ordered by `names` or by `time`, or None")
    if isinstance(models, str | os.PathLike):
        known = [Path(data)] if isinstance(data, str | os.PathLike) else []
        course = Course(Path(models), measuring, by=by, without=known)
        for _ in course.events():
            pass
        return course.history
    begin = time.monotonic()
    found: list[Checkpoint] = []
    steps: list[int | None] = []

    def read() -> Iterator[Waiting]:
        for step, name, model in _given(models):
            steps.append(step)
            yield Waiting(measuring.read(model, name), name, written_of(model))

    for network, one in measure_all(measuring, read()):
        if isinstance(one, str):
            raise ModelError(f"{network.name}: {one}")
        found.append(replace(one, step=steps[len(found)]))
    if not found:
        raise InputError("there are no models; a history has at least one")
    stepped = all(one.step is not None for one in found)
    return _history("models", found, None if stepped else "given", seconds=time.monotonic() - begin)


class Course:
    """The checkpoints of a folder, which may still get more.

    Args:
        without: files of the folder that are left out without a word.
    """

    def __init__(
        self,
        folder: Path,
        measuring: Measuring,
        *,
        by: By | None = None,
        without: Collection[Path] = (),
    ) -> None:
        self.folder, self._measuring, self._by = folder, measuring, by
        self._looks = Looks(Folder(folder, without, every=measuring.load is not None))
        self._begin = time.monotonic()
        self._found: list[Checkpoint] = []
        self._skipped: dict[str, str] = {}
        self._others: dict[str, str] = {}
        self._failed: list[Skipped] = []

    def events(self, wait: Callable[[], object] | None = None) -> Iterator[Checkpoint | Skipped]:
        """What was audited, and what cannot be, as it comes.

        Args:
            wait: called between two looks at the folder, which go on without end; None for one
                look, at a folder that is complete.

        Raises:
            InputError: as for `audit`; without `wait` also if no checkpoint can be read.
        """
        while True:
            entries = self._looks.ready(final=wait is None)
            order = ordered(
                [one.name for one in entries], [one.written for one in entries], self._by
            )
            networks = self._read([entries[n] for n in order.places], final=wait is None)
            by_name = {one.name: one for one in entries}
            for network, found in measure_all(self._measuring, networks):
                self._looks.tried(by_name[network.name], read=True)
                yield from self._failures()
                yield self._measured(network.name, found)
            yield from self._failures()
            yield from self._beside()
            if wait is None:
                break
            wait()
        if not self._found:
            passed = self._skipped | self._looks.others
            why = next((f": {name}: {said}" for name, said in passed.items()), "")
            raise InputError(f"no checkpoint of {where(self.folder)} can be audited{why}")

    @property
    def history(self) -> History:
        """What is there by now."""
        passed = self._skipped | self._looks.others
        skipped = [Skipped(name, reason) for name, reason in passed.items()]
        left = tuple(name for name in self._looks.waiting if name not in self._skipped)
        seconds = time.monotonic() - self._begin
        name = self.folder.resolve().name
        return _history(name, self._found, self._by, skipped, left, seconds)

    def _beside(self) -> Iterator[Skipped]:
        """The files that are no models, and those that were written again; each once."""
        others = self._looks.others
        new = [name for name in others if name not in self._others]
        self._others |= others
        yield from (Skipped(name, others[name]) for name in new)
        for name in self._looks.again():
            yield Skipped(name, "it was written again, and a file is read once")

    def _read(self, entries: Sequence[Entry], *, final: bool) -> Iterator[Waiting]:
        """The networks of files, as they are asked for; what cannot be read is one of `_failed`."""
        for number, entry in enumerate(entries, 1):
            of = f" ({number} of {len(entries)})" if len(entries) > 1 else ""
            try:
                read = self._measuring.read(entry.path)
            except ModelError as error:
                self._looks.tried(entry, read=False)
                if final or not entry.changed:
                    self._failed.append(self._skip(entry.name, str(error), where(entry.path)))
                continue
            if final or not entry.changed:
                yield Waiting(read, entry.name, entry.written, of)

    def _measured(self, name: str, found: Checkpoint | str) -> Checkpoint | Skipped:
        if isinstance(found, str):
            return self._skip(name, found)
        first = self._found[0] if self._found else found
        if (found.inputs, found.outputs) != (first.inputs, first.outputs):
            return self._skip(
                name,
                f"it has {found.inputs} inputs and {found.outputs} outputs, and {first.name} has "
                f"{first.inputs} and {first.outputs}; a history is of networks with the same "
                "inputs and outputs",
            )
        self._skipped.pop(name, None)
        self._found.append(found)
        return found

    def _skip(self, name: str, said: str, path: str = "") -> Skipped:
        reason = said.removeprefix(f"cannot read {path}: ").removeprefix(path).lstrip(": ")
        self._skipped[name] = reason
        return Skipped(name, reason)

    def _failures(self) -> Iterator[Skipped]:
        while self._failed:
            yield self._failed.pop(0)


def _given(models: Any) -> Iterator[tuple[int | None, str, Any]]:
    """The step, the name and the model of each that was given.

    Raises:
        ModelError: that is neither a mapping nor a sequence.
    """
    one = isinstance(models, nn.Module | Network | Model | Graph)  # a Sequential is iterable
    if one or not isinstance(models, Iterable):
        raise ModelError(
            f"the models are a {type(models).__name__}; they are a folder, a sequence of "
            "models, or a mapping from steps to models"
        )
    if isinstance(models, Mapping):
        for key, model in models.items():
            yield (key if type(key) is int else None), str(key), model
        return
    for number, model in enumerate(models, 1):
        named = isinstance(model, str | os.PathLike)
        yield None, Path(model).name if named else f"network {number}", model


def _history(
    name: str,
    found: Sequence[Checkpoint],
    by: By | None,
    skipped: Iterable[Skipped] = (),
    left: tuple[str, ...] = (),
    seconds: float = 0.0,
) -> History:
    checkpoints, said, unit = _in_order(found, by)
    return History(
        name=name,
        checkpoints=checkpoints,
        said=said,
        unit=unit,
        skipped=tuple(skipped),
        left=left,
        words=in_words(checkpoints, unit),
        seconds=round(seconds, 3),
        versions=versions(),
    )


def _in_order(
    found: Sequence[Checkpoint], by: By | None
) -> tuple[tuple[Checkpoint, ...], str, str]:
    """The checkpoints in their order, each with its step, and how they are ordered."""
    if found and all(one.step is not None for one in found):
        return tuple(sorted(found, key=lambda one: one.step or 0)), "by the steps given", "step"
    order = ordered([one.name for one in found], [one.written for one in found], by)
    placed = zip(order.places, order.steps, strict=True)
    return tuple(replace(found[n], step=step) for n, step in placed), order.said, order.unit
