"""The pictures of the report, one in each file.

What lives here: what is drawn of a ledger, of the claims, of a hunt, and of the mathematics itself.
Quantities come from the rooms below; a picture computes none of its own.
May import: everything below `report`, and `report.svg`.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankcheck.catalogue.entry import Entry
from rankcheck.report.charts.bounds import bounds
from rankcheck.report.charts.excess import excess
from rankcheck.report.charts.graph import graph
from rankcheck.report.charts.layers import layers
from rankcheck.report.charts.margin import margin
from rankcheck.report.charts.phi import phi
from rankcheck.report.charts.picture import Picture
from rankcheck.report.charts.regions import regions
from rankcheck.report.charts.singular import singular
from rankcheck.report.charts.spread import has_spread, spread
from rankcheck.report.charts.widths import widths
from rankcheck.verification.ledger import Ledger

__all__ = ["Picture", "bounds", "has_spread", "margin", "pictures", "spread"]


def pictures(ledger: Ledger, entries: Sequence[Entry]) -> list[Picture]:
    """The pictures that depend on no hunt, in the order of a page.

    A picture of one relation is `spread`, and one of a hunt is `margin`.
    """
    return [
        bounds(ledger),
        layers(),
        phi(),
        excess(),
        singular(),
        regions(),
        widths(),
        graph(entries),
    ]
