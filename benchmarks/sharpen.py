"""Seconds until a search is close to the supremum of a ratio: sharpen, Adam, and CMA-ES.

`python -m benchmarks.sharpen [--seconds S] [--seed N]` prints a table as Markdown: by relation and
search, the seconds until the ratio is 0.99, 0.999 and 1 - 1e-6 of the supremum. All three search
the same bodies in one process and on one core, from nothing: no records, and no tight family.

Adam and CMA-ES begin again and again at the shape of the next random instance. Adam moves 64 random
instances at once; CMA-ES evaluates a generation at once. What they find counts in floats and at
once, if it is not above the supremum; what sharpen finds counts when balls have proved it.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from typing import Any

import cma
import numpy as np
import torch

from benchmarks.measuring import Ratio, table
from rankcheck import conjecture, leq
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.claims.claim import Claim
from rankcheck.claims.variants import dialled
from rankcheck.engine.hunt.arena import OutOfTime, Shape
from rankcheck.engine.hunt.sample import Sample
from rankcheck.engine.hunt.strategies.starts import Space
from rankcheck.engine.parallel import executor_for
from rankcheck.engine.parallel.arithmetic import single_thread
from rankcheck.instances import Rejected, networks_at_points, seed_of
from rankcheck.linalg import schatten_power
from rankcheck.sharpen.gauge import Gauge
from rankcheck.sharpen.search import Search, work_of
from rankcheck.sharpen.settings import Settings
from rankcheck.theory.instances.drivers import BatchSource

#: The shares of a supremum that are reached.
LEVELS = (0.99, 0.999, 1 - 1e-6)
#: A float that is further above the supremum than this is an artefact, and does not count.
ARTEFACT = 1e-9
#: Adam: instances at once, steps of one restart, and the size of a step.
BATCH, STEPS, RATE = 64, 200, 0.05
#: CMA-ES: the first step, as a share of the range of an entry (at most 2), and evaluations.
SIGMA, EVALUATIONS = 0.3, 4000


@conjecture(
    "benchmark.nine-tenths", instances=networks_at_points(depth=(2, 4), width=(2, 3), slopes="relu")
)
def test_nine_tenths(net, x):
    r"""$\|Jf(x)\|_{S^{2/L}}^{2/L} \le 0.9\,\|\theta\|^2 / L$: the constant is 10/9."""
    power = schatten_power(net.jacobian(x), Fraction(2, net.depth))
    return leq(power, 0.9 * net.cost() / net.depth)


@dataclass(frozen=True, eq=False)
class Case:
    """A relation of a claim, and the supremum of its ratio."""

    claim: Claim
    relation: str
    supremum: float

    @property
    def name(self) -> str:
        label = "" if self.relation == "relation 1" else f", {self.relation}"
        return f"{self.claim.id}{label}{'' if self.supremum <= 1 else ' (false)'}"


#: Relations of the ledger, and their suprema, which are attained.
TRUE: tuple[tuple[str, str, float], ...] = (
    ("rank.jacobian-bounds-cost", "relation 1", 1),
    ("rank.masked-weights", "relation 1", 1),
    ("rank.bounded-domain", "relation 1", 1),
    ("rank.centred-covariance", "the largest variance", 1),
    ("bottleneck.two-jacobians", "relation 1", 1),
    ("bottleneck.two-jacobians-sharper", "relation 1", 1),
    ("bottleneck.secant-cost", "relation 1", 1),
    ("bottleneck.two-slopes", "the two slopes", 1),
    ("bottleneck.chained-projections", "the sum", 1),
    ("bottleneck.mirsky", "relation 1", 1),
    ("linear.phi-is-log-convex", "relation 1", 1),
    ("linear.gradient-volume", "the cost", 1),
    ("linear.singular-value-decay", "sharper", 1),
    ("separation.density-lower-bound", "the density", 1 / (math.sqrt(2) * math.e)),
    ("separation.sign-changes", "relation 1", 0.5),
)


def cases(quick: bool) -> Iterator[Case]:
    """The relations: of the ledger, and false ones, with their constants."""
    for claim_id, relation, supremum in TRUE[:2] if quick else TRUE:
        yield Case(_claim(claim_id), relation, supremum)
    weaker = dialled(_claim("bottleneck.nuclear-product"), "share", Fraction(2, 5))
    yield Case(weaker, "relation 1", 5 / 4)
    yield Case(test_nine_tenths, "relation 1", 10 / 9)
    if not quick:
        # With 1 in place of κ_L the ratio is (1 + ρ)/(1 + κ_L ρ) at most, where the gap is ρ ≤ 2/L
        # of the mean: (L + 2)/(L 4^{1/L}), of which L = 5 has the largest one.
        slopes = _claim("bottleneck.two-slopes")
        stronger = dialled(slopes, "constant", slopes.mutants["1 for κ_L"]["constant"])
        yield Case(stronger, "the two slopes", 7 / (5 * 4**0.2))


def _claim(claim_id: str) -> Claim:
    """A claim of the ledger without its tight family."""
    (claim,) = load(select([claim_id]))
    return replace(claim, tight=None)


@dataclass
class Clock:
    """The seconds at which each level is reached, for a budget of seconds."""

    case: Case
    budget: float
    reached: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.since = time.monotonic()

    @property
    def until(self) -> float:
        return self.since + self.budget

    @property
    def done(self) -> bool:
        """Whether all levels are reached, or the time is up."""
        return len(self.reached) == len(LEVELS) or time.monotonic() >= self.until

    def see(self, ratio: float, seconds: float | None = None) -> None:
        """Take in a ratio, found now or after so many seconds."""
        if ratio > self.case.supremum * (1 + ARTEFACT):
            return
        now = time.monotonic() - self.since if seconds is None else seconds
        while len(self.reached) < len(LEVELS):
            if ratio < LEVELS[len(self.reached)] * self.case.supremum:
                return
            self.reached.append(now)


def sharpened(case: Case, clock: Clock, seed: int) -> None:
    """The search of `rankcheck sharpen`; what it finds is proved."""
    settings = Settings(budget=clock.budget, seed=seed)
    search = Search(case.claim, settings, executor_for(None, work_of(case.claim)))
    search.since = clock.since
    known = 0

    def enough() -> bool:
        nonlocal known
        history = search.history.get(case.relation, [])
        for seconds, ratio in history[known:]:
            clock.see(ratio, seconds)
        known = len(history)
        return clock.done

    search.run(clock.budget, enough=enough)
    enough()


def restarted(
    climb: Callable[[Gauge, Clock, int], None],
) -> Callable[[Case, Clock, int], None]:
    """A search that climbs at the shape of one random instance after the other."""

    def search(case: Case, clock: Clock, seed: int) -> None:
        assert case.claim.instances is not None
        for restart in count():
            if clock.done:
                return
            source = BatchSource(seed_of(seed, restart), 1)
            try:
                case.claim.instances(source)
            except Rejected:
                continue
            shape = Shape("instances", source.record.integers)
            gauge = Gauge(case.claim, shape, until=clock.until, chosen=[case.relation])
            try:
                climb(gauge, clock, seed_of(seed, restart, "climb"))
            except OutOfTime:
                return

    return search


def _see(gauge: Gauge, clock: Clock, sample: Sample) -> None:
    """Take in the ratios of a sample, in floats."""
    for height in gauge.ratios(sample)[0].tolist() if len(sample) else ():
        clock.see(math.exp(height))


def adam(gauge: Gauge, clock: Clock, seed: int) -> None:
    """One restart of Adam, on the logarithm of the ratio."""
    start = gauge.sample(seed, BATCH if gauge.batched else 4)
    _see(gauge, clock, start)
    if not len(start) or not start.record.tensors:
        return
    space = Space(start.record)
    points = space.points(start.record).requires_grad_()
    optimiser = torch.optim.Adam([points], lr=RATE)
    for _ in range(STEPS):
        if clock.done:
            return
        sample = gauge.at(space.record(points))
        _see(gauge, clock, sample)
        distance = sample.margins.distance[0]
        inside = sample.margins.valid & distance.isfinite()
        if not bool(inside.any()) or not distance.requires_grad:
            return
        [slope] = torch.autograd.grad(distance[inside].sum(), points)
        points.grad = slope.nan_to_num(0.0, 0.0, 0.0)
        optimiser.step()
        with torch.no_grad():
            points.copy_(points.clamp(space.low, space.high))


def cma_es(gauge: Gauge, clock: Clock, seed: int) -> None:
    """One restart of CMA-ES, on the logarithm of the ratio."""
    start = gauge.sample(seed, 1 if gauge.batched else 4)
    _see(gauge, clock, start)
    if not len(start) or not start.record.tensors:
        return None
    space = Space(start.record)
    if space.low.numel() < 2:  # pycma takes two entries and more
        return adam(gauge, clock, seed)
    width = (space.high - space.low).clamp(max=2.0)
    options: dict[str, Any] = {
        "bounds": [space.low.tolist(), space.high.tolist()],
        "CMA_stds": width.tolist(),
        "maxfevals": EVALUATIONS,
        "seed": seed % 2**31 + 1,
        "verbose": -9,
    }
    point = space.points(start.record)[0].numpy()
    strategy = cma.CMAEvolutionStrategy(point, SIGMA, options)
    while not strategy.stop() and not clock.done:
        asked = strategy.ask()
        sample = gauge.at(space.record(torch.from_numpy(np.stack(asked))))
        _see(gauge, clock, sample)
        distance = sample.margins.distance[0].detach()
        distance = torch.where(sample.margins.valid, distance, torch.inf).nan_to_num(1e6, 1e6)
        strategy.tell(asked, distance.tolist())
    return None


SEARCHES: dict[str, Callable[[Case, Clock, int], None]] = {
    "sharpen": sharpened,
    "Adam": restarted(adam),
    "CMA-ES": restarted(cma_es),
}


def reached(case: Case, seconds: float, seed: int) -> dict[str, list[float]]:
    """By search, the seconds at which each level was reached; inf for one that was not."""
    found = {}
    for name, search in SEARCHES.items():
        torch.manual_seed(seed)
        clock = Clock(case, seconds)
        search(case, clock, seed)
        found[name] = clock.reached + [math.inf] * (len(LEVELS) - len(clock.reached))
    return found


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """The geometric mean of the seconds of the others, as multiples of those of sharpen.

    A level that is not reached counts as the budget.
    """
    budget = 0.5 if quick else 8.0
    with single_thread():
        found = [reached(case, budget, 0) for case in cases(quick)]
    for other in ("Adam", "CMA-ES"):
        for place, level in enumerate(LEVELS):
            logs = [
                math.log(min(one[other][place], budget) / min(one["sharpen"][place], budget))
                for one in found
            ]
            mean = math.exp(sum(logs) / len(logs))
            yield Ratio(f"sharpen to {level:g} of the supremum", f"{other} restarts", mean)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    warnings.simplefilter("ignore")

    def rows() -> Iterator[tuple[str, ...]]:
        for case in cases(False):
            found = reached(case, args.seconds, args.seed)
            cells = [" / ".join(_seconds(each) for each in found[name]) for name in SEARCHES]
            yield (case.name, f"{case.supremum:.6g}", *cells)

    print(f"seconds to {' / '.join(f'{level:g}' for level in LEVELS)} of the supremum\n")
    with single_thread():
        table(("relation", "supremum", *SEARCHES), rows())


def _seconds(value: float) -> str:
    return "—" if value == math.inf else f"{value:.2g}"


if __name__ == "__main__":
    main()
