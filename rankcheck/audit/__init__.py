"""Audit: what the theory says about a network that someone trained.

What lives here: models and data are read (`reading`), the quantities of the theory are measured
layer by layer and point by point, and the claims that apply are evaluated (`theorems`).
How an audit is shown is `terminal` and `report`.
May import: everything below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.doors import door

if TYPE_CHECKING:
    from rankcheck.audit.balanced import balanced_parameters
    from rankcheck.audit.history import compare, over_time
    from rankcheck.audit.model import Model, ModelError
    from rankcheck.audit.pruning.result import Pruned
    from rankcheck.audit.pruning.run import prune
    from rankcheck.audit.result import Audit
    from rankcheck.audit.run import audit

__all__ = [
    "Audit",
    "Model",
    "ModelError",
    "Pruned",
    "audit",
    "balanced_parameters",
    "compare",
    "over_time",
    "prune",
]

__getattr__ = door(
    __name__,
    {
        ".balanced": ("balanced_parameters",),
        ".history.comparing": ("compare",),
        ".history.run": ("over_time",),
        ".model": ("Model", "ModelError"),
        ".pruning.result": ("Pruned",),
        ".pruning.run": ("prune",),
        ".result": ("Audit",),
        ".run": ("audit",),
    },
)
