"""How audits evaluate a claim on a trained network, as its `audit=` says.

    audit="at points: |a| ≤ 1, rank ≥ 1; ranks, heavy"
    audit="left out: it compares two networks"

First comes on what the claim is evaluated: *at points* (the relations are checked at each of them),
*at pairs* of points, *on data* as a whole, or *on the network* alone. Then come the hypotheses, by
their names in `HYPOTHESES`; what has points asks for no kinks besides. Behind a semicolon stands
what the body takes, by the words of `MANNERS`. A theorem that is evaluated is true for every
network and all data that meet its hypotheses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeAlias

import torch
from torch import Tensor

from rankcheck.audit.layers import relative_imbalances
from rankcheck.audit.model import Model
from rankcheck.audit.result import Hypothesis
from rankcheck.audit.theorems.choice import Points
from rankcheck.audit.theorems.evaluate import sharp
from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.claim import Claim
from rankcheck.theory.data.moments import total_variance
from rankcheck.theory.networks import Network

Widths: TypeAlias = tuple[int, ...]

#: The largest relative imbalance of a neuron that counts as balanced.
BALANCED = 2.0**-40


@dataclass(frozen=True, eq=False)
class Situation:
    """A network, and the points at which theorems about it are evaluated.

    Attributes:
        model: the model, on the CPU.
        net: its network, without batch axes, where the theorems are evaluated.
        points: the candidates among the data; None without data.
        total: how many points the data have.
    """

    model: Model
    net: Network
    points: Points | None
    total: int

    @cached_property
    def slope(self) -> float:
        """The slope a."""
        return float(self.net.slope)

    @cached_property
    def imbalance(self) -> float:
        """The largest of `relative_imbalances`; 0 without hidden neurons."""
        shares = relative_imbalances(self.net)
        return max((float(share.nan_to_num(nan=1.0).amax()) for share in shares), default=0.0)

    @cached_property
    def balanced(self) -> Network:
        """The network itself if it is balanced; otherwise the balanced one with the same function.

        Raises:
            ArithmeticError: if balancing does not converge, or overflows.
        """
        if self.imbalance <= BALANCED:
            return self.net
        if not all(bool((w * w).isfinite().all()) for w in (*self.net.weights, *self.net.biases)):
            raise ArithmeticError("the squares of the weights overflow")
        net = sharp(self.model.balanced.detach().to(self.net.weights[0].device))
        if not all(bool(w.isfinite().all()) for w in (*net.weights, *net.biases)):
            raise ArithmeticError("the weights of the balanced network overflow")
        return net

    @cached_property
    def common_rank(self) -> int | None:
        """The rank k ≥ 1 of Jf that most candidates have; None if there is none."""
        if self.points is None:
            return None
        return next((k for k in self.points.counted if k > 0), None)

    @cached_property
    def patterns(self) -> dict[bytes, list[int]]:
        """The candidates by the activation pattern, those alone in theirs left out."""
        groups: dict[bytes, list[int]] = {}
        if self.points is None or not len(self.points):
            return groups
        hidden = self.net.pattern(self.points.x)
        rows: Tensor = torch.cat(hidden, -1).cpu() if hidden else torch.ones(len(self.points), 1)
        for index, row in enumerate(rows.to(torch.uint8).numpy()):
            groups.setdefault(row.tobytes(), []).append(index)
        return {pattern: members for pattern, members in groups.items() if len(members) > 1}


Condition: TypeAlias = Callable[[Situation], Hypothesis]


def no_kinks(at: Situation) -> Hypothesis:
    """No hidden pre-activation vanishes at x."""
    points = at.points
    assert points is not None
    usable = len(points) > 0
    figure = f"{points.kinks} of {points.seen} points left out" if points.kinks else ""
    if points.overflows:
        figure += f"{', ' if figure else ''}f or Jf overflows at {points.overflows}"
    if usable and at.net.depth > 1:
        least = f"least $|\\tilde\\alpha|$ = {float(points.clearance.amin()):.2g}"
        figure = f"{least}, {figure}" if figure else least
    met: bool | None = usable
    if not usable and points.overflows:
        met = None
    return Hypothesis("no hidden unit is at its kink at $x$", met, figure)


def _condition(
    text: str, met: Callable[[Situation], bool], figure: Callable[[Situation], str]
) -> Condition:
    return lambda at: Hypothesis(text, met(at), figure(at))


def _slope(at: Situation) -> str:
    return f"a = {at.slope:g}"


def _depth(at: Situation) -> str:
    return f"L = {at.net.depth}"


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number > 1)}"


bounded_slope = _condition(r"$|a| \le 1$", lambda at: abs(at.slope) <= 1, _slope)
nonnegative_slope = _condition(r"$0 \le a \le 1$", lambda at: 0 <= at.slope <= 1, _slope)
relu = _condition("the activation is ReLU", lambda at: at.slope == 0, _slope)
hidden_layer = _condition(r"$L \ge 2$", lambda at: at.net.depth >= 2, _depth)
depth_two = _condition("$L = 2$", lambda at: at.net.depth == 2, _depth)
one_output = _condition(
    "there is one output",
    lambda at: at.net.widths[-1] == 1,
    lambda at: _many(at.net.widths[-1], "output"),
)
one_input = _condition(
    "there is one input",
    lambda at: at.net.widths[0] == 1,
    lambda at: _many(at.net.widths[0], "input"),
)


def balance(at: Situation) -> Hypothesis:
    """The parameters are balanced neuron by neuron."""
    met = at.imbalance <= BALANCED
    figure = f"largest |in − out|/(in + out) = {at.imbalance:.2g}"
    if at.net.depth == 1:
        figure = "there is no hidden neuron"
    return Hypothesis("the parameters are balanced", met, figure)


def positive_rank(at: Situation) -> Hypothesis:
    """Jf(x) ≠ 0 at some point."""
    assert at.points is not None
    some = int((at.points.ranks > 0).sum())
    figure = f"at {some} of {len(at.points)} points"
    return Hypothesis(r"$\operatorname{rank} Jf(x) \ge 1$", some > 0, figure)


def same_rank(at: Situation) -> Hypothesis:
    """One rank k ≥ 1 at all points; the points that have it are taken."""
    assert at.points is not None
    counted = [f"rank {k} at {number}" for k, number in at.points.counted.items()]
    figure = f"{', '.join(counted)} of {len(at.points)} points"
    if len(counted) > 1 and at.common_rank is not None:
        figure += f"; evaluated on those of rank {at.common_rank}"
    text = r"$\operatorname{rank} Jf(x_i) = k \ge 1$ at all points"
    return Hypothesis(text, at.common_rank is not None, figure)


def varying_outputs(at: Situation) -> Hypothesis:
    """The outputs are not constant: V(f(X)) > 0."""
    points = at.points
    assert points is not None
    few = points.x[points.chosen(64).to(points.x.device)]
    variance = float(total_variance(at.net(few))) if len(few) else 0.0
    text = "the outputs on the data are not constant"
    return Hypothesis(text, variance > 0, f"total variance {variance:.3g}")


def two_points(at: Situation) -> Hypothesis:
    """There are two different points."""
    assert at.points is not None
    text = "there are two points without a hidden unit at its kink"
    return Hypothesis(text, len(at.points) > 1, f"{len(at.points)} of them")


def shared_pattern(at: Situation) -> Hypothesis:
    """Two points have one activation pattern, and then so does the segment between them."""
    assert at.points is not None
    number = sum(len(members) for members in at.patterns.values())
    figure = f"{number} of {len(at.points)} points share theirs with another"
    text = "the activation pattern is constant on the segment"
    return Hypothesis(text, number > 0, figure)


#: How the `audit=` of a claim begins that audits do not evaluate; the reason follows.
LEFT_OUT = "left out: "
#: What a claim may be evaluated on, in the order in which audits list the claims.
PLACES = ("at points", "at pairs", "on data", "on the network")
HYPOTHESES: Mapping[str, Condition] = {
    "|a| ≤ 1": bounded_slope,
    "0 ≤ a ≤ 1": nonnegative_slope,
    "ReLU": relu,
    "L ≥ 2": hidden_layer,
    "L = 2": depth_two,
    "one input": one_input,
    "one output": one_output,
    "balanced": balance,
    "rank ≥ 1": positive_rank,
    "one rank": same_rank,
    "varying outputs": varying_outputs,
    "two points": two_points,
    "one region": shared_pattern,
}
MANNERS: Mapping[str, str] = {
    "ranks": "the numerical rank of Jf",
    "directions": "the directions of a domain beside a point; all of them are taken",
    "spectra": "the singular values of the weights or of other matrices as large",
    "heavy": "singular values in every layer at every point",
    "inputs × outputs": "a square matrix with so many rows",
    "points × outputs": "a square matrix with so many rows",
    "far apart": "pairs of points where the values, and the Jacobians, differ most",
}

#: Numbers in the largest array of a statement about data.
NUMBERS = 2**23
#: Rows of a matrix over outputs, in floats and in balls.
ROWS, PROVABLE_ROWS = 2048, 40
#: Points of a statement about data in balls.
PROVABLE_POINTS = 128
#: Up to this width a decomposition takes a second or so; it is not interrupted.
WIDEST = 1024


@dataclass(frozen=True)
class Theorem:
    """A claim that applies to networks, and how it is evaluated.

    Attributes:
        claim: its id.
        on: one of `PLACES`.
        conditions: its hypotheses.
        manner: what its body takes, words of `MANNERS`.
    """

    claim: str
    on: str
    conditions: tuple[Condition, ...]
    manner: frozenset[str]

    @property
    def balanced(self) -> bool:
        """Whether it is about balanced parameters: others have it evaluated after balancing."""
        return balance in self.conditions

    @property
    def ranked(self) -> bool:
        """Whether it depends on the numerical rank of Jf."""
        return "ranks" in self.manner

    def numbers(self, widths: Widths) -> int:
        """How many numbers the arrays of the body have for each point, about."""
        each = sum(widths) * (widths[0] + widths[-1])
        if "heavy" in self.manner:
            each += sum(widths) * max(widths)
        if "inputs × outputs" in self.manner:
            each += (widths[0] * widths[-1]) ** 2
        return 4 * each

    def most(self, widths: Widths) -> int:
        """The largest number of points of the data: the differences of all pairs fit."""
        if "points × outputs" in self.manner:
            return ROWS // widths[-1]
        return int((NUMBERS / max(widths)) ** 0.5)

    def fits(self, widths: Widths) -> bool:
        """Whether no matrix is so large that the body would take minutes at one point."""
        decomposes = bool(self.manner & {"heavy", "spectra"})
        rows = widths[0] * widths[-1] if "inputs × outputs" in self.manner else 0
        return rows <= ROWS and not (decomposes and max(widths) > WIDEST)

    def provable(self, widths: Widths, number: int) -> bool:
        """Whether ball arithmetic is fast enough for so many points."""
        if "inputs × outputs" in self.manner:
            return widths[0] * widths[-1] <= PROVABLE_ROWS
        if "points × outputs" in self.manner:
            return number * widths[-1] <= PROVABLE_ROWS // 2
        return number <= PROVABLE_POINTS


def theorem_of(claim: str, text: str) -> Theorem:
    """What the `audit=` of a claim says.

    Raises:
        ValueError: it is not of the form above.

    >>> theorem_of("mine.claim", "at points: |a| ≤ 1; ranks").ranked
    True
    """
    head, _, body = text.partition("; ")
    on, _, needed = head.partition(": ")
    conditions, manner = (part.split(", ") if part else [] for part in (needed, body))
    unknown = [*({on} - {*PLACES}), *({*conditions} - {*HYPOTHESES}), *({*manner} - {*MANNERS})]
    if unknown:
        raise ValueError(
            f"{claim}: audit= has {unknown[0]!r}; it begins with one of {', '.join(PLACES)}, has "
            f"hypotheses among {', '.join(HYPOTHESES)}, and behind a semicolon words among "
            f"{', '.join(MANNERS)}; or it is {LEFT_OUT!r} and why"
        )
    kinks = () if on == "on the network" else (no_kinks,)
    checks = tuple(HYPOTHESES[name] for name in conditions)
    return Theorem(claim, on, (*kinks, *checks), frozenset(manner))


@cache
def theorems() -> dict[Theorem, Claim]:
    """The theorems in the order in which an audit lists them, with their claims."""
    entries = [e for e in project() if e.audit and not e.audit.startswith(LEFT_OUT)]
    claims = {claim.id: claim for claim in load(entries)}
    known = [theorem_of(entry.id, entry.audit or "") for entry in entries]
    known.sort(key=lambda theorem: PLACES.index(theorem.on))
    return {theorem: claims[theorem.claim] for theorem in known}
