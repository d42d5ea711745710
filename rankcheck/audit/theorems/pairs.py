"""Which pairs of points theorems about two points are evaluated at."""

from __future__ import annotations

import torch
from torch import Tensor

from rankcheck.audit.theorems.hypotheses import Situation, shared_pattern
from rankcheck.audit.theorems.table import Theorem

__all__ = ["pairs_for"]

#: Points that may be compared with one another in search of pairs.
COMPARED = 64


def pairs_for(theorem: Theorem, at: Situation, number: int) -> Tensor:
    """Up to so many pairs of candidates, (n, 2), where the theorem says most.

    With the hypothesis of one region these are the pairs in one that are furthest apart; by its
    manner, those with the largest min(‖Jf(x)‖, ‖Jf(y)‖)·‖f(x) − f(y)‖; else those with the largest
    ‖Jf(x) − Jf(y)‖_F.
    """
    assert at.points is not None
    if shared_pattern in theorem.conditions:
        groups = [torch.tensor(members[:COMPARED]) for members in at.patterns.values()]
        best = [_farthest(_distances(at.points.x, some), some, number) for some in groups]
        values, pairs = (torch.cat(parts) for parts in zip(*best, strict=True))
        return pairs[values.argsort(descending=True, stable=True)[:number]]
    points = at.points.chosen(COMPARED).sort().values
    x = at.points.x[points.to(at.points.x.device)]
    if "far apart" in theorem.manner:
        norms, f = at.points.norms[points], at.net(x)
        distances = torch.cdist(f, f).cpu() * torch.minimum(norms.unsqueeze(0), norms.unsqueeze(1))
    else:
        J = at.net.jacobian(x).flatten(-2)
        distances = torch.cdist(J, J).cpu()
    return _farthest(distances, points, number)[1]


def _distances(x: Tensor, some: Tensor) -> Tensor:
    here = x[some.to(x.device)]
    return torch.cdist(here, here).cpu()


def _farthest(values: Tensor, points: Tensor, number: int) -> tuple[Tensor, Tensor]:
    """The largest values of pairs i < j, and the pairs."""
    i, j = torch.triu_indices(len(points), len(points), 1)
    largest = values[i, j].argsort(descending=True)[:number]
    pairs = torch.stack((points[i[largest]], points[j[largest]]), -1)
    return values[i, j][largest], pairs
