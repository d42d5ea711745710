r"""Arrangements of hyperplanes {x : a_i·x + b_i = 0} of R^d, and how many faces they have.

By Whitney's theorem the characteristic polynomial is χ(t) = Σ_S (−1)^{|S|} t^{d − rank S}, over the
sets S of hyperplanes with a common point, the empty one included. By Zaslavsky's theorem (*Facing
up to arrangements*, 1975) there are |χ(−1)| regions, and |χ(1)| bounded ones if the rank is d. The
faces of dimension k are the regions of the arrangements inside the flats of dimension k; a flat is
numbered by the set S of all hyperplanes that contain it, and its arrangement has the sets T ⊇ S.

Any position is allowed: parallel and equal hyperplanes, many through one point. A row a_i = 0 is no
hyperplane, and it is left out. Ranks are proved on balls, and so are the counts; in floats they go
by the threshold of `rankcheck.linalg.rank`. A network with one hidden layer has the regions of its
rows; for deeper networks, and in boxes, see :func:`rankcheck.regions.region_arrays`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb

import torch

from rankcheck.theory.linalg import Array, rank

#: There are 2^n sets of n hyperplanes, and all are looked at.
MOST = 10


@dataclass(frozen=True, eq=False)
class Arrangement:
    """n hyperplanes of R^d, one arrangement for each index of the batch axes *B.

    >>> A = torch.tensor([[1, 0], [0, 1], [1, 1]], dtype=torch.float64)
    >>> lines = Arrangement(A, torch.tensor([0, 0, -1], dtype=torch.float64))  # a triangle
    >>> lines.regions, lines.bounded, lines.faces
    (tensor(7), tensor(1), tensor([3, 9, 7]))

    Args:
        normals: a_1, ..., a_n as rows, (*B, n, d), such as a weight matrix.
        offsets: b, (*B, n), such as its biases.

    Raises:
        ValueError: the shapes do not fit, or there are more than `MOST` hyperplanes.
    """

    normals: Array
    offsets: Array

    def __post_init__(self) -> None:
        if self.normals.shape[:-1] != self.offsets.shape or self.offsets.ndim == 0:
            raise ValueError(
                f"received normals of shape {tuple(self.normals.shape)} and offsets of shape "
                f"{tuple(self.offsets.shape)}; expected (*B, n, d) and (*B, n)"
            )
        if self.offsets.shape[-1] > MOST:
            raise ValueError(
                f"received {self.offsets.shape[-1]} hyperplanes; an arrangement has {MOST} at most"
            )

    @cached_property
    def _chosen(self) -> torch.Tensor:
        """The members of each set of hyperplanes, bools (2^n, n): set m has the bits of m."""
        n = self.offsets.shape[-1]
        shifts = torch.arange(n, device=self.offsets.device)
        return (torch.arange(2**n, device=shifts.device)[:, None] >> shifts) % 2 == 1

    @cached_property
    def _ranks(self) -> torch.Tensor:
        """The rank of the normals of each set, (*B, 2^n)."""
        normals = self.normals.unsqueeze(-3)
        return rank(torch.where(self._chosen[..., None], normals, 0 * normals))

    @cached_property
    def _augmented_ranks(self) -> torch.Tensor:
        """The rank of the rows (a_i, b_i) of each set, (*B, 2^n)."""
        rows = torch.cat((self.normals, self.offsets.unsqueeze(-1)), -1).unsqueeze(-3)
        return rank(torch.where(self._chosen[..., None], rows, 0 * rows))

    @cached_property
    def _signs(self) -> torch.Tensor:
        """(−1)^|S| for the sets of hyperplanes with a common point, 0 for all others; (*B, 2^n)."""
        plane = (self.normals != 0).any(-1).unsqueeze(-2)
        central = (self._augmented_ranks == self._ranks) & (plane | ~self._chosen).all(-1)
        return torch.where(central, 1 - self._chosen.sum(-1) % 2 * 2, 0)

    @property
    def rank(self) -> torch.Tensor:
        """The dimension that the normals span, integers (*B)."""
        return self._ranks[..., -1]

    @property
    def is_general(self) -> torch.Tensor:
        """Whether the hyperplanes are in general position, bools (*B).

        Any d of the normals, or fewer, are independent, and no d + 1 hyperplanes have a common
        point.
        """
        d, size = self.normals.shape[-1], self._chosen.sum(-1)
        small = (size > d) | (self._ranks == size)
        return (small & ((size != d + 1) | (self._augmented_ranks > d))).all(-1)

    @property
    def regions(self) -> torch.Tensor:
        """How many regions the complement of the hyperplanes has, integers (*B)."""
        return (self._signs * (1 - self._ranks % 2 * 2)).sum(-1)

    @property
    def bounded(self) -> torch.Tensor:
        """How many of the regions are bounded, integers (*B)."""
        full = self.rank == self.normals.shape[-1]
        return torch.where(full, self._signs.sum(-1).abs(), 0)

    @property
    def faces(self) -> torch.Tensor:
        """How many faces of dimension 0, ..., d there are, integers (*B, d + 1).

        Those of dimension d are the regions; the faces are disjoint and fill R^d.
        """
        chosen, signs, ranks = self._chosen, self._signs, self._ranks
        d = self.normals.shape[-1]
        inside = (chosen[:, None] | ~chosen).all(-1)  # whether set T (a row) contains set S
        weights = signs * (1 - ranks % 2 * 2)
        restricted = (inside * weights.unsqueeze(-1)).sum(-2) * (1 - chosen.sum(-1) % 2 * 2)
        restricted = restricted * (1 - ranks % 2 * 2)
        # A flat is a set with a common point to which none can be added at the same rank.
        larger = inside & ~inside.mT
        same = (signs != 0).unsqueeze(-1) & (ranks.unsqueeze(-1) == ranks.unsqueeze(-2))
        flat = (signs != 0) & ~(larger & same).any(-2)
        dimensions = torch.arange(d + 1, device=ranks.device)
        which = flat.unsqueeze(-1) & (d - ranks.unsqueeze(-1) == dimensions)
        return (which * restricted.unsqueeze(-1)).sum(-2)


def most_regions(n: int, d: int) -> int:
    """Σ_{i ≤ d} C(n, i): the most regions of n hyperplanes of R^d, attained in general position.

    >>> most_regions(3, 2)
    7
    """
    return sum(comb(n, i) for i in range(d + 1))


def most_bounded_regions(n: int, d: int) -> int:
    """C(n − 1, d): the most bounded regions of n ≥ 1 hyperplanes of R^d, in general position."""
    return comb(n - 1, d)


def most_faces(n: int, d: int, k: int) -> int:
    """C(n, d − k) Σ_{i ≤ k} C(n − d + k, i): the most faces of dimension k, in general position.

    Any d − k of the hyperplanes meet in a flat of dimension k, and the others cut it; no flat if
    there are fewer (Buck, *Partition of space*, 1943).
    """
    return comb(n, d - k) * most_regions(n - d + k, k) if n >= d - k else 0
