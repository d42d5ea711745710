"""One theorem on one network: its hypotheses, both sides, and the finding; also in balls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor

from rankcheck.audit.result import Hypothesis, Side, TheoremFacts
from rankcheck.audit.theorems.evaluate import BATCH, Outcome, at_points, on_data
from rankcheck.audit.theorems.table import (
    Situation,
    Theorem,
    balance,
    positive_rank,
    same_rank,
    shared_pattern,
)
from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim
from rankcheck.engine.counterexamples.judge import Judgement, judge_instance
from rankcheck.errors import short_of_memory
from rankcheck.theory.linalg import eye, rank_gap
from rankcheck.theory.networks import Network
from rankcheck.theory.networks.balancing import balance_neurons

Finding: TypeAlias = Literal["holds", "not applicable", "not evaluated", "undecided", "fails"]

#: At most so many pairs of points.
PAIRS = 8
#: Points that may be compared with one another in search of pairs.
COMPARED = 64
#: At most so many points where a theorem seems to fail are looked at again.
AGAIN = 3
#: A rank whose threshold could not move by this factor without changing it is not clear.
CLEAR = 4.0
#: A violation that no point of a large network can prove counts from this many tolerances on.
BEYOND = 1e4

#: Networks up to this many parameters, and this depth, are small enough.
PARAMETERS = 400
DEPTH = 6
#: In bits, tried in this order.
PRECISIONS = (128, 256, 512)
#: Seconds for all theorems of an audit. One body is never interrupted.
SECONDS = 6.0

NO_DECOMPOSITION = (
    "Not evaluated: a matrix on the way has no singular values in floats. Its entries overflow, or "
    "are not numbers."
)
A_BUG = (
    "A theorem cannot fail on a network that meets its hypotheses: this is a bug of rankcheck, or "
    "the weights are not those of the model"
)


def exact_network(net: Network) -> Network:
    """The network with its weights, biases and slope as exact rational numbers."""
    # Bodies take arrays of slopes, and the number 0 for ReLU, as their instances have them.
    number = float(net.slope)
    slope = BallArray.exact(torch.tensor(number, dtype=torch.float64)) if number else 0.0
    weights, biases = (
        [BallArray.exact(array.cpu()) for array in arrays] for arrays in (net.weights, net.biases)
    )
    return Network.unchecked_slope(weights, biases, slope)


class Certifier:
    """Ball arithmetic for the theorems of one audit, within a limit of time."""

    def __init__(self, net: Network, *, seconds: float = SECONDS) -> None:
        self._net = net
        self._end = time.monotonic() + seconds
        size = sum(array.numel() for array in (*net.weights, *net.biases))
        self.small = size <= PARAMETERS and net.depth <= DEPTH

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self._end

    def judge(self, claim: Claim, *data: Tensor, balanced: bool) -> Judgement:
        """The claim on the exact network and data; `balanced`: with its neurons in balance."""

        def build() -> tuple[Any, ...]:
            net = exact_network(self._net)
            if balanced:
                net = balance_neurons(net)
            return (net, *(BallArray.exact(points.cpu()) for points in data))

        return judge_instance(claim, build, precisions=self._precisions())

    def _precisions(self) -> Iterator[int]:
        for bits in PRECISIONS:
            if bits == PRECISIONS[0] or not self.late:
                yield bits


@dataclass(frozen=True, eq=False)
class _Evaluated:
    """The relations of a claim, and at what they were evaluated.

    Attributes:
        net: the network, or the balanced one.
        outcomes: the relations at n points or pairs, or once.
        instances: for each of the n what the body takes beside the network.
        places: for each of the n the numbers of its points in the data.
        proved: of those that were judged in ball arithmetic, whether it holds there.
    """

    net: Network
    outcomes: tuple[Outcome, ...]
    instances: list[tuple[Tensor, ...]]
    places: list[list[int]]
    proved: dict[int, bool] = field(default_factory=dict)


class Check:
    """One theorem on one network, at no more than `most` points."""

    def __init__(self, claim: Claim, theorem: Theorem, at: Situation, most: int) -> None:
        self.claim, self.theorem, self._at, self._most = claim, theorem, at, most
        # Later hypotheses may rest on earlier ones.
        self._hypotheses: list[Hypothesis] = []
        self._obstacle: Hypothesis | None = None
        for condition in theorem.conditions:
            with torch.no_grad():
                hypothesis = condition(at)
            self._hypotheses.append(hypothesis)
            if hypothesis.met is not True and condition is not balance and self._obstacle is None:
                self._obstacle = hypothesis

    # Evaluation

    def evaluated(self, seconds: float) -> _Evaluated | TheoremFacts:
        """The relations, or what is said without them; no batch begins after so many seconds."""
        if self._obstacle is not None:
            if self._obstacle.met is False:
                return self._facts("not applicable")
            return self._facts("undecided", f"Not evaluated: {self._obstacle.figure}.")
        if not self.theorem.fits(self._at.net.widths):
            return self._facts("not evaluated", "The network is so wide that it takes too long.")
        if seconds <= 0:
            return self._facts("not evaluated", "The other theorems took all the time.")
        end = time.process_time() + seconds
        try:
            return self._evaluate(lambda: time.process_time() > end)
        except ArithmeticError as error:
            return self._facts("undecided", f"Not evaluated: {_line(error)}.")
        except torch.linalg.LinAlgError:
            return self._facts("undecided", NO_DECOMPOSITION)
        except RuntimeError as error:
            if not short_of_memory(error):
                raise
            return self._facts("undecided", f"Not evaluated for want of memory: {_line(error)}.")

    def _evaluate(self, late: Callable[[], bool]) -> _Evaluated:
        theorem, points, claim = self.theorem, self._at.points, self.claim
        net = self._at.balanced if theorem.balanced else self._at.net
        if theorem.on == "on the network":
            origin = net.weights[0].new_zeros(net.widths[0])
            data = (origin,) if len(claim.arguments) > 1 else ()
            return _Evaluated(net, on_data(claim, net, *data), [data], [[]])
        assert points is not None
        device = points.x.device
        if theorem.on == "at pairs":
            pairs = _pairs_for(theorem, self._at, PAIRS)[: self._most]
            ends = points.x[pairs.to(device)]
            outcomes = at_points(claim, net, ends, numbers=BATCH, late=late)
            places = points.places[pairs].tolist()[: outcomes[0].points]
            return _Evaluated(net, outcomes, [(pair,) for pair in ends], places)
        if theorem.on == "on data":
            number = min(self._most, theorem.most(net.widths))
            chosen = points.chosen(number, self._among).sort().values
            X = points.x[chosen.to(device)]
            places = [points.places[chosen].tolist()]
            return _Evaluated(net, on_data(claim, net, X), [(X,)], places)
        chosen = points.chosen(self._most)
        x = points.x[chosen.to(device)]
        more = (eye(net.widths[0], x),) if "directions" in theorem.manner else ()
        numbers = theorem.numbers(net.widths)
        outcomes = at_points(claim, net, x, *more, numbers=numbers, late=late)
        order = chosen[: outcomes[0].points].argsort()
        outcomes = tuple(outcome.reordered(order) for outcome in outcomes)
        places = points.places[chosen[order]].unsqueeze(-1).tolist()
        return _Evaluated(net, outcomes, [(point, *more) for point in x[order.to(device)]], places)

    @property
    def _among(self) -> Tensor | None:
        """The candidates that a theorem about data takes; None for all."""
        points = self._at.points
        assert points is not None
        if same_rank in self.theorem.conditions:
            return points.ranks.eq(self._at.common_rank or 0)
        return points.ranks > 0 if positive_rank in self.theorem.conditions else None

    # The finding

    def facts(self, done: _Evaluated | TheoremFacts, certifier: Certifier | None) -> TheoremFacts:
        """What the theorem says, evaluated like this."""
        if isinstance(done, TheoremFacts):
            return done
        checked = {"on the network": None, "on data": len(done.places[0])}.get(
            self.theorem.on, len(done.places)
        )
        words = self._about(done)
        finding: Finding = "holds"
        again = self._again(done, certifier)
        places = torch.stack([outcome.unknown.any(-1) for outcome in done.outcomes])
        unknown = int(places.any(0).sum())
        if again:
            findings = [finding for finding, _ in again]
            finding = next(one for one in ("fails", "undecided", "holds") if one in findings)
            words += list(dict.fromkeys(message for one, message in again if one == finding))
            if finding == "fails":
                words.append(f"{A_BUG}.")
        if unknown and finding != "fails":
            finding = "undecided"
            words.append(f"A side overflows or is not a number {self._where(unknown)}.")
        if not any(bool(outcome.asserted.any()) for outcome in done.outcomes):
            finding = "not applicable"
            words.append("The claim asserts nothing here.")
        sides = self._sides(done, certifier if finding == "holds" else None)
        if finding == "holds" and not sides:
            words.append("The larger side is beyond the largest float.")
        return self._facts(finding, " ".join(words), tuple(sides), checked)

    def _where(self, number: int) -> str:
        if self.theorem.on in ("on the network", "on data"):
            return "here"
        noun = "point" if self.theorem.on == "at points" else "pair"
        return f"at {number} {noun}{'s' * (number > 1)}"

    def _about(self, done: _Evaluated) -> list[str]:
        """On what the theorem was evaluated, if that is not the network at points."""
        words = []
        if self.theorem.balanced and done.net is not self._at.net:
            before, after = float(self._at.net.cost()), float(done.net.cost())
            words.append(
                "The parameters are not balanced. Evaluated on the balanced network with the same "
                f"function, which costs {after:.6g} in place of {before:.6g}."
            )
        if self.theorem.on == "at pairs":
            worst = next((outcome.worst for outcome in done.outcomes), None)
            if worst is not None:
                first, second = done.places[worst[0]]
                words.append(f"The sides are those at points {first} and {second}.")
        return words

    def _sides(self, done: _Evaluated, certifier: Certifier | None) -> list[Side]:
        """The relations at their worst points, certified if there is a certifier with time."""
        sides: list[Side] = []
        for outcome in done.outcomes:
            if outcome.worst is None:
                continue
            index = outcome.worst[0]
            each = self.theorem.on in ("at points", "at pairs")
            side = outcome.side(done.places[index][0] if each else None)
            if index not in done.proved and self._provable(done, certifier):
                assert certifier is not None
                self._judge(done, index, certifier)
            sides.append(replace(side, certified=done.proved.get(index)))
        return sides

    def _provable(self, done: _Evaluated, certifier: Certifier | None) -> bool:
        """Whether ball arithmetic is to be tried."""
        if certifier is None or not certifier.small or certifier.late:
            return False
        number = len(done.places[0]) if self.theorem.on == "on data" else 1
        return self.theorem.provable(done.net.widths, number)

    def _judge(self, done: _Evaluated, index: int, certifier: Certifier) -> Judgement:
        judgement = certifier.judge(
            self.claim, *done.instances[index], balanced=self.theorem.balanced
        )
        done.proved[index] = judgement.finding == "satisfied"
        return judgement

    def _again(self, done: _Evaluated, certifier: Certifier | None) -> list[tuple[Finding, str]]:
        """What a second look at the points where the theorem seems to fail gives, with words."""
        failing: dict[int, tuple[float, float]] = {}
        for outcome in done.outcomes:
            ratios = -outcome.slack / outcome.tolerance.clamp(min=1e-300)
            for index in outcome.failing.any(-1).nonzero().reshape(-1).tolist():
                where = outcome.failing[index]
                close = float(outcome.closeness[index][where].min())
                ratio = float(ratios[index][where].max())
                before = failing.get(index, (0.0, 0.0))
                failing[index] = min(before[0], close), max(before[1], ratio)
        order = sorted(failing, key=lambda index: failing[index])
        looks = [
            self._second_look(done, index, failing[index][1], certifier) for index in order[:AGAIN]
        ]
        if len(order) > AGAIN and all(finding == "holds" for finding, _ in looks):
            looks.append(
                ("undecided", f"In floats it seems to fail at {len(order) - AGAIN} more points.")
            )
        return looks

    def _second_look(
        self, done: _Evaluated, index: int, ratio: float, certifier: Certifier | None
    ) -> tuple[Finding, str]:
        where = self._named(done.places[index])
        seems = f"In floats it seems to fail{where}"
        gap = self._gap(done, index)
        if gap < CLEAR:
            return "undecided", (
                f"{seems}, but the numerical rank of Jf there is not clear: it changes if the "
                f"threshold moves by a factor of {gap:.3g}."
            )
        if self._provable(done, certifier):
            assert certifier is not None
            judgement = self._judge(done, index, certifier)
            if judgement.finding == "refuted":
                excess = float(judgement.excess)
                return "fails", (
                    f"It fails{where}, by at least {excess:.6g}: proved in ball arithmetic with "
                    f"{judgement.bits} bits."
                )
            if judgement.finding == "satisfied":
                return "holds", f"{seems}; ball arithmetic proves that it holds there."
            return "undecided", f"{seems}, and ball arithmetic does not decide it."
        why = "it was not looked at in ball arithmetic"
        if ratio > BEYOND:
            return "fails", f"{seems}, by {ratio:.2g} times what rounding explains; {why}."
        return "undecided", f"{seems}, by {ratio:.2g} times the estimate of rounding; {why}."

    def _gap(self, done: _Evaluated, index: int) -> float:
        """How clear the ranks of Jf at its points are, see `rank_gap`; infinite if none matters."""
        if not self.theorem.ranked:
            return float("inf")
        x = done.instances[index][0].reshape(-1, done.net.widths[0])
        with torch.no_grad():
            gaps = rank_gap(done.net.jacobian(x), done.net.jacobian_noise(x))
            return float(gaps.min())

    def _named(self, places: list[int]) -> str:
        if self.theorem.on in ("on the network", "on data"):
            return ""
        if len(places) == 1:
            return f" at point {places[0]}"
        return f" at points {places[0]} and {places[1]}"

    def _facts(
        self,
        finding: Finding,
        message: str = "",
        sides: tuple[Side, ...] = (),
        checked: int | None = None,
    ) -> TheoremFacts:
        claim = self.claim
        return TheoremFacts(
            claim.id,
            claim.title,
            claim.statement,
            str(claim.reference),
            tuple(self._hypotheses),
            finding,
            sides,
            checked,
            message,
        )


def _line(error: Exception) -> str:
    """The message of an error on one line, without a full stop."""
    return " ".join(str(error).split()).rstrip(".")


def _pairs_for(theorem: Theorem, at: Situation, number: int) -> Tensor:
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
