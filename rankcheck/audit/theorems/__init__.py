"""The theorems of an audit: the claims that apply to a trained network.

What lives here: which claims are taken and why the others are not (`table`), their hypotheses, at
which points they are evaluated (`choice`, within the budget of `effort`), how (`evaluate`,
`sharp`), and what is found (`check`, `certify`).
May import: the other files of `audit`, and what is below `audit`.
"""

from rankcheck.audit.theorems.run import check_theorems, claims, number_of_theorems

__all__ = ["check_theorems", "claims", "number_of_theorems"]
