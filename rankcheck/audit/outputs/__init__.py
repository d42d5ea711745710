"""Outputs of somebody's own model: no audit is of another network than the one that made them.

What lives here: `check` compares them with the network as read, before anything is measured. What
outputs may be is `kinds`, what rounding explains `rounding`, and what else the network may be
`readings`: parameters tell neither activations nor skip connections, outputs do.
May import: `audit.model`, `audit.result`, `audit.graph`, `audit.reading`, and what is below
`audit`.
"""

from __future__ import annotations

from rankcheck.audit.outputs.check import Outputs, check_outputs, outputs_of

__all__ = ["Outputs", "check_outputs", "outputs_of"]
