"""What an experiment is: its parts, what a part trains and measures, and what is concluded."""

from __future__ import annotations

import hashlib
import json
import re
import statistics
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from rankcheck.experiments.result import Result, Run

if TYPE_CHECKING:
    from rankcheck.experiments.training import Checkpoint

__all__ = ["SCALES", "Experiment", "Finding", "Part", "Place", "Scale"]

Scale = Literal["tiny", "small", "paper"]
SCALES: tuple[Scale, ...] = ("tiny", "small", "paper")


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

    @property
    def identity(self) -> str:
        """A hash of all that is trained; results and checkpoints of another one are refused."""
        said = json.dumps([self.name, dict(self.settings), self.seeds], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Place:
    """Where a part is run: its device, its checkpoints, and who hears of its progress.

    Attributes:
        device: `cpu` or `cuda`.
        folder: of the checkpoints (`parts/`) and the trained networks (`networks/`); None keeps
            neither.
        told: called with the share that is done, in [0, 1], and a few words.
        head: a hash of what else the numbers depend on: device, versions, sources.
    """

    device: str = "cpu"
    folder: Path | None = None
    told: Callable[[float, str], None] = field(default=lambda share, words: None)
    head: str = ""

    def checkpoint(self, part: Part, stage: str = "") -> Checkpoint | None:
        """Where a training of this part is kept; a part of several trainings names them."""
        from rankcheck.experiments.training import Checkpoint

        if self.folder is None:
            return None
        name = f"{part.name}.{stage}" if stage else part.name  # names of parts have no dot
        path = self.folder / "parts" / f"{name}.safetensors"
        path.parent.mkdir(parents=True, exist_ok=True)
        return Checkpoint(path, " ".join(filter(None, (part.identity, self.head, stage))))

    def steps(self, total: int, begin: float = 0.0, end: float = 1.0) -> Callable[[int, str], None]:
        """What `train` is told with, for a training that is this stretch of the part."""

        def told(done: int, words: str) -> None:
            self.told(begin + (end - begin) * done / max(total, 1), words)

        return told


@dataclass(frozen=True)
class Finding:
    """A quantity of a figure beside the document's.

    Attributes:
        quantity: in words, with formulas in LaTeX.
        printed: what the document says or shows.
        ours: what was measured here, over the seeds.
        agrees: whether it is as printed; None where the document gives no number.
        note: what differs and why, and what was tried; empty if there is nothing to say.
    """

    quantity: str
    printed: str
    ours: str
    agrees: bool | None
    note: str = ""


class Experiment(ABC):
    """An experiment of a document.

    Attributes:
        name: that of its claim.
        title: in plain text.
        place: document and figure, in words.
        question: what is at stake, and what the outcome would have been had it been false:
            paragraphs of Markdown with LaTeX.
        differences: how it differs from the document's own experiment, a sentence each.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    place: ClassVar[str]
    question: ClassVar[str]
    differences: ClassVar[tuple[str, ...]]

    @abstractmethod
    def parts(self, scale: Scale, seed: int) -> Sequence[Part]:
        """What is trained. Seeds of runs derive from `seed`; another one shares none of them."""

    @abstractmethod
    def run(self, part: Part, place: Place) -> Sequence[Run]:
        """Train a part and measure its networks; a run for each seed, in their order.

        The outcome is a function of the part alone: it does not depend on the clock, the number of
        processes, or on where a training was interrupted.
        """

    @abstractmethod
    def findings(self, result: Result) -> Sequence[Finding]:
        """The quantities of the figure beside the document's."""

    def compared(self, result: Result) -> list[Finding]:
        """The findings, and what the audits of all networks found: what people are shown."""
        return [*self.findings(result), *audit_findings(result)]


def audit_findings(result: Result) -> list[Finding]:
    """What the audits of all networks of a result found; nothing without any."""
    audits = [run.audit for run in result.runs if run.audit is not None]
    if not audits:
        return []
    counts = sum((Counter(each.findings) for each in audits), Counter[str]())
    failing = sorted({claim for each in audits for claim in each.failing})
    saved = sorted(each.saved for each in audits)
    words = [f"{counts[name]} {verb}" for name, verb in _VERBS.items() if counts[name]]
    return [
        Finding(
            f"Theorems, evaluated on each of the {len(audits)} trained networks",
            "",
            ", ".join([*words, f"{counts['fails']} fail" if failing else "none fails"]),
            False if failing else None,
            f"A theorem that fails shows a bug: {', '.join(failing)}." if failing else "",
        ),
        Finding(
            r"Share of $\|\theta\|^2$ that balancing the neurons would save",
            "",
            f"{saved[0]:.2g} to {saved[-1]:.2g}, median {statistics.median(saved):.2g}",
            None,
            "0 at a local minimum of the objective with a ridge: what is left shows how far the "
            "training was from one.",
        ),
    ]


#: How audits say what they found of a theorem, as a verb.
_VERBS = {
    "holds": "hold",
    "not applicable": "do not apply",
    "not evaluated": "were not evaluated",
    "undecided": "are undecided",
}
