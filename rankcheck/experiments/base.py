"""What an experiment is: its parts, what a part trains and measures, and what is concluded."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from rankcheck.experiments.result import Result, Run

if TYPE_CHECKING:
    from torch import Tensor

    from rankcheck.experiments.stack import Stack
    from rankcheck.experiments.training import History, Schedule

__all__ = [
    "RECORDED_SCALE",
    "SCALES",
    "Experiment",
    "Finding",
    "Part",
    "Place",
    "Progress",
    "Scale",
]

Scale = Literal["tiny", "small", "paper"]
SCALES: tuple[Scale, ...] = ("tiny", "small", "paper")
#: The scale of the records, of which the pages and the claims speak.
RECORDED_SCALE: Scale = "small"
#: Called with the share of a part that is done, in [0, 1], and a few words.
Progress: TypeAlias = Callable[[float, str], None]


@dataclass(frozen=True)
class Part:
    """Runs of one shape, which are trained side by side; a part is done by one process.

    Attributes:
        name: unique in the experiment, letters, digits and hyphens: files are named after it.
        settings: what is trained (depth, width, ridge, steps, ...), plain JSON. A run has them too.
        seeds: one for each run.

    Raises:
        ValueError: if the name has other characters, or there are no seeds.
    """

    name: str
    settings: Mapping[str, Any]
    seeds: tuple[int, ...]

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9-]{1,100}", self.name):
            raise ValueError(
                f"received a part named {self.name!r}; a name has letters, digits and hyphens"
            )
        if not self.seeds:
            raise ValueError(f"received no seeds for {self.name}; a part has at least one run")


@dataclass(frozen=True)
class Place:
    """Where a part is run: on which device, and where its trained networks are kept.

    Attributes:
        device: `cpu` or `cuda`.
        networks: a folder for the trained networks; None keeps none.
    """

    device: str = "cpu"
    networks: Path | None = None
    progress: Progress = lambda share, words: None

    def train(
        self,
        stack: Stack,
        error: Callable[[Tensor], Tensor],
        x: Tensor,
        ridge: float,
        schedule: Schedule,
        *,
        shares: tuple[float, float] = (0.0, 0.8),
    ) -> History:
        """`train` as this stretch of the part; `measured_runs` is the rest of it."""
        from rankcheck.experiments.training import train

        begin, end = shares

        def progress(done: int, words: str) -> None:
            self.progress(begin + (end - begin) * done / schedule.steps, words)

        return train(stack, error, x, ridge, schedule, progress=progress)


@dataclass(frozen=True)
class Finding:
    """A quantity of a figure beside the document's.

    Attributes:
        quantity: in words, with formulas in LaTeX.
        printed: what the document says or shows; empty if nothing.
        ours: what was measured here, over the seeds.
        agrees: whether it is as printed; None where the document gives no number.
    """

    quantity: str
    printed: str
    ours: str
    agrees: bool | None


class Experiment(ABC):
    """An experiment of a document; `docs/experiments/NAME.md` says what is at stake.

    Attributes:
        name: that of its claim.
        title: in plain text.
        place: document and figure, in words.
        pilots: the seeds below this one are pilots: what is free in the experiment and in its
            claim, such as steps and thresholds, was fixed on their runs, which therefore test
            nothing. It is the seed of the record. Whoever fixes anything anew on a record makes
            that a pilot, too.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    place: ClassVar[str]
    pilots: ClassVar[int] = 1

    @abstractmethod
    def parts(self, scale: Scale, seed: int) -> Sequence[Part]:
        """What is trained. Seeds of runs derive from `seed`; another one shares none of them."""

    def pilot_seeds(self) -> tuple[int, ...]:
        """The seeds of the runs of the pilots, at the scale of the record."""
        parts = [part for seed in range(self.pilots) for part in self.parts(RECORDED_SCALE, seed)]
        return tuple(sorted({seed for part in parts for seed in part.seeds}))

    @abstractmethod
    def run(self, part: Part, place: Place) -> Sequence[Run]:
        """Train a part and measure its networks; a run for each seed, in their order.

        The outcome is a function of the part alone: it does not depend on the clock or on the
        number of processes.
        """

    @abstractmethod
    def findings(self, result: Result) -> Sequence[Finding]:
        """The quantities of the figure beside the document's."""
