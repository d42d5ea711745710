"""What an audit finds: plain numbers, which are shown and written as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any, Literal

from rankcheck.claims.signs import RelationKind
from rankcheck.notebook import InNotebooks

#: The version of the JSON.
SCHEMA = 3

#: What more an audit says with data.
WITHOUT_DATA = (
    "of the weights alone; --data FILE (Python: data=) adds the ranks and singular values of "
    "Jacobians, neurons that never fire or always, the tangent kernel, and most of the theorems"
)


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
        rank: how many singular values exceed the share `TOLERANCE` of the largest.
        gap: s_rank / s_{rank + 1}; None where one of the two is missing or zero, or the quotient is
            no float.
        separated: whether the gap is at least `GAP` of `rankcheck.audit.ranks`, or None; a rank
            that is not separated is undecided.
    """

    rank: int
    gap: float | None
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
    """

    name: str
    shape: tuple[int, int]
    weights: float
    bias: float
    singular_values: tuple[float, ...]
    near_one: int
    rank: RankFacts
    stable_rank: float
    effective_rank: float
    participation: float
    distance: float | None = None
    imbalance: float | None = None
    dead: int | None = None
    linear: int | None = None
    bent: int | None = None
    energy: float | None = None
    representation: tuple[float, ...] | None = None


@dataclass(frozen=True)
class BoundByRank:
    """‖θ‖² − kL ≥ 2 Σ_{i ≤ k} log s_i(Jf(x)), for one k: Theorem 3 of `bottleneck`, truncated.

    Attributes:
        rank: k.
        points: at how many points Jf has this numerical rank.
        excess: ‖θ‖² − kL.
        logs: the largest 2 Σ_{i ≤ k} log s_i(Jf(x)) over the data.
    """

    rank: int
    points: int
    excess: float
    logs: float


@dataclass(frozen=True)
class DataFacts:
    """What was measured at the points of the data.

    Attributes:
        points: how many points there are.
        ranks: how many points have which numerical rank of Jf.
        undecided: at how many points s_k / s_{k+1} is less than `GAP`, so that k is not clear.
        gaps: of s_k / s_{k+1} at the points where both exist and are positive; None without any.
        singular_values: of Jf(x), by i = 1, 2, ..., over the data.
        schatten: of ‖Jf(x)‖_{S^{2/L}}^{2/L}, which is at most ‖θ‖²/L.
        bounds: ‖θ‖² − kL against the Jacobians, for each rank k that occurs.
        kinks: at how many points a hidden pre-activation is exactly 0.
        kernel_trace: of tr Θ(x, x), over the weights and those biases that there are.
        kernel_top: the largest eigenvalue of Θ(X, X) / K on K of the points, at even distances in
            the order of the data.
        kernel_points: K.
        egop: the spectrum of C, the mean of Jf(x)ᵀ Jf(x) over the data, the largest first; what is
            rounding is 0.
        index_rank: the numerical rank of C^{1/2}: so many directions of the input matter somewhere.
        least_cost: L max ‖Jf(x)‖_{S^{2/L}}^{2/L} over the points that are on no kink, where Jf is
            the derivative of f: no network of this depth with the same function costs less. None if
            all points are on kinks.
        dead_cost: what the weights and biases of the dead neurons cost, the incoming and the
            outgoing ones. Without these neurons the network has the same values at the points of
            the data, and others elsewhere. None for slopes other than 0.
    """

    points: int
    ranks: Mapping[int, int]
    undecided: int
    gaps: Quantiles | None
    singular_values: tuple[Quantiles, ...]
    schatten: Quantiles
    bounds: tuple[BoundByRank, ...]
    kinks: int
    kernel_trace: Quantiles
    kernel_top: float
    kernel_points: int
    egop: tuple[float, ...]
    index_rank: RankFacts
    least_cost: float | None = None
    dead_cost: float | None = None


@dataclass(frozen=True)
class Hypothesis:
    """A condition of a theorem, and whether this network meets it.

    Attributes:
        text: in words, with formulas in LaTeX.
        met: None if it is undecided.
        figure: the number that says so, as a text.
    """

    text: str
    met: bool | None
    figure: str = ""


@dataclass(frozen=True)
class Side:
    """One relation of a theorem, at the point where it is closest to failing.

    Attributes:
        label: which relation of the claim.
        kind: as of a `Relation`.
        lhs, rhs: both sides there.
        slack: rhs − lhs, or −|rhs − lhs| for `eq`.
        tolerance: what is rounding.
        point: the number of that point in the data, from 0; of a pair, the number of the first one.
            None for a statement about all points, or about none.
        asserted: at how many of the points that were checked the relation is asserted.
        certified: both sides in ball arithmetic prove it there. False if they were tried and do not
            prove it, which does not mean that they disprove it; None if they were not tried.
    """

    label: str
    kind: RelationKind
    lhs: float
    rhs: float
    slack: float
    tolerance: float
    point: int | None
    asserted: int
    certified: bool | None = None


@dataclass(frozen=True)
class TheoremFacts:
    """A claim, evaluated on this network.

    Attributes:
        claim: its id.
        title, statement: as the claim has them.
        reference: the document and the place, as a text.
        hypotheses: its conditions.
        finding: `holds`; `not applicable`, a hypothesis is not met; `not evaluated`, it would take
            too many operations; `undecided`, floats cannot tell
            (`message` says why); `fails`, which means that a file was misread or that rankcheck has
            a bug.
        sides: its relations, in the order of the claim; empty if it is not applicable.
        checked: at how many points or pairs of the data it was evaluated, or on how many points
            together; None for a statement about the network alone.
        message: for a person, if the finding needs words.
    """

    claim: str
    title: str
    statement: str
    reference: str
    hypotheses: tuple[Hypothesis, ...]
    finding: Literal["holds", "not applicable", "not evaluated", "undecided", "fails"]
    sides: tuple[Side, ...] = ()
    checked: int | None = None
    message: str = ""

    @property
    def closest(self) -> Side | None:
        """The relation with the least slack, relative to its larger side; None without any."""

        def relative(side: Side) -> float:
            size = max(abs(side.lhs), abs(side.rhs))
            return side.slack / size if size else 0.0

        return min(self.sides, key=relative, default=None)


@dataclass(frozen=True)
class Balanced:
    """The cheapest network with the same function that rescaling single neurons can reach.

    Attributes:
        cost: its ‖θ‖².
        change: the largest |f(x) − g(x)| over the data, relative to the largest |f(x)|; None
            without data.
        converged: whether it was found; if not, the cost is that of the network as it is.
    """

    cost: float
    change: float | None
    converged: bool = True


@dataclass(frozen=True)
class OutputFacts:
    """The outputs of somebody's own model, which agree with those of the network as it was read.

    Attributes:
        points: at how many points; at all of them they agree.
        difference: the largest |y − f(x)|, for a component of the output y.
        spread: the root of the mean square of the components about their means over the points.
    """

    points: int
    difference: float
    spread: float

    @property
    def sentence(self) -> str:
        """How closely they agree."""
        at = f"at all {self.points} points" if self.points != 1 else "at the one point"
        share = self.difference / self.spread if self.spread else 0.0
        return f"they agree {at}, to {share:.1e} of their spread, which rounding explains"


@dataclass(frozen=True)
class ModelFacts:
    """The network as a whole; `Model` says what the fields mean.

    Attributes:
        outputs: what was compared with the outputs of somebody's own model; None if nothing was.
    """

    source: str
    depth: int
    widths: tuple[int, ...]
    slope: float
    cost: float
    stored_cost: float
    folded: tuple[str, ...]
    assumed: tuple[str, ...]
    guess: str = ""
    outputs: OutputFacts | None = None

    @property
    def text(self) -> str:
        """Its depth, widths and slope, as a text."""
        return f"depth {self.depth}, widths {self.chain}, slope {self.slope:g}"

    @property
    def is_assumed(self) -> bool:
        """Whether the activations, or that it is a chain, were assumed."""
        return bool(self.guess)

    @property
    def chain(self) -> str:
        """The widths as a text, a run of more than three as one: `10 → 20 (4 times) → 5`."""
        runs = [(width, len(list(run))) for width, run in groupby(self.widths)]
        return " → ".join(
            f"{width} ({length} times)" if length > 3 else " → ".join([str(width)] * length)
            for width, length in runs
        )


@dataclass(frozen=True, repr=False)
class Audit(InNotebooks):
    """What was found about a network.

    Attributes:
        name: of the file, or of the class.
        rank: k, the numerical rank of Jf that most points have, the smallest of several; without
            data, that which most layers have.
        data: None if there were no data.
        words: what follows, in sentences; what asks for something comes first.
    """

    name: str
    model: ModelFacts
    rank: int
    layers: tuple[LayerFacts, ...]
    balanced: Balanced
    data: DataFacts | None = None
    theorems: tuple[TheoremFacts, ...] = ()
    words: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def ceiling(self) -> float:
        """‖θ‖² / L, at least the rank to the limit of infinite depth of what costs so little."""
        return self.model.cost / self.model.depth

    @property
    def rank_is_clear(self) -> bool:
        """Whether the rank is separated at most points or, without data, in most layers."""
        if self.data is not None:
            return is_clear(self.rank, self.data.ranks, self.data.undecided)
        ranks = [layer.rank for layer in self.layers]
        undecided = sum(not rank.separated for rank in ranks)
        return is_clear(self.rank, Counter(rank.rank for rank in ranks), undecided)

    @property
    def rank_text(self) -> str:
        """The rank: `8`, or `8?` if it is not clear."""
        return f"{self.rank}{'' if self.rank_is_clear else '?'}"

    @property
    def headline(self) -> str | None:
        """What has to be known first: that a chain or activations were assumed."""
        return self.model.guess or None

    def to_json(self) -> dict[str, Any]:
        """The audit as plain JSON, without NaN and Infinity."""
        data: dict[str, Any] = json.loads(json.dumps(asdict(self), allow_nan=False))
        head = {"schema": SCHEMA, "headline": self.headline, "rank_text": self.rank_text}
        return head | data | {"ceiling": self.ceiling}
