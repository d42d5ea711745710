"""The pictures of the report.

What lives here: what is drawn of a ledger, of a relation and of an audit.
Quantities come from the rooms below; a picture computes none of its own.
May import: everything below `report`, and `report.svg`.
"""

from __future__ import annotations

from rankcheck.report.charts.bounds import bounds
from rankcheck.report.charts.picture import Picture

__all__ = ["Picture", "bounds"]
