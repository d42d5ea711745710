"""The report: results as self-contained HTML pages, with formulas and pictures.

What lives here: how results look on a page, and as a badge.
May import: everything below, but not `terminal`.
"""

from rankcheck.report.audit import audit_page
from rankcheck.report.page import claim_page, ledger_page
from rankcheck.report.sharpening import sharpening_page

__all__ = ["audit_page", "claim_page", "ledger_page", "sharpening_page"]
