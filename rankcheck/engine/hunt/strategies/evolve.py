"""CMA-ES on the margin, for margins without a gradient or with a misleading one.

The entries of an instance form one vector, each in units of its range. A population is measured as
one batch. The run starts at the best point of a sample and minimises the distance of one relation.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import torch

from rankcheck.engine.hunt.arena import Arena
from rankcheck.engine.hunt.sample import Sample
from rankcheck.engine.hunt.strategies.base import Stage
from rankcheck.engine.hunt.strategies.starts import Space, starts, tidy
from rankcheck.theory.instances.source import seed_of

POPULATION, GENERATIONS = 32, 60
SINGLE_POPULATION, SINGLE_GENERATIONS = 8, 15
#: With more entries than this the covariance matrix is diagonal.
DIAGONAL = 100
#: The first step, in units of the range of an entry.
SIGMA = 0.15


class Evolve:
    """CMA-ES from the best point of a sample."""

    name = "evolve"
    stage: Stage = "late"
    visits = 1

    def search(self, arena: Arena, seed: int) -> None:
        begin = starts(arena, seed, 16)
        if begin is None:
            return
        relations = begin.margins.distance.shape[0]
        relation = seed_of(seed, "relation") % relations
        order = begin.margins.distance[relation].argsort(stable=True)
        one = begin.select(order[:1].cpu())
        best = evolve(arena, one, relation, seed_of(seed, "evolve"))
        if best is not None:
            arena.offer(best)


def evolve(arena: Arena, start: Sample, relation: int, seed: int) -> Sample | None:
    """The best population of a run from one instance; it is offered if it has a violation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cma warns that matplotlib is missing
        from cma import CMAEvolutionStrategy

    space = Space(start.record)
    entries, width = len(space.low), space.high - space.low
    begin = ((space.points(start.record)[0] - space.low) / width).clamp(0, 1)
    population = POPULATION if arena.batched else SINGLE_POPULATION
    generator = np.random.default_rng(seed)
    options: dict[str, Any] = {
        "bounds": [[0.0] * entries, [1.0] * entries],
        "popsize": population,
        "CMA_diagonal": entries > DIAGONAL,
        "verbose": -9,
        "seed": math.nan,  # so that cma does not seed the global generator of numpy
        "randn": lambda *shape: generator.standard_normal(shape),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        strategy = CMAEvolutionStrategy(begin.cpu().numpy(), SIGMA, options)
        best, least = None, math.inf
        for _ in range(GENERATIONS if arena.batched else SINGLE_GENERATIONS):
            points = strategy.ask()
            share = torch.as_tensor(np.asarray(points), dtype=torch.float64, device=arena.device)
            there = (space.low + share * width).clamp(space.low, space.high)
            sample = arena.at(tidy(space.record(there)))
            values = sample.margins.distance[relation].cpu()
            if float(values.min()) < least or best is None:
                best, least = sample, float(values.min())
            arena.offer(sample)
            if arena.sure(sample.margins):
                return sample
            worst = values[values < torch.inf]
            limit = float(worst.max()) + 1.0 if len(worst) else 1.0
            strategy.tell(points, values.clamp(max=limit).tolist())
            if strategy.stop():
                break
    return best
