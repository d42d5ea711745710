"""How false statements are refuted: `hunt`, `verify`, Hypothesis and CMA-ES in one table.

    python -m benchmarks.hunt [--files false_kinds] [--only NAME] [--methods rankcheck,given,target]
                              [--seeds 5] [--cap 30] [--quick]
    python -m benchmarks.hunt --files fresh_false --true-files fresh_true

The statements are those of benchmarks/statements/false*.py, a list of 46; the second list, `fresh`,
was written without a look at the search. For each one and each seed:

* rankcheck: `hunt`, one process, until a counterexample is proved (without making it small);
* given: plain Hypothesis, 2 000 examples of the same family;
* target: the same with `hypothesis.target(-margin)`;
* CMA-ES: from a random instance of a random shape, restarted until the cap;
* quick, ci: `verify` with this profile, which ends by itself and not at the cap.

A method has found a counterexample when ball arithmetic has proved it. A cell shows how many seeds
found one, and the median seconds and evaluations of those. A second table shows the true
statements, which must survive their hunts.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings, target
from hypothesis import strategies as st

from benchmarks.measuring import Ratio
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.claims.claim import Claim
from rankcheck.engine.counterexamples.judge import judge
from rankcheck.engine.hunt import hunt
from rankcheck.engine.hunt.arena import Arena, OutOfTime, Shape
from rankcheck.engine.hunt.margins import margins
from rankcheck.engine.hunt.points import ShapedSource
from rankcheck.engine.hunt.strategies.evolve import evolve
from rankcheck.engine.parallel.arithmetic import single_thread
from rankcheck.engine.verification.batches import evaluate_drawn
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import PROFILES, Settings
from rankcheck.instances import Record, Rejected, seed_of
from rankcheck.theory.instances.drivers import DrawSource

STATEMENTS = Path(__file__).with_name("statements")
EXAMPLES = 2000


@dataclass(frozen=True)
class Trial:
    """One attempt: whether a counterexample was proved, in what time and how many evaluations."""

    found: bool
    seconds: float
    evaluations: int


def by_rankcheck(claim: Claim, number: int, cap: float) -> Trial:
    """`hunt`, without the seconds that making the counterexample small takes."""
    with tempfile.TemporaryDirectory() as folder:
        found = hunt(claim, cap, number, folder=folder, shrink=0.01)
    seconds = found.seconds - found.stages.get("shrink", 0.0)
    return Trial(found.verdict == "refuted", seconds, found.counts.evaluated)


class _Proved(Exception):
    """A counterexample that ball arithmetic has proved."""


class _OverTheCap(KeyboardInterrupt):
    """The cap is reached; Hypothesis lets a KeyboardInterrupt pass."""


def by_hypothesis(claim: Claim, number: int, cap: float, *, targeted: bool = False) -> Trial:
    """`@given` over the family of the claim, as in an ordinary property test."""
    family = claim.instances
    assert family is not None
    begin, evaluations = time.perf_counter(), 0

    @seed(number)
    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def test(data: st.DataObject) -> None:
        nonlocal evaluations
        if time.perf_counter() - begin > cap:
            raise _OverTheCap
        source = DrawSource(data.draw)
        evaluation = evaluate_drawn(claim, family, source)
        if not evaluation.parts:
            return
        [part] = evaluation.parts
        found = margins(part.relations, part.valid)
        evaluations += 1
        least = float(found.least)
        if targeted and math.isfinite(least):
            target(-least)
        if bool(found.beyond > -torch.inf) and _is_proved(claim, source.record):
            raise _Proved

    try:
        test()
    except _Proved:
        return Trial(True, time.perf_counter() - begin, evaluations)
    except _OverTheCap:
        pass
    return Trial(False, time.perf_counter() - begin, evaluations)


def by_target(claim: Claim, number: int, cap: float) -> Trial:
    """The same with `target()`."""
    return by_hypothesis(claim, number, cap, targeted=True)


def by_evolution(claim: Claim, number: int, cap: float) -> Trial:
    """CMA-ES alone, from random instances, restarted."""
    begin, until, evaluations, restart = time.perf_counter(), time.monotonic() + cap, 0, 0
    assert claim.instances is not None
    while time.monotonic() < until:
        key = seed_of("evolution", number, restart)
        restart += 1
        source = ShapedSource((), key)
        try:
            claim.instances(source)
        except Rejected:
            continue
        arena = Arena(claim, Shape("instances", source.record.integers), until=until)
        try:
            start = arena.sample(key, 1)
            if len(start) and start.record.tensors and bool(start.margins.valid.any()):
                relation = restart % start.margins.distance.shape[0]
                last = evolve(arena, start, relation, key)
                if last is not None:
                    arena.offer(last)
        except OutOfTime:
            pass
        evaluations += arena.counts.evaluated
        if any(_is_proved(claim, record) for _, record in arena.offers):
            return Trial(True, time.perf_counter() - begin, evaluations)
    return Trial(False, time.perf_counter() - begin, evaluations)


def by_verification(profile: str, claim: Claim, number: int, cap: float) -> Trial:
    """`verify` with a profile, almost without making the counterexample small."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(PROFILES[profile], number, Path(folder), shrink=0.01)
        row = verify_claim(claim, settings)
    enumerated = row.scope.counts.evaluated if row.scope else 0
    evaluated = enumerated + row.swept.evaluated + row.drawn.evaluated
    return Trial(row.verdict == "refuted", row.seconds, evaluated)


