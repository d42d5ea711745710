"""The theorems of an audit: the claims that apply to a trained network.

What lives here: what the `audit=` of a claim says (`table`), at which points it is looked at
(`choice`), where it is closest to failing (`evaluate`), and what is found, hypotheses and balls
included: of one claim (`check`), and of all (`run`).
May import: the other files of `audit`, and what is below `audit`.
"""

from rankcheck.audit.theorems.run import check_theorems, number_of_theorems

__all__ = ["check_theorems", "number_of_theorems"]
