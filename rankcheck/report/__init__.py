"""The report: a ledger as one self-contained HTML page, with formulas, matrices and pictures.

What lives here: how results look on a page.
May import: everything below it, but no `terminal`.
"""
