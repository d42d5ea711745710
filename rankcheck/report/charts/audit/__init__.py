"""The pictures of an audit, one in each file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.report.charts.audit.costs import costs
from rankcheck.report.charts.audit.excess import excess
from rankcheck.report.charts.audit.jacobians import jacobians
from rankcheck.report.charts.audit.ranks import ranks
from rankcheck.report.charts.audit.representations import representations
from rankcheck.report.charts.audit.spectra import spectra
from rankcheck.report.charts.picture import Picture

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit

__all__ = ["pictures"]


def pictures(audit: Audit) -> list[Picture]:
    """The pictures of an audit, in the order of its page; those of the data only with data."""
    drawn = [
        spectra(audit),
        representations(audit),
        costs(audit),
        excess(audit),
        jacobians(audit),
        ranks(audit),
    ]
    return [picture for picture in drawn if picture is not None]
