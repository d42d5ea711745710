"""Instances a second of each strategy of a hunt, and of a sweep of the same claim in the same run.

`python -m benchmarks.hunt_speed [CLAIM] [--seconds S] [--seed N]` prints a table as Markdown. On a
machine that others use, the ratio to the sweep is what can be compared.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

import torch

from benchmarks.measuring import Ratio, table
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.claims.claim import Claim
from rankcheck.engine.hunt import Progress, hunt
from rankcheck.engine.parallel.arithmetic import single_thread
from rankcheck.engine.verification.profiles import PROFILES
from rankcheck.engine.verification.search import sweep
from rankcheck.engine.verification.tally import Tally

CLAIM = "rank.jacobian-bounds-cost"


def swept(claim: Claim, seed: int) -> float:
    """Instances a second of a sweep in batches of 2048."""
    assert claim.instances is not None
    tally, begin = Tally(), time.perf_counter()
    sweep(claim, claim.instances, replace(PROFILES["deep"], batches=100), seed, tally)
    return tally.counts.total / (time.perf_counter() - begin)


def hunted(claim: Claim, seconds: float, seed: int) -> tuple[dict[str, tuple[int, float]], float]:
    """By strategy the instances and the seconds; and instances a second of the hunt."""
    instances: Counter[str] = Counter()
    spent: defaultdict[str, float] = defaultdict(float)
    known, last = 0, time.perf_counter()

    def advance(progress: Progress) -> None:
        nonlocal known, last
        now = time.perf_counter()
        instances[progress.strategy] += progress.counts.total - known
        spent[progress.strategy] += now - last
        known, last = progress.counts.total, now

    with tempfile.TemporaryDirectory() as folder:
        found = hunt(claim, seconds, seed, folder=folder, progress=advance, shrink=0.1)
    table = {name: (instances[name], spent[name]) for name in instances}
    return table, found.counts.total / found.seconds


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """Instances a second of a whole hunt against those of a sweep."""
    (claim,) = load(select([CLAIM]))
    with single_thread():
        _, rate = hunted(claim, 0.5 if quick else 20.0, 0)
        yield Ratio("instances a second of a hunt", "sweep", rate / swept(claim, 0))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("claim", nargs="?", default=CLAIM)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    (claim,) = load(select([args.claim]))
    warnings.simplefilter("ignore")
    with single_thread():
        torch.zeros(1, dtype=torch.float64).sum()
        import cma  # noqa: F401 -- its import is not counted

        before = swept(claim, args.seed)
        strategies, rate = hunted(claim, args.seconds, args.seed)
        reference = (before + swept(claim, args.seed)) / 2
    rows = [
        (name, str(number), f"{seconds:.2f}", number / max(seconds, 1e-9))
        for name, (number, seconds) in strategies.items()
    ]
    rows.append(("all", str(sum(n for n, _ in strategies.values())), f"{args.seconds:g}", rate))
    rows.append(("sweep", "", "", reference))
    print(f"{claim.id}, {args.seconds:g} s, seed {args.seed}\n")
    table(
        ("strategy", "instances", "seconds", "a second", "of a sweep"),
        ((*cells, f"{each:.0f}", f"{each / reference:.2f}") for *cells, each in rows),
    )


if __name__ == "__main__":
    main()
