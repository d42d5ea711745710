"""What an audit finds of parts of a network: distributions, ranks, layers, blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["BlockFacts", "LayerFacts", "Quantiles", "RankFacts", "is_clear", "most_common"]


def most_common(counts: Mapping[int, int]) -> int:
    """The rank with the largest count, the smallest if there are several; 0 without any."""
    return min(counts, key=lambda rank: (-counts[rank], rank), default=0)


def is_clear(rank: int, counts: Mapping[int, int], undecided: int) -> bool:
    """Whether a rank that was counted is to be shown without a question mark.

    Args:
        counts: how many matrices have which rank.
        undecided: of how many of them the rank is not separated, whichever it is.
    """
    return 2 * undecided < sum(counts.values()) and undecided < counts.get(rank, 0)


@dataclass(frozen=True)
class Quantiles:
    """The distribution of a quantity over the data."""

    least: float
    quarter: float
    median: float
    three_quarters: float
    most: float


@dataclass(frozen=True)
class RankFacts:
    """The numerical rank of a matrix, and how clear it is.

    Attributes:
        rank: how many singular values exceed `tolerance`.
        gap: s_rank / s_{rank + 1}; None where one of the two is missing or zero, or the quotient is
            no float.
        tolerance: the absolute threshold that was used.
        separated: whether the gap is at least `GAP` of `rankcheck.audit.ranks`, or None; a rank
            that is not separated is undecided.
    """

    rank: int
    gap: float | None
    tolerance: float
    separated: bool

    @property
    def text(self) -> str:
        """The rank, with a question mark if it is undecided: `8?`."""
        return f"{self.rank}{'' if self.separated else '?'}"


@dataclass(frozen=True)
class LayerFacts:
    """One affine map z ↦ Wz + b, the ℓ-th of L.

    Attributes:
        name: as in the model's file.
        shape: (n_ℓ, n_{ℓ−1}), that of W.
        weights: ‖W‖_F².
        bias: ‖b‖².
        singular_values: of W, the largest first.
        near_one: how many of them are within `NEAR` of 1, that of `rankcheck.audit.ranks`.
        rank: the numerical rank of W.
        stable_rank: ‖W‖_F² / ‖W‖_op². 0 for W = 0, as are the next two.
        effective_rank: exp of the entropy of s_i / Σ s.
        participation: (Σ s_i²)² / Σ s_i⁴.
        distance: Σ_i (s_i − 1_{i ≤ k})², the squared distance of W to the partial isometries of
            rank k, with the k of the audit; None if W has no k singular values.
        imbalance: the largest |in − out| / (in + out) over the neurons behind this layer, where in
            is the squared norm of the incoming weights and the bias, and out that of the outgoing
            weights. None for the last layer, and 0 for a neuron without both.
        dead: neurons behind this layer that are at most 0 at all points of the data; None for the
            last layer, or without data. For slopes other than 0 these are neurons that are linear
            on the data as well, with the slope a.
        linear: neurons that are at least 0 at all points. One that is always 0 is dead as well.
        bent: neurons that are both above and below 0 at points of the data.
        energy: the mean of ‖α_ℓ‖² over the data, with α_L = f; None without.
        representation: the singular values of the matrix of the α_ℓ(x_i), divided by √N, the
            largest first, min(N, n_ℓ) of them; None without data. They are roots of eigenvalues, so
            what is below some 10⁻⁷ of the largest is rounding, and given as 0.
        kind: what it is, in words: `linear`, `convolution`.
        complete: whether all singular values are there. Where only the largest ones are, the rank
            is at least the one given if none of them counts as zero, and `near_one` counts among
            these.
        copies: on how many rows, such as tokens, the same matrix acts; all figures are of one.
    """

    name: str
    shape: tuple[int, int]
    weights: float
    bias: float
    singular_values: tuple[float, ...]
    near_one: int
    rank: RankFacts
    stable_rank: float
    effective_rank: float | None
    participation: float | None
    distance: float | None = None
    imbalance: float | None = None
    dead: int | None = None
    linear: int | None = None
    bent: int | None = None
    energy: float | None = None
    representation: tuple[float, ...] | None = None
    kind: str = "linear"
    complete: bool = True
    copies: int = 1

    @property
    def rank_text(self) -> str:
        """`8`, `8?`, or `≥ 32` where none of the singular values that are there counts as zero."""
        if self.complete or self.rank.rank < len(self.singular_values):
            return self.rank.text
        return f"≥ {self.rank.rank}"


@dataclass(frozen=True)
class BlockFacts:
    """A part of a network that is no chain, with one way in and one way out.

    Attributes:
        name: what the names of its layers have in common.
        kind: `chain`, `residual` (a branch is added to the input, or to what a shortcut makes of
            it) or `branches`.
        layers: the names of its layers with weights.
        shape: (m, n): numbers that come out, and that go in; of one row if it is `rowwise`.
        rowwise: whether it acts on every row, such as a token, alike and alone; then all that
            follows is of one row, and a row is a point.
        depth: the most layers with weights on a path through it.
        cost: the squares of its parameters, summed.
        unclaimed: why no theorem speaks of it, in a sentence; empty where `least_cost` does.
        least_cost: what every ReLU chain of this depth with the same map costs at least:
            depth · max ‖J(x)‖_{S^{2/depth}}^{2/depth} over the points off kinks
            (rank.jacobian-bounds-cost). A shortcut carries the identity for nothing, a chain pays
            for it. None without data, without depth, or where the block is not piecewise linear.
        imbalance: the largest |in − out| / (in + out) over the hidden neurons or channels between
            two of its layers; None if it has none.
        balanced: its cost after rescaling hidden neurons or channels with the same function; None
            if their activations are not homogeneous, or it has none.
        points: at how many of its inputs J, the Jacobian of the block, was taken.
        ranks: at how many of these J has which numerical rank.
        undecided: at how many this rank is not clear.
        gaps: of s_k / s_{k+1}, as in `DataFacts`.
        singular_values: of J, the first ones, over these points.
        branch: of a residual block, those of the Jacobian of what is added; empty for others.
        branch_ranks: at how many points that Jacobian has which numerical rank.
        branch_undecided: at how many points that rank is not clear.
        complete: whether all singular values of J were taken. Where only the largest ones were, a
            rank is at least the one given if none of them counts as zero.
    """

    name: str
    kind: Literal["chain", "residual", "branches"]
    layers: tuple[str, ...]
    shape: tuple[int, int]
    rowwise: bool
    depth: int
    cost: float
    unclaimed: str
    least_cost: float | None = None
    imbalance: float | None = None
    balanced: float | None = None
    points: int = 0
    ranks: Mapping[int, int] = field(default_factory=dict)
    undecided: int = 0
    gaps: Quantiles | None = None
    singular_values: tuple[Quantiles, ...] = ()
    branch: tuple[Quantiles, ...] = ()
    branch_ranks: Mapping[int, int] = field(default_factory=dict)
    branch_undecided: int = 0
    complete: bool = True

    @property
    def rank_text(self) -> str:
        """The rank that J has at most points: `8`, `8?` if it is not clear, or `≥ 8`."""
        return _text(self.ranks, self.undecided, None if self.complete else self.singular_values)

    @property
    def branch_rank_text(self) -> str:
        """The same for the Jacobian of the branch."""
        return _text(
            self.branch_ranks, self.branch_undecided, None if self.complete else self.branch
        )


def _text(counts: Mapping[int, int], undecided: int, largest: Sized | None) -> str:
    """Of counted ranks; `largest` are the singular values that were taken, if they are not all."""
    if not counts:
        return ""
    rank = most_common(counts)
    if largest is not None and rank >= len(largest):
        return f"≥ {rank}"
    return f"{rank}{'' if is_clear(rank, counts, undecided) else '?'}"
