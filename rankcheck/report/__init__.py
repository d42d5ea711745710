"""The report: a ledger or an audit as one self-contained HTML page, with formulas and pictures.

What lives here: how results look on a page, and as a badge.
May import: everything below, but not `terminal`.
"""

from rankcheck.report.audit import audit_page
from rankcheck.report.page import claim_page, ledger_page

__all__ = ["audit_page", "claim_page", "ledger_page"]
