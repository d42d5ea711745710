"""What an audit finds: plain numbers, which are shown and written as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any, Literal

from rankcheck.audit.part_facts import BlockFacts, LayerFacts, Quantiles, RankFacts, is_clear
from rankcheck.claims.signs import RelationKind
from rankcheck.notebook import InNotebooks

__all__ = [
    "Audit",
    "Balanced",
    "BlockFacts",
    "BoundByRank",
    "DataFacts",
    "Hypothesis",
    "LayerFacts",
    "ModelFacts",
    "OutputFacts",
    "Quantiles",
    "RankFacts",
    "Side",
    "TheoremFacts",
]

#: The version of the JSON.
SCHEMA = 2


@dataclass(frozen=True)
class BoundByRank:
    """‖θ‖² − kL ≥ 2 Σ_{i ≤ k} log s_i(Jf(x)), for one k: Theorem 3 of `bottleneck`, truncated.

    Attributes:
        rank: k.
        points: at how many points Jf has this numerical rank.
        excess: ‖θ‖² − kL.
        logs: the largest 2 Σ_{i ≤ k} log s_i(Jf(x)) over the data; None if some s_k vanishes at
            every point.
    """

    rank: int
    points: int
    excess: float
    logs: float | None


@dataclass(frozen=True)
class DataFacts:
    """What was measured at the points of the data.

    Attributes:
        points: how many points there are.
        ranks: how many points have which numerical rank of Jf.
        undecided: at how many points s_k / s_{k+1} is less than `GAP`, so that k is not clear.
        gaps: of s_k / s_{k+1} at the points where both exist and are positive; None without any.
        tolerance: relative to the largest singular value of Jf(x), what counts as zero.
        singular_values: of Jf(x), by i = 1, 2, ..., over the data.
        schatten: of ‖Jf(x)‖_{S^{2/L}}^{2/L}, which is at most ‖θ‖²/L of a chain; None for others.
        bounds: ‖θ‖² − kL against the Jacobians, by k; none for a network that is no chain.
        kinks: at how many points a hidden pre-activation is exactly 0.
        kernel_trace: of tr Θ(x, x), over all parameters; None where that takes too long.
        kernel_top: the largest eigenvalue of Θ(X, X) / K on K of the points, at even distances in
            the order of the data.
        kernel_points: K.
        egop: the spectrum of C, the mean of Jf(x)ᵀ Jf(x) over the data, the largest first; what is
            rounding is 0. Empty where the inputs are too many.
        index_rank: the numerical rank of C^{1/2}; gap and tolerance are of its singular values.
            None without a spectrum.
        least_cost: L max ‖Jf(x)‖_{S^{2/L}}^{2/L} over the points that are on no kink, where Jf is
            the derivative of f: no chain of this depth with the same function costs less, whatever
            the network is. None if all points are on kinks, or f is not piecewise linear.
        dead_cost: what the weights and biases of the dead neurons cost, the incoming and the
            outgoing ones. Without these neurons the network has the same values at the points of
            the data, and others elsewhere. None for slopes other than 0.
        complete: whether all singular values of Jf were taken, and not the largest ones alone.
    """

    points: int
    ranks: Mapping[int, int]
    undecided: int
    gaps: Quantiles | None
    tolerance: float
    singular_values: tuple[Quantiles, ...]
    schatten: Quantiles | None
    bounds: tuple[BoundByRank, ...]
    kinks: int
    kernel_trace: Quantiles | None
    kernel_top: float
    kernel_points: int
    egop: tuple[float, ...]
    index_rank: RankFacts | None
    least_cost: float | None = None
    dead_cost: float | None = None
    complete: bool = True

    @property
    def taken(self) -> int:
        """At how many of the points Jf was taken: at all, unless the network is large."""
        return sum(self.ranks.values())


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
        slope: None for a network that is no chain; `activations` names what it has then.
        widths: of a network that is no chain, those of its input and its output.
        activations: the names of all kinds of activations.
        outputs: what was compared with the outputs of somebody's own model; None if nothing was.
    """

    source: str
    depth: int
    widths: tuple[int, ...]
    slope: float | None
    cost: float
    stored_cost: float
    folded: tuple[str, ...]
    assumed: tuple[str, ...]
    guess: str = ""
    activations: tuple[str, ...] = ()
    outputs: OutputFacts | None = None

    @property
    def is_chain(self) -> bool:
        """Whether it is a chain of affine maps, which the theorems are about."""
        return self.slope is not None

    @property
    def text(self) -> str:
        """Its depth, widths and activations, as a text."""
        if self.slope is not None:
            return f"depth {self.depth}, widths {self.chain}, slope {self.slope:g}"
        kinds = f"activations {', '.join(self.activations)}" if self.activations else "affine"
        inside = f"{self.widths[0]} numbers in and {self.widths[-1]} out"
        return f"at most {self.depth} layers with weights on a path, {inside}, {kinds}"

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
        blocks: of a network that is no chain; empty for a chain, whose parts are its layers.
        first: what to do first, in sentences, the most useful one before the others; empty if
            nothing that was measured asks for anything.
        words: what follows, in sentences.
        seconds: how long it took.
    """

    name: str
    model: ModelFacts
    rank: int
    layers: tuple[LayerFacts, ...]
    balanced: Balanced
    data: DataFacts | None = None
    theorems: tuple[TheoremFacts, ...] = ()
    blocks: tuple[BlockFacts, ...] = ()
    first: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def ceiling(self) -> float:
        """‖θ‖² / L, at least the rank to the limit of infinite depth of what costs so little.

        Of a network that is no chain it bounds nothing.
        """
        return self.model.cost / max(1, self.model.depth)

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
        """The rank: `8`, `8?` if it is not clear, `≥ 8` if no other singular value was taken."""
        data = self.data
        if data is not None and not data.complete and self.rank >= len(data.singular_values):
            return f"≥ {self.rank}"
        return f"{self.rank}{'' if self.rank_is_clear else '?'}"

    @property
    def headline(self) -> str | None:
        """What has to be known first: that a chain or activations were assumed; that it is none."""
        if self.model.guess:
            return self.model.guess
        return None if self.model.is_chain else self._no_chain()

    def _no_chain(self) -> str:
        kinds = Counter(block.kind for block in self.blocks)
        number = kinds["residual"]
        what = [f"{number} residual block{'s' if number > 1 else ''}"] if number else []
        what += self.model.activations or ("no activation",)
        return f"No chain: {', '.join(what)}. Measured; no theorem is about the whole."

    def to_json(self) -> dict[str, Any]:
        """The audit as plain JSON, without NaN and Infinity."""
        data: dict[str, Any] = json.loads(json.dumps(asdict(self), allow_nan=False))
        head = {"schema": SCHEMA, "headline": self.headline, "rank_text": self.rank_text}
        return head | data | {"ceiling": self.ceiling}
