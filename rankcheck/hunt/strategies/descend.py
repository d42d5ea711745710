r"""Gradient descent on the margin, from the best of a sample, as one batch.

Adam; each instance has its own step size, drawn over two orders of magnitude, which falls along a
cosine. Each instance aims at one relation of the claim and descends on its distance or its steady
margin (`margins.Margins`), so that a relation that is always tight does not hide the others.

Safeguards: entries are projected onto their ranges; a gradient that is not finite counts as zero
for that instance; an instance that leaves the hypotheses, or whose margin is not a number, returns
to its best point with half the step. The result is the best point of each instance, not the last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from rankcheck.hunt.arena import Arena, HuntError
from rankcheck.hunt.margins import Margins
from rankcheck.hunt.sample import Sample
from rankcheck.hunt.strategies.base import Stage
from rankcheck.hunt.strategies.starts import LARGE, entries, starts, tidy, wide
from rankcheck.instances.record import Entries, Record
from rankcheck.instances.source import seed_of

#: Number of instances and steps: as a batch, one by one, and the steps of large instances.
BATCH, STEPS = 64, 120
SINGLE_BATCH, SINGLE_STEPS = 6, 60
LARGE_STEPS = 60
#: Step sizes relative to the width of an entry's range (at most `WIDEST`), as exponents of ten; and
#: the last step relative to the first.
SLOWEST, FASTEST, WIDEST, LAST = -3.0, -1.0, 4.0, 0.01
#: Steps after the first violation, which enlarge it.
AFTERWARDS = 20
#: A descent whose gradients have all been zero for so many steps ends.
FLAT = 3
#: The decay rates of Adam's moments, and the summand that avoids a division by zero.
FIRST, SECOND, TINY = 0.9, 0.99, 1e-30


class Descend:
    """Descent on the margin."""

    name = "descend"
    stage: Stage = "deepen"
    visits = 5

    def search(self, arena: Arena, seed: int) -> None:
        start = starts(arena, seed, BATCH if arena.batched else SINGLE_BATCH)
        if start is None:
            return
        found = descend(arena, start, seed_of(seed, "descend"))
        if found is not None:
            arena.offer(found)


def descend(arena: Arena, start: Sample, seed: int) -> Sample | None:
    """The best point of each instance of a descent; None where no margin has a gradient."""
    aim, steady = _aims(start.margins)
    steps = STEPS if arena.batched else SINGLE_STEPS
    steps = steps if entries(start.record) <= LARGE else min(steps, LARGE_STEPS)
    walk = _Walk(start.record, seed)
    moved, end = False, steps
    for step in range(steps):
        leaves = [t.clone().requires_grad_() for t in walk.now]
        try:
            measured = arena.measure(start.record.with_tensors(leaves))
        except HuntError:
            arena.at(start.record)  # raises again, unless the body only refuses gradients
            return None
        margin = _aimed(measured, aim, steady)
        inside = measured.valid & (margin.detach() < torch.inf)
        gradients = _gradients(margin, inside, leaves)
        moved = moved or any(bool(gradient.any()) for gradient in gradients)
        if not moved and step >= FLAT:
            return None
        if end == steps and bool((measured.beyond > -torch.inf).any()):
            end = min(steps, step + AFTERWARDS)
        if step >= end:
            break
        cosine = (1 + math.cos(math.pi * step / steps)) / 2
        walk.step(margin.detach(), inside, gradients, max(cosine, LAST))
    record = tidy(start.record.with_tensors(walk.best))
    return arena.at(record)


class _Walk:
    """The current and the best point of each instance, and its moments of Adam."""

    def __init__(self, record: Record, seed: int) -> None:
        self._ranges = [c for c in record.choices if isinstance(c, Entries)]
        self.now = [t.detach() for t in record.tensors]
        self.best = list(self.now)
        count, device = self.now[0].shape[0], self.now[0].device
        generator = torch.Generator().manual_seed(seed)
        exponent = torch.rand(count, dtype=torch.float64, generator=generator)
        self._rate = (10 ** (SLOWEST + (FASTEST - SLOWEST) * exponent)).to(device)
        self._least = torch.full((count,), torch.inf, dtype=torch.float64, device=device)
        self._age = torch.zeros(count, dtype=torch.float64, device=device)
        self._first = [torch.zeros_like(t) for t in self.now]
        self._second = [torch.zeros_like(t) for t in self.now]

    def step(
        self,
        margin: torch.Tensor,
        inside: torch.Tensor,
        gradients: Sequence[torch.Tensor],
        factor: float,
    ) -> None:
        """Keep the points that are the best so far, and take a step; those not inside go back."""
        better = inside & (margin < self._least)
        self._least = torch.where(better, margin, self._least)
        self._rate = torch.where(inside, self._rate, self._rate / 2)
        self._age = torch.where(inside, self._age + 1, 0.0)
        for i, (gradient, entry) in enumerate(zip(gradients, self._ranges, strict=True)):
            here, stays = self.now[i], wide(inside, gradient)
            self.best[i] = torch.where(wide(better, here), here, self.best[i])
            first = FIRST * self._first[i] + (1 - FIRST) * gradient
            second = SECOND * self._second[i] + (1 - SECOND) * gradient**2
            self._first[i] = first = torch.where(stays, first, 0.0)
            self._second[i] = second = torch.where(stays, second, 0.0)
            age = wide(self._age.clamp(min=1), here)
            direction = first / (1 - FIRST**age) / ((second / (1 - SECOND**age)).sqrt() + TINY)
            width = min(entry.high - entry.low, WIDEST)
            there = here - wide(self._rate, here) * (width * factor) * direction
            self.now[i] = torch.where(stays, there, self.best[i]).clamp(entry.low, entry.high)


def _aims(start: Margins) -> tuple[torch.Tensor, torch.Tensor]:
    """For each instance the relation to break, and whether by its steady margin; shapes (B).

    Instance i takes relation i mod R, or the next one that has a finite margin at its start.
    """
    relations, count = start.distance.shape
    turn = torch.arange(count, device=start.distance.device)
    around = (turn + torch.arange(relations, device=turn.device)[:, None]) % relations
    missing = start.distance.detach().gather(0, around) == torch.inf
    first = missing.long().argmin(0, keepdim=True)
    return around.gather(0, first), (turn // relations) % 2 == 1


def _aimed(measured: Margins, aim: torch.Tensor, steady: torch.Tensor) -> torch.Tensor:
    """The margin that each instance descends on, shape (B)."""
    distance, margin = measured.distance.gather(0, aim), measured.steady.gather(0, aim)
    return torch.where(steady, margin.squeeze(0), distance.squeeze(0))


def _gradients(
    margin: torch.Tensor, inside: torch.Tensor, leaves: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """For each leaf the gradient of the margins; zero for an instance where it is not finite."""
    total = torch.where(inside, margin, 0.0).sum()
    if not total.requires_grad:
        return [torch.zeros_like(leaf) for leaf in leaves]
    gradients = [
        torch.zeros_like(leaf) if gradient is None else gradient
        for gradient, leaf in zip(
            torch.autograd.grad(total, leaves, allow_unused=True), leaves, strict=True
        )
    ]
    finite = inside
    for gradient in gradients:
        by_instance = gradient.reshape(len(finite), math.prod(gradient.shape[1:]))
        finite = finite & by_instance.isfinite().all(1)
    return [torch.where(wide(finite, gradient), gradient, 0.0) for gradient in gradients]
