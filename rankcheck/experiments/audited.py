"""The audit of a trained network, in short."""

from __future__ import annotations

from collections import Counter

from torch import Tensor

from rankcheck.audit.result import Audit, TheoremFacts
from rankcheck.audit.run import audit
from rankcheck.experiments.result import AuditFacts
from rankcheck.networks.network import Network

__all__ = ["audited"]


def audited(net: Network, X: Tensor, *, device: str = "cpu") -> tuple[AuditFacts, Audit]:
    """Audit a network on data (N, n_0) in float64; returns it in short, and whole."""
    found = audit(net, X, device=device)
    holding = [one for one in found.theorems if one.finding == "holds" and one.closest is not None]
    nearest = min(holding, key=_slack, default=None)
    closest = {}
    if nearest is not None and nearest.closest is not None:
        side = nearest.closest
        closest = {"claim": nearest.claim, "label": side.label, "lhs": side.lhs, "rhs": side.rhs}
    return AuditFacts(
        cost=found.model.cost,
        per_layer=found.ceiling,
        rank=found.rank,
        near_one=tuple(layer.near_one for layer in found.layers),
        imbalance=max((layer.imbalance or 0.0 for layer in found.layers), default=0.0),
        findings=dict(Counter(one.finding for one in found.theorems)),
        failing=tuple(one.claim for one in found.theorems if one.finding == "fails"),
        closest=closest,
    ), found


def _slack(one: TheoremFacts) -> float:
    """How far a theorem is from failing, relative to its larger side."""
    side = one.closest
    size = 0.0 if side is None else max(abs(side.lhs), abs(side.rhs))
    return side.slack / size if side is not None and size else 0.0
