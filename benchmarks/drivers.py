"""Instances per second of rank.jacobian-bounds-cost by `draw` and by `batch`, in one run.

Both drivers run the whole path of a test on one thread: generate the instance, evaluate the body,
hold the sides against each other. The singular values alone, of batches of 4 × 4 matrices by
LAPACK, are what a sweep of this claim cannot beat unless most instances are smaller.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import torch

from benchmarks.measuring import Ratio
from rankcheck.claims.catalogue import loader
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.verification.profiles import Profile
from rankcheck.engine.verification.search import draw, sweep
from rankcheck.engine.verification.tally import Tally

DRAW, SINGULAR = "draw (Hypothesis)", "singular values alone, 4 × 4"


def rate(work: Callable[[int], int], seconds: float) -> float:
    """Instances per second of `work(round) -> instances`, over at least `seconds`."""
    work(0)
    done, start = 0, time.perf_counter()
    turn = 1
    while (elapsed := time.perf_counter() - start) < seconds:
        done += work(turn)
        turn += 1
    return done / elapsed


def rates(seconds: float) -> dict[str, float]:
    """By driver, instances per second."""
    (claim,) = loader.load(select(["rank.jacobian-bounds-cost"]))

    assert claim.instances is not None
    family = claim.instances

    def drawn(turn: int) -> int:
        tally = Tally()
        draw(claim, family, 200, turn, tally)
        return tally.counts.evaluated

    def swept(size: int) -> Callable[[int], int]:
        def work(turn: int) -> int:
            tally = Tally()
            sweep(claim, family, Profile("", 0, 20, size, 0), turn, tally)
            return tally.counts.evaluated

        return work

    matrices = torch.randn(50_000, 4, 4, dtype=torch.float64)

    def singular_values(turn: int) -> int:
        torch.linalg.svdvals(matrices)
        return len(matrices)

    found = {DRAW: rate(drawn, seconds)}
    found |= {f"batch of {size:,}": rate(swept(size), seconds) for size in (512, 4096, 16384)}
    return found | {SINGULAR: rate(singular_values, seconds)}


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """The largest batch against single draws, and against its singular values alone."""
    found = rates(0.1 if quick else 3.0)
    swept = found["batch of 16,384"]
    for name in (DRAW, SINGULAR):
        yield Ratio("batch of 16,384", name, swept / found[name])
