"""Claims are verified: searched for violations, their controls checked, their rows written.

What lives here: one claim (`check`, with `search` and `controls`, and below them `batching`,
`evaluation`, which the hunt uses too), many claims (`run`), and what they leave (`ledger`,
`counts`).
May import: `counterexamples`, `parallel`, `catalogue`, `claims`, and what is below them. The names
below are imported on first use: `profiles`, `ledger` and `run` do not import torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.doors import door

if TYPE_CHECKING:
    from rankcheck.verification.check import verify_claim
    from rankcheck.verification.counts import Counts
    from rankcheck.verification.ledger import Ledger, LedgerError, Row, read_ledger
    from rankcheck.verification.profiles import PROFILES, Profile, Settings, profile
    from rankcheck.verification.run import verify_claims

__all__ = [
    "PROFILES",
    "Counts",
    "Ledger",
    "LedgerError",
    "Profile",
    "Row",
    "Settings",
    "profile",
    "read_ledger",
    "verify_claim",
    "verify_claims",
]

__getattr__ = door(
    __name__,
    {
        ".check": ("verify_claim",),
        ".counts": ("Counts",),
        ".ledger": ("Ledger", "LedgerError", "Row", "read_ledger"),
        ".profiles": ("PROFILES", "Profile", "Settings", "profile"),
        ".run": ("verify_claims",),
    },
)
