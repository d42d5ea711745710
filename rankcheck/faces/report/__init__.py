"""The report: results as self-contained HTML pages, with formulas and pictures.

What lives here: how results look on a page.
May import: everything below, but not `terminal`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.doors import door

if TYPE_CHECKING:
    from rankcheck.faces.report.audit import audit_page
    from rankcheck.faces.report.page import ledger_page
    from rankcheck.faces.report.sharpening import sharpening_page

__all__ = [
    "audit_page",
    "ledger_page",
    "sharpening_page",
]

__getattr__ = door(
    __name__,
    {
        ".audit": ("audit_page",),
        ".page": ("ledger_page",),
        ".sharpening": ("sharpening_page",),
    },
)
