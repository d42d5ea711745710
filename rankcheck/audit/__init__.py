"""Audit: what the theory says about a network that someone trained.

What lives here: models and data are read (`reading`), the quantities of the theory are measured
layer by layer and point by point, and the claims that apply are evaluated (`theorems`).
How an audit is shown is `terminal` and `report`.
May import: everything below it, the executors of `hunt` among them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankcheck.audit.model import Model, ModelError
    from rankcheck.audit.result import Audit
    from rankcheck.audit.run import audit
    from rankcheck.audit.watcher import Watcher

_HOMES = {
    "rankcheck.audit.model": ("Model", "ModelError"),
    "rankcheck.audit.result": ("Audit",),
    "rankcheck.audit.run": ("audit",),
    "rankcheck.audit.watcher": ("Watcher",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["Audit", "Model", "ModelError", "Watcher", "audit"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rankcheck.audit' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)
