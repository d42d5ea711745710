"""Where the instances of a claim come from if nobody draws them: an experiment that is on record.

The claims do not know experiments. They know that the instances of a generator may carry a
`Recording` (`rankcheck.instances.source.recorded_by`): its provenance goes into the ledger, and the
profile `deep` makes the experiment again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Provenance", "Recording", "recording_of"]


@dataclass(frozen=True)
class Provenance:
    """How the runs of an experiment were made.

    Attributes:
        command: the command line that makes them again.
        seed: of the experiment.
        device: on which it was computed.
        versions: of Python and the packages, by name.
        made: the date, YYYY-MM-DD.
        seconds: of processor time.
        runs: how many there are.
        file: of the whole result.
        same: of an experiment that was made again with the seed of the record, how many runs have
            the measurements of the record, digit by digit; None with another seed.

    Raises:
        ValueError: if a number is negative or not finite.
    """

    command: str
    seed: int
    device: str
    versions: Mapping[str, str]
    made: str
    seconds: float
    runs: int
    file: str = ""
    same: int | None = None

    def __post_init__(self) -> None:
        if not (0 <= self.seconds < math.inf and self.runs >= 0):
            raise ValueError("the seconds and runs of an experiment are finite and not negative")
        if self.same is not None and not 0 <= self.same <= self.runs:
            raise ValueError(f"{self.same} of {self.runs} runs are said to be those of the record")


class Recording(Protocol):
    """An experiment of which a generator yields the runs."""

    def provenance(self) -> Provenance:
        """Of the runs that the generator yields now."""

    def faults(self) -> Sequence[str]:
        """Why these runs are not what the experiment, as it is now, would have made; sentences."""

    def again(
        self, seed: int, folder: Path, progress: Callable[[float], None]
    ) -> AbstractContextManager[Provenance]:
        """Make the experiment again; inside the context the generator yields the new runs.

        Args:
            folder: keeps what is finished, which is not done again.
            progress: called with the share that is done, in [0, 1].

        Raises:
            InputError, OSError: if it cannot be made.
            ArithmeticError, RuntimeError: if a training diverges.
        """


def recording_of(instances: Any) -> Recording | None:
    """The recording that instances carry, or None: then they are drawn."""
    recording: Recording | None = getattr(instances, "recording", None)
    return recording
