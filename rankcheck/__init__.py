"""rankcheck: a referee for theorems on representation cost, rank and depth of neural networks.

What a file of claims needs is here; it is imported on first use, so that `import rankcheck` and the
command's help do not wait for torch. Generators of instances are in `rankcheck.instances`, the
mathematics in `rankcheck.networks.network`, `rankcheck.linalg` and their neighbours.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rankcheck._version import __version__

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim, ClaimError, Need, cited, claim, conjecture, refuted
    from rankcheck.claims.reference import Reference, paper
    from rankcheck.claims.relations import Relation, eq, leq
    from rankcheck.networks.network import Network
    from rankcheck.verification.check import ClaimFalse, verify_claim

__all__ = [
    "Claim",
    "ClaimError",
    "ClaimFalse",
    "Need",
    "Network",
    "Reference",
    "Relation",
    "__version__",
    "cited",
    "claim",
    "conjecture",
    "eq",
    "leq",
    "paper",
    "refuted",
    "verify_claim",
]

_HOMES = {
    "rankcheck.verification.check": ("ClaimFalse", "verify_claim"),
    "rankcheck.claims.claim": (
        "Claim",
        "ClaimError",
        "Need",
        "cited",
        "claim",
        "conjecture",
        "refuted",
    ),
    "rankcheck.claims.relations": ("Relation", "eq", "leq"),
    "rankcheck.claims.reference": ("Reference", "paper"),
    "rankcheck.networks.network": ("Network",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rankcheck' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
