"""Audit: what the theory says about a network that someone trained.

What lives here: chains and data are read (`read`, with `state` and `onnx_chain` for files), the
quantities of the theory are measured layer by layer (`layers`) and point by point (`points`), and
the claims that apply are evaluated (`theorems`); `run` does all of it. Modules that are no chain
are measured by `measure`, which is `rankcheck.measure`.
How an audit is shown is `terminal.audit` and `report.audit`.
May import: everything below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.doors import door

if TYPE_CHECKING:
    from rankcheck.audit.model import Model, ModelError
    from rankcheck.audit.result import Audit
    from rankcheck.audit.run import audit

__all__ = [
    "Audit",
    "Model",
    "ModelError",
    "audit",
]

__getattr__ = door(
    __name__,
    {
        ".model": ("Model", "ModelError"),
        ".result": ("Audit",),
        ".run": ("audit",),
    },
)
