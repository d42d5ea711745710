"""The report: a ledger as one self-contained HTML page, with formulas, matrices and pictures.

What lives here: how results look on a page, and as a badge.
May import: everything below, but not `terminal`.
"""

from rankcheck.report.page import claim_page, ledger_page

__all__ = ["claim_page", "ledger_page"]
