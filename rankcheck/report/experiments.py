"""What the page of a claim about an experiment shows of it: its figures, and what was found."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from rankcheck.errors import InstallationError
from rankcheck.experiments.base import Finding
from rankcheck.experiments.known import NAMES, experiment
from rankcheck.experiments.pages import Drawn, Page, page
from rankcheck.experiments.records import recorded
from rankcheck.verification.ledger import Row

__all__ = ["AGREES", "ExperimentPart", "experiment_part"]

#: How the page says whether a quantity is as printed; a dash where nothing is printed.
AGREES = {True: "yes", False: "no", None: "–"}


@dataclass(frozen=True)
class ExperimentPart:
    """An experiment as the page of its claim shows it.

    Attributes:
        place: document and figure, in words.
        page: what was written of it.
        findings: the quantities of the figure beside the document's.
        whole: whether everything is shown, or the findings alone: on the page of a whole ledger,
            which stays below two megabytes.
    """

    place: str
    page: Page
    findings: Sequence[Finding]
    whole: bool = True

    def source(self, figure: Drawn) -> str:
        """A figure as the address of an image, which needs no file beside the page."""
        return f"data:image/svg+xml;base64,{b64encode(figure.path.read_bytes()).decode()}"

    def agrees(self, finding: Finding) -> str:
        """Whether a quantity is as printed, in words."""
        return AGREES[finding.agrees]


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
    return ExperimentPart(made.place, page(row.id), made.findings(result), whole)
