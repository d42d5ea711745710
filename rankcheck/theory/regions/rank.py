"""The Jacobian rank of a network over a box: the largest rank over all of its regions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from rankcheck.balls import is_ball
from rankcheck.theory.linalg import rank, rank_gap
from rankcheck.theory.regions.box import Corner, regions
from rankcheck.theory.regions.cells import Regions
from rankcheck.theory.regions.exact import Floats


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


def jacobian_rank(net: Any, low: Corner, high: Corner, *, exact: bool = False) -> JacobianRank:
    """rank_J(f; Ω) on the open box Ω: the largest rank of Jf over all regions, with a witness.

    The ranks are those of rankcheck.linalg in floats, and of rational matrices with ``exact``:
    then the result is proved, from above and from below, for the network with exactly these floats
    as parameters. On balls it is always proved, so a claim about it can be certified. Arguments and
    errors as for :func:`rankcheck.regions.regions`.
    """
    proved = exact or any(is_ball(W) for W in net.weights)
    return highest_rank(regions(net, low, high), exact=proved)


def highest_rank(cells: Regions, *, exact: bool = False) -> JacobianRank:
    """The largest rank of a Jacobian among the regions, in floats or proved."""
    J = torch.from_numpy(np.ascontiguousarray(cells.jacobians))
    noise = _rounding(cells)
    ranks = rank(J, noise).numpy()
    if exact:
        best, region = _proved(cells, ranks)
        gap = math.inf
    else:
        region = int(ranks.argmax())
        best, gap = int(ranks[region]), float(rank_gap(J, noise).min())
    return JacobianRank(best, tuple(cells.exact_interior(region)), region, gap)


def _rounding(cells: Regions) -> float:
    """A bound on the rounding errors of the float Jacobians, in operator norm."""
    terms = sum(W.shape[1] + 2 for W in cells.weights)
    size: Floats = np.array([np.linalg.norm(W) for W in cells.weights])
    steepest = max(1.0, abs(float(cells.slope))) ** (len(size) - 1)
    return terms * 2.0**-52 * float(size.prod()) * steepest


def _proved(cells: Regions, guesses: np.ndarray) -> tuple[int, int]:
    """The largest exact rank and a region that has it.

    Regions are tried in descending order of their float rank, and skipped when their rank cannot
    be larger than the best so far: it is at most the rank of each weight matrix and, for ReLU, the
    number of active neurons of each layer.
    """
    limits = np.full(len(cells), min(W.rank() for W in cells.rational_weights))
    if cells.slope == 0:
        done = 0
        for W in cells.weights[:-1]:
            active = cells.patterns[:, done : done + len(W)].sum(axis=1)
            limits, done = np.minimum(limits, active), done + len(W)
    best, where = -1, 0
    for region in np.argsort(-guesses, kind="stable").tolist():
        if limits[region] > best:
            proved = cells.exact_jacobian(region).rank()
            if proved > best:
                best, where = proved, region
    return best, where
