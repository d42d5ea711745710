"""What audits over time find: plain numbers, which are shown and written as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from rankcheck.audit.history.figures import FIGURES
from rankcheck.notebook import InNotebooks

__all__ = ["Change", "Checkpoint", "Comparison", "Difference", "History", "Moved", "Skipped"]

#: The version of the JSON of both.
SCHEMA = 1


@dataclass(frozen=True)
class Checkpoint:
    """What is kept of the audit of one network; `checkpoint["cost"]` is one of its figures.

    Attributes:
        name: of the file, inside the folder; of a network in Python, what it was given as.
        figures: by the names of `FIGURES`; None for what the audit does not have.
        ranks: the figures that are ranks, as they are written: `8`, or `8?` where the gap does not
            separate it, or `≥ 8` where no other singular value was taken.
        source: what it was read from, as in `ModelFacts`.
        kind: its depth, its widths and its activations, as a text.
        inputs, outputs: n_0 and n_L.
        written: when its file was written, in seconds since 1970; None without a file.
        step: of the training, as its name or a mapping says; None if that is not known.
        points: of the data.
        headline: what has to be known before anything else, as of an audit; None without.
        is_assumed: whether the activations, or that it is a chain, were assumed.
        assumed: what was assumed, a sentence each.
    """

    name: str
    figures: Mapping[str, float | None]
    ranks: Mapping[str, str]
    source: str
    kind: str
    inputs: int
    outputs: int
    written: float | None = None
    step: int | None = None
    points: int | None = None
    headline: str | None = None
    is_assumed: bool = False
    assumed: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> float | None:
        return self.figures[name]

    def text(self, name: str, write: Callable[[float], str]) -> str:
        """A figure as a text; empty if there is none.

        Args:
            write: writes a number.
        """
        return self.ranks.get(name) or FIGURES[name].text(self.figures[name], write)


@dataclass(frozen=True)
class Skipped:
    """A file that is not part of a history, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Change:
    """A figure of two networks.

    Attributes:
        name, title: as in `FIGURES`.
        old, new: its values; None where an audit does not have it.
    """

    name: str
    title: str
    old: float | None
    new: float | None

    @property
    def change(self) -> float | None:
        """new − old; None if one is missing."""
        return None if self.old is None or self.new is None else self.new - self.old


@dataclass(frozen=True)
class Moved:
    """A layer, and how far training moved it.

    Attributes:
        layer: its name; that of the new network, if the two differ.
        distance: the Frobenius norm of the change of its parameters (of a chain, after folding),
            weights and bias, relative to that of the old ones; None if these are all 0.
        old, new: the squares of its parameters, summed.
    """

    layer: str
    distance: float | None
    old: float
    new: float


@dataclass(frozen=True)
class Difference:
    """How far two functions f (old) and g (new) differ on data.

    Attributes:
        points: how many points there are.
        largest: max |f(x) − g(x)| over the points and the outputs.
        relative: that, divided by max |f(x)|; None if f is 0 at all points.
        point: where it is, a number from 0.
        mean: (Σ ‖f(x) − g(x)‖² / Σ ‖f(x)‖²)^{1/2}; None if f is 0 at all points.
        decisions: at how many points the largest output is another one; None with one output.
    """

    points: int
    largest: float
    relative: float | None
    point: int
    mean: float | None
    decisions: int | None


@dataclass(frozen=True, repr=False)
class Comparison(InNotebooks):
    """Two checkpoints of one training, or any two networks with inputs and outputs of one width.

    Attributes:
        difference: of the functions; None without data.
        moved: the layers, the one that moved most first; empty if the two have other layers.
        notes: what else there is to say, a sentence each.
        seconds: how long it took.
    """

    old: Checkpoint
    new: Checkpoint
    difference: Difference | None = None
    moved: tuple[Moved, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def headline(self) -> str | None:
        """That of one of the two, as when activations were assumed."""
        return self.old.headline or self.new.headline

    @property
    def is_assumed(self) -> bool:
        """Whether the activations, or that it is a chain, were assumed of one of the two."""
        return self.old.is_assumed or self.new.is_assumed

    @property
    def changes(self) -> tuple[Change, ...]:
        """The figures that at least one of the two has."""
        old, new = self.old, self.new
        return tuple(
            Change(
                name,
                figure.title if new.points or not figure.alone else figure.alone,
                old[name],
                new[name],
            )
            for name, figure in FIGURES.items()
            if (old[name], new[name]) != (None, None)
        )

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain JSON, without NaN and Infinity."""
        data = _plain(asdict(self))
        changes = [_plain(asdict(one)) | {"change": one.change} for one in self.changes]
        return {"schema": SCHEMA, "headline": self.headline, "changes": changes} | data


@dataclass(frozen=True, repr=False)
class History(InNotebooks):
    """The checkpoints of a training, in their order.

    Attributes:
        name: of the folder, or of what was given.
        checkpoints: in their order.
        said: how they are ordered, in words.
        unit: what their steps are: `step` or `epoch`.
        skipped: files that are no models, and models that could not be audited.
        left: the files that were found and not read when it ended.
        words: what is to be seen, in sentences.
        seconds: how long it took.
    """

    name: str
    checkpoints: tuple[Checkpoint, ...]
    said: str = ""
    unit: str = "step"
    skipped: tuple[Skipped, ...] = ()
    left: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def headline(self) -> str | None:
        """That of the first network that has one, as when activations were assumed."""
        return next((one.headline for one in self.checkpoints if one.headline), None)

    @property
    def is_assumed(self) -> bool:
        """Whether the activations, or that it is a chain, were assumed of one of the networks."""
        return any(one.is_assumed for one in self.checkpoints)

    @cached_property
    def stepped(self) -> bool:
        """Whether the step of every checkpoint is known."""
        return all(one.step is not None for one in self.checkpoints)

    @property
    def places(self) -> list[int]:
        """Where the checkpoints are on an axis: their steps, or 1, 2, … if these are not known."""
        if self.stepped:
            return [one.step for one in self.checkpoints if one.step is not None]
        return list(range(1, len(self.checkpoints) + 1))

    def curve(self, name: str) -> list[tuple[int, float]]:
        """A figure over time, (place, value), without the checkpoints that do not have it.

        Args:
            name: one of `FIGURES`.
        """
        pairs = zip(self.places, self.checkpoints, strict=True)
        return [(at, value) for at, one in pairs if (value := one[name]) is not None]

    def to_json(self) -> dict[str, Any]:
        """The history as plain JSON, without NaN and Infinity."""
        titles = {name: figure.title for name, figure in FIGURES.items()}
        head = {"schema": SCHEMA, "headline": self.headline, "titles": titles}
        return head | _plain(asdict(self))


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
    return plain
