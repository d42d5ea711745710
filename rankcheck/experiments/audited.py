"""The audit of a trained network, in short."""

from __future__ import annotations

from collections import Counter

from torch import Tensor

from rankcheck.audit.result import Audit
from rankcheck.audit.run import audit
from rankcheck.experiments.result import AuditFacts
from rankcheck.networks.network import Network

__all__ = ["audited"]


def audited(net: Network, X: Tensor, *, device: str = "cpu") -> tuple[AuditFacts, Audit]:
    """Audit a network on data (N, n_0) in float64; returns it in short, and whole."""
    found = audit(net, X, device=device)
    return AuditFacts(
        cost=found.model.cost,
        per_layer=found.ceiling,
        rank=found.rank,
        near_one=tuple(layer.near_one for layer in found.layers),
        saved=saved(found),
        findings=dict(Counter(one.finding for one in found.theorems)),
        failing=tuple(one.claim for one in found.theorems if one.finding == "fails"),
    ), found


def saved(found: Audit) -> float:
    """1 − ‖θ‖²/‖θ′‖², where θ′ are the parameters and θ those after balancing the neurons."""
    cost = found.model.cost
    return max(0.0, 1 - found.balanced.cost / cost) if cost else 0.0