def _is_proved(claim: Claim, record: Record) -> bool:
    return judge(claim, record).finding == "refuted"


METHODS: dict[str, Callable[[Claim, int, float], Trial]] = {
    "rankcheck": by_rankcheck,
    "given": by_hypothesis,
    "target": by_target,
    "CMA-ES": by_evolution,
    "quick": partial(by_verification, "quick"),
    "ci": partial(by_verification, "ci"),
}
#: The files of false statements; the last has those that are hard in kind.
FALSE = ("false", "false_counts", "false_kinds")


def claims(names: Sequence[str], only: str = "") -> list[Claim]:
    """The statements of some files whose id contains a text."""
    files = [str(STATEMENTS / f"{name}.py") for name in names]
    return [claim for claim in load(select(files)) if only in claim.id]


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """How many of the false statements a hunt refutes, for each that another method does."""
    chosen = claims(FALSE[:2], "nuclear" if quick else "")
    cap = 1.0 if quick else 10.0
    with single_thread():
        found = {
            name: sum(method(claim, 0, cap).found for claim in chosen)
            for name, method in METHODS.items()
            if name not in PROFILES
        }
    for name, number in found.items():
        if name != "rankcheck":
            what = f"statements refuted, of {len(chosen)} in {cap:g} s each"
            yield Ratio(what, name, found["rankcheck"] / max(number, 1))


def cell(trials: Sequence[Trial]) -> str:
    """`5/5 0.31 1216`: trials that found a counterexample, their median seconds and evaluations."""
    found = [trial for trial in trials if trial.found]
    counted = f"{len(found)}/{len(trials)}"
    if not found:
        return counted
    seconds = statistics.median(trial.seconds for trial in found)
    evaluations = statistics.median(trial.evaluations for trial in found)
    return f"{counted} {seconds:.2f} {evaluations:.0f}"


def false_statements(
    chosen: Sequence[Claim], methods: Sequence[str], seeds: int, cap: float
) -> bool:
    """Print the table of false statements; returns whether hunts refuted all."""
    print("| false statement | " + " | ".join(methods) + " |")
    print("| --- |" + " --- |" * len(methods), flush=True)
    found = dict.fromkeys(methods, 0)
    for claim in chosen:
        trials = {
            name: [METHODS[name](claim, number, cap) for number in range(seeds)] for name in methods
        }
        for name, tried in trials.items():
            found[name] += sum(trial.found for trial in tried)
        name = claim.id.removeprefix("false.").removeprefix("fresh.")
        print(f"| {name} | " + " | ".join(map(cell, trials.values())) + " |", flush=True)
    total = seeds * len(chosen)
    print("| all | " + " | ".join(f"{n}/{total}" for n in found.values()) + " |\n", flush=True)
    return found.get("rankcheck", total) == total


def true_statements(chosen: Sequence[Claim], seeds: int, cap: float) -> bool:
    """Print the table of true statements; returns whether all survived."""
    print("| true statement | verdicts | least margin | instances | rounding |")
    print("| --- | --- | --- | --- | --- |", flush=True)
    standing = True
    for claim in chosen:
        with tempfile.TemporaryDirectory() as folder:
            hunts = [hunt(claim, cap, number, folder=folder) for number in range(seeds)]
        verdicts = sorted({found.verdict for found in hunts})
        standing = standing and verdicts == ["survived"]
        margins = [found.margin for found in hunts if found.margin is not None]
        margin = min(margins, default=math.nan)
        print(
            f"| {claim.id.removeprefix('true.')} | {', '.join(verdicts)} | {margin:.1e} "
            f"| {sum(found.counts.evaluated for found in hunts)} "
            f"| {sum(found.counts.rounding for found in hunts)} |",
            flush=True,
        )
    return standing


def main() -> int:
    """Print both tables; returns 1 if a false statement was missed or a true one refuted."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--cap", type=float, default=30.0, help="seconds for a search")
    parser.add_argument("--true", type=float, default=10.0, help="for a true one; 0 for no table")
    parser.add_argument("--files", default=",".join(FALSE), help="of false statements")
    parser.add_argument("--true-files", default="true", help="of true statements")
    parser.add_argument("--methods", default=",".join(METHODS), help="the columns")
    parser.add_argument("--only", default="", help="statements with this in their id")
    parser.add_argument("--quick", action="store_true", help="one seed, short caps")
    args = parser.parse_args()
    if args.quick:
        args.seeds, args.cap, args.true = 1, min(args.cap, 5.0), 2.0
    begin = time.perf_counter()
    warnings.simplefilter("ignore")
    with single_thread():
        torch.zeros(1, dtype=torch.float64).sum()
        import cma  # noqa: F401 -- its import is not counted

        false = claims(args.files.split(","), args.only)
        complete = false_statements(false, args.methods.split(","), args.seeds, args.cap)
        true = claims(args.true_files.split(","), args.only) if args.true else []
        standing = true_statements(true, args.seeds, args.true)
    print(f"\n{args.seeds} seeds, cap {args.cap:g} s, {time.perf_counter() - begin:.0f} s in all")
    return 0 if complete and standing else 1


if __name__ == "__main__":
    sys.exit(main())
