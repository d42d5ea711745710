"""Instances a second of each strategy of a hunt, and of a sweep of the same claim in the same run.

`python benchmarks/hunt_speed.py [CLAIM] [--seconds S] [--seed N]` prints a table as Markdown. On a
machine that others use, the ratio to the sweep is what can be compared.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import replace

import torch

from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.claims.claim import Claim
from rankcheck.hunt import Progress, hunt
from rankcheck.verification.profiles import PROFILES
from rankcheck.verification.run import single_thread
from rankcheck.verification.search import Tally, sweep


def swept(claim: Claim, seed: int) -> float:
    """Instances a second of a sweep in batches of 2048."""
    assert claim.instances is not None
    tally, begin = Tally(), time.perf_counter()
    sweep(claim, claim.instances, replace(PROFILES["deep"], batches=100), seed, tally)
    return tally.counts.total / (time.perf_counter() - begin)


def hunted(claim: Claim, seconds: float, seed: int) -> tuple[dict[str, tuple[int, float]], float]:
    """By strategy the instances and the seconds; and instances a second of the hunt."""
    instances: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    known, last = 0, time.perf_counter()

    def advance(progress: Progress) -> None:
        nonlocal known, last
        now = time.perf_counter()
        instances[progress.strategy] += progress.counts.total - known
        spent[progress.strategy] += now - last  # type: ignore[assignment]
        known, last = progress.counts.total, now

    with tempfile.TemporaryDirectory() as folder:
        found = hunt(claim, seconds, seed, folder=folder, on_progress=advance, shrink=0.1)
    table = {name: (instances[name], float(spent[name])) for name in instances}
    return table, found.counts.total / found.seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("claim", nargs="?", default="rank.jacobian-bounds-cost")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    (claim,) = load(select([args.claim]))
    warnings.simplefilter("ignore")
    with single_thread():
        torch.zeros(1, dtype=torch.float64).sum()
        import cma  # noqa: F401 -- its import is not counted

        before = swept(claim, args.seed)
        table, rate = hunted(claim, args.seconds, args.seed)
        reference = (before + swept(claim, args.seed)) / 2
    print(f"{claim.id}, {args.seconds:g} s, seed {args.seed}\n")
    print("| strategy | instances | seconds | a second | of a sweep |")
    print("| --- | --- | --- | --- | --- |")
    for name, (number, seconds) in table.items():
        each = number / max(seconds, 1e-9)
        print(f"| {name} | {number} | {seconds:.2f} | {each:.0f} | {each / reference:.2f} |")
    print(f"| all | {sum(n for n, _ in table.values())} | {args.seconds:g} | {rate:.0f} ", end="")
    print(f"| {rate / reference:.2f} |")
    print(f"| sweep | | | {reference:.0f} | 1 |")


if __name__ == "__main__":
    main()
