"""The Jacobian rank of a network over a box, a maximum over all of its regions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch

from rankcheck.linalg import rank, rank_gap
from rankcheck.regions.cells import Regions
from rankcheck.regions.exact import Floats


@dataclass(frozen=True)
class JacobianRank:
    """rank_J(f; Ω) = ``rank``, attained at ``point`` (rationals), inside region number ``region``.

    ``gap`` ≥ 1 is the factor by which the rounding threshold of the float ranks could be moved
    without changing any of them (see rankcheck.linalg.rank_gap); infinite when the rank is proved.
    """

    rank: int
    point: tuple[Fraction, ...]
    region: int
    gap: float


def highest_rank(regions: Regions, *, exact: bool = False) -> JacobianRank:
    """The largest rank of a Jacobian among the regions, in floats or proved."""
    J = torch.from_numpy(np.ascontiguousarray(regions.jacobians))
    noise = _rounding(regions)
    ranks = rank(J, noise).numpy()
    if exact:
        best, region = _proved(regions, ranks)
        gap = math.inf
    else:
        region = int(ranks.argmax())
        best, gap = int(ranks[region]), float(rank_gap(J, noise).min())
    return JacobianRank(best, tuple(regions.exact_interior(region)), region, gap)


def _rounding(regions: Regions) -> float:
    """A bound on the rounding errors of the float Jacobians, in operator norm."""
    terms = sum(W.shape[1] + 2 for W in regions.weights)
    size: Floats = np.array([np.linalg.norm(W) for W in regions.weights])
    return terms * 2.0**-52 * float(size.prod())


def _proved(regions: Regions, guesses: np.ndarray) -> tuple[int, int]:
    """The largest exact rank and a region that has it.

    Likely regions come first, and a region is passed over when its rank cannot be larger: it is at
    most the rank of each weight matrix and, for ReLU, the number of active neurons of each layer.
    """
    limits = np.full(len(regions), min(W.rank() for W in regions.rational_weights))
    if regions.slope == 0:
        done = 0
        for W in regions.weights[:-1]:
            active = regions.patterns[:, done : done + len(W)].sum(axis=1)
            limits, done = np.minimum(limits, active), done + len(W)
    best, where = -1, 0
    for region in np.argsort(-guesses, kind="stable").tolist():
        if limits[region] > best:
            proved = regions.exact_jacobian(region).rank()
            if proved > best:
                best, where = proved, region
    return best, where
