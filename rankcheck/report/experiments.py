"""What the page of a claim about an experiment shows of it: its figures, and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankcheck.errors import InstallationError
from rankcheck.experiments.base import Finding
from rankcheck.experiments.known import NAMES, experiment
from rankcheck.experiments.records import recorded
from rankcheck.report.charts.experiments import figures
from rankcheck.report.charts.picture import Picture
from rankcheck.verification.ledger import Row

__all__ = ["AGREES", "ExperimentPart", "experiment_part"]

#: How the page says whether a quantity is as printed; a dash where nothing is printed.
AGREES = {True: "yes", False: "no", None: "–"}


@dataclass(frozen=True)
class ExperimentPart:
    """An experiment as the page of its claim shows it.

    Attributes:
        place: document and figure, in words.
        question, differences: as the experiment has them.
        findings: the quantities of the figure beside the document's.
        pictures: the figures of the recorded result.
        whole: whether everything is shown, or, on the page of a whole ledger, the first figure and
            the findings without their notes.
        more: how many figures are left out.
    """

    place: str
    question: str
    differences: Sequence[str]
    findings: Sequence[Finding]
    pictures: Sequence[Picture]
    whole: bool = True
    more: int = 0

    def agrees(self, found: Finding) -> str:
        """Whether a quantity is as printed, in words."""
        return AGREES[found.agrees]


def experiment_part(row: Row, *, whole: bool = True) -> ExperimentPart | None:
    """The experiment of a claim; None if the claim is about none, or nothing is recorded.

    A ledger from elsewhere may have rows of any name: what is shown comes from the record of this
    installation.

    Args:
        whole: whether everything is shown, or what is short.
    """
    if row.kind != "statistical" or row.id not in NAMES:
        return None
    try:
        result = recorded(row.id)
    except InstallationError:
        return None
    made = experiment(row.id)
    pictures = figures(result)
    shown = pictures if whole else pictures[:1]
    return ExperimentPart(
        made.place,
        made.question,
        made.differences,
        made.compared(result),
        shown,
        whole,
        len(pictures) - len(shown),
    )
