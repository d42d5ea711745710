r"""Numerical ranks of trained networks.

A trained matrix nearly always has full rank up to rounding: regularisation makes singular values
small, never zero. What counts as zero here is a share `TOLERANCE` of the largest singular value,
besides rounding, and a rank is *separated* if the singular values fall there by the factor `GAP`.

Both were chosen on ReLU networks of depth 6 to 10 and width 10 to 20, trained on functions of one
and two linear combinations of eight inputs. For two, at ridge 10⁻³ and after 4 000 steps of
Adam, s_2/s_1 of Jf(x) was at least 0.12 at 200 points, and s_3/s_1 at most 0.006; after 20 000
steps s_3/s_1 was below 10⁻⁸, and the weights had two or three singular values above 0.05 s_1 and
the next one smaller by a factor 5 to 100. At ridge 10⁻⁴ and after 4 000 steps s_3/s_1 ran up to
0.2: such a network has no clear rank, and its points are undecided.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankcheck.audit.result import RankFacts
from rankcheck.theory.linalg import rank_threshold

#: Singular values up to this share of the largest one count as zero.
TOLERANCE = 0.05
#: A rank k is separated if s_k / s_{k+1} is at least this; one that is not is shown as `8?`.
#: The rank of an audit is that of most points, or of most layers where there are no data. It is
#: shown as `8?` if the rank is not separated at half of these or more, or at as many as have the
#: rank 8 at all (`rankcheck.audit.result.is_clear`).
GAP = 10.0
#: A singular value is near 1 if it differs by no more: in print by the order L^{−1/2}.
NEAR = 0.25


def ranks_and_gaps(A: Tensor, s: Tensor, noise: float | Tensor = 0.0) -> tuple[Tensor, Tensor]:
    """Of matrices A (*B, m, n) with singular values s: their ranks and gaps, (*B).

    The threshold is τ(A) of :mod:`rankcheck.linalg` with `TOLERANCE` · s_1 + noise for its noise.
    The gap s_k / s_{k+1} is infinite if one of the two is missing or zero.
    """
    rank = (s > rank_threshold(A, s, TOLERANCE * s[..., 0] + noise)).sum(-1)
    ends = torch.cat((torch.full_like(s[..., :1], math.inf), s, 0 * s[..., :1]), -1)
    place = rank.unsqueeze(-1)
    gap = (ends.gather(-1, place) / ends.gather(-1, place + 1)).squeeze(-1)
    return rank, gap


def rank_facts(rank: int, gap: float) -> RankFacts:
    """As numbers; an infinite gap is None."""
    return RankFacts(rank, gap if math.isfinite(gap) else None, gap >= GAP)
