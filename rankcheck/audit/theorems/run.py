"""What the theorems say about a network and its data: each one, with its hypotheses and both sides.

A theorem is a claim of the catalogue; its body is evaluated on the network itself, and the
mathematics is that of the claim. `table` says which claims are taken, how, and why the others are
not. Points at which a hidden unit is at its kink are left out. How many points are taken is decided
by a budget of operations (`effort`), and which ones by `choice`. For a small network both sides are
computed in ball arithmetic as well, at the point where the floats are closest to failing.

A theorem cannot fail on a network that meets its hypotheses. Where floats seem to say so, that
point is looked at again: a numerical rank that is not clear leaves it undecided, and so do sides
that overflow. What remains is a bug of rankcheck, or weights that are not those of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import torch
from torch import Tensor

from rankcheck.audit.model import Model
from rankcheck.audit.result import TheoremFacts
from rankcheck.audit.theorems.certify import Certifier
from rankcheck.audit.theorems.check import Check
from rankcheck.audit.theorems.choice import CANDIDATES, choose_points
from rankcheck.audit.theorems.effort import jacobians, shared_out
from rankcheck.audit.theorems.hypotheses import Situation
from rankcheck.audit.theorems.sharp import sharp
from rankcheck.audit.theorems.table import TABLE, Theorem
from rankcheck.catalogue.collect import project
from rankcheck.catalogue.loader import load
from rankcheck.claims.claim import Claim

__all__ = ["check_theorems", "claims", "number_of_theorems"]

#: Operations for all theorems of an audit: at most eight seconds on one core.
BUDGET = 1.8e11
#: At most so many points for one theorem.
POINTS = 128
#: With fewer points a theorem says little.
LEAST: Mapping[str, int] = {"points": 1, "pairs": 1, "data": 8, "network": 1}
#: The theorems that are evaluated even if others are then too expensive.
FIRST = ("rank.jacobian-bounds-cost", "bottleneck.singular-values-near-one")


def check_theorems(
    model: Model,
    X: Tensor | None,
    *,
    device: torch.device | str = "cpu",
    points: int | None = None,
    certify: bool = True,
    progress: Callable[[int], None] | None = None,
    budget: float = BUDGET,
) -> tuple[TheoremFacts, ...]:
    """What each theorem that applies to networks says about this one, in the order of the table.

    Args:
        X: the data, (N, n_0) in float64; None leaves the theorems about the network alone.
        device: where the bodies run. Ball arithmetic runs on the CPU.
        points: at most so many points for one theorem; by default as many as the budget allows, up
            to `POINTS`.
        certify: prove both sides in ball arithmetic, if the network is small enough.
        progress: called with 1 after each theorem.
        budget: operations for all theorems together (`rankcheck.audit.theorems.effort`).
    """
    net = sharp(model.net.detach().to(device))
    most = POINTS if points is None else max(points, 0)
    candidates = None
    if X is not None:
        each = jacobians(net.widths, 1)
        affordable = max(min(len(X), CANDIDATES, int(budget / 32 / each)), 1)
        with torch.no_grad():
            candidates = choose_points(net, X.to(device), affordable)
    at = Situation(model, net, candidates, 0 if X is None else len(X))
    checks = [Check(claims()[each.claim], each, at) for each in _about(X is not None)]
    applicable = {check.claim.id: check for check in checks if check.obstacle is None}
    numbers = shared_out(
        {name: check.theorem.effort for name, check in applicable.items()},
        net.widths,
        {name: LEAST[check.theorem.on] for name, check in applicable.items()},
        {name: check.available(most) for name, check in applicable.items()},
        budget,
        FIRST,
    )
    certifier = Certifier(model.net) if certify else None
    found = []
    for check in checks:
        found.append(check.facts(numbers.get(check.claim.id, 0), certifier))
        if progress is not None:
            progress(1)
    return tuple(found)


def number_of_theorems(data: bool) -> int:
    """How many theorems are looked at, with data or without."""
    return len(_about(data))


def _about(data: bool) -> list[Theorem]:
    return [theorem for theorem in TABLE if data or theorem.on == "network"]


@cache
def claims() -> dict[str, Claim]:
    """The claims of the table by id, from the catalogue."""
    wanted = {theorem.claim for theorem in TABLE}
    return {claim.id: claim for claim in load(entry for entry in project() if entry.id in wanted)}
