"""The pictures of the report.

What lives here: what is drawn of a ledger, of the claims, of a hunt, an audit and an experiment.
Quantities come from the rooms below; a picture computes none of its own.
May import: everything below `report`, and `report.svg`.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankcheck.catalogue.entry import Entry
from rankcheck.report.charts.bounds import bounds
from rankcheck.report.charts.graph import graph
from rankcheck.report.charts.margin import margin
from rankcheck.report.charts.picture import Picture
from rankcheck.report.charts.spread import has_spread, spread
from rankcheck.verification.ledger import Ledger

__all__ = ["Picture", "bounds", "has_spread", "margin", "pictures", "spread"]


def pictures(ledger: Ledger, entries: Sequence[Entry]) -> list[Picture]:
    """The pictures that depend on no hunt, in the order of a page.

    A picture of one relation is `spread`, and one of a hunt is `margin`.
    """
    return [bounds(ledger), graph(entries)]
