"""The theorems of an audit: the claims that apply to a trained network.

What lives here: what the `audit=` of a claim says (`table`), the hypotheses, at which points they
are looked at (`choice`, `pairs`), how (`evaluate`, `sharp`), and what is found (`check`,
`certify`).
May import: the other files of `audit`, and what is below `audit`.
"""

from rankcheck.audit.theorems.run import check_theorems, number_of_theorems

__all__ = ["check_theorems", "number_of_theorems"]
