r"""Gradient descent on the margin, from the best of a sample, as one batch.

Adam; each instance has its own step size, drawn over two orders of magnitude, which falls along a
cosine. Each instance aims at one relation of the claim and descends on its distance or its steady
margin (`margins.Margins`), so that a relation that is always tight does not hide the others.

Safeguards: entries are projected onto their ranges; a gradient that is not finite counts as zero
for that instance; an instance that leaves the hypotheses, or whose margin is not a number, returns
to its best point with half the step. The result is the best point of each instance, not the last.
If a gradient raises, the descent ends. An instance at equality descends on its steady margin. Every
few steps it is moved off, by a random size in a random direction; every other time along the level
set of that margin.
"""

from __future__ import annotations

import math

import torch

from rankcheck.engine.hunt.arena import Arena, OutOfTime, trouble
from rankcheck.engine.hunt.margins import Margins
from rankcheck.engine.hunt.sample import Sample
from rankcheck.engine.hunt.strategies.base import Stage
from rankcheck.engine.hunt.strategies.starts import LARGE, Space, entries, starts, tidy
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import seed_of

#: Number of instances and steps: as a batch, one by one, and the steps of large instances. The
#: batch doubles from round to round, up to `LARGEST_BATCH`.
BATCH, LARGEST_BATCH, STEPS = 128, 1024, 120
SINGLE_BATCH, SINGLE_STEPS = 6, 60
LARGE_STEPS = 60
#: Step sizes relative to the width of an entry's range (at most `WIDEST`), as exponents of ten; and
#: the last step relative to the first.
SLOWEST, FASTEST, WIDEST, LAST = -3.0, -1.0, 4.0, 0.01
#: Steps after the first sure violation, which enlarge it.
AFTERWARDS = 20
#: A descent whose gradients have all been zero for so many steps ends, and so does one of which no
#: instance has come closer for so many steps.
FLAT, IDLE = 3, 25
#: An instance that is this close to equality counts as having arrived.
CLOSE = 1e-10
#: Smallest step off a point of equality, as an exponent of ten; and steps between two of them.
CLOSEST, REST = -6.0, 10
#: The decay rates of Adam's moments, and the summand that avoids a division by zero.
FIRST, SECOND, TINY = 0.9, 0.99, 1e-30

#: Why a descent ended early.
NO_GRADIENT = "descend: the margin has no gradient"


class Descend:
    """Descent on the margin."""

    name = "descend"
    stage: Stage = "deepen"
    visits = 5

    def search(self, arena: Arena, seed: int) -> None:
        batch = min(LARGEST_BATCH, BATCH << min(arena.round, 8)) if arena.batched else SINGLE_BATCH
        start = starts(arena, seed, arena.scaled(batch))
        if start is None:
            return
        best = descend(arena, start, seed_of(seed, "descend"))
        if best is not None:
            arena.offer(best)


def descend(arena: Arena, start: Sample, seed: int, steps: int = STEPS) -> Sample | None:
    """The best point of each instance of a descent; None where no margin has a gradient."""
    steps = steps if arena.batched else min(steps, SINGLE_STEPS)
    steps = steps if entries(start.record) <= LARGE else min(steps, LARGE_STEPS)
    walk = _Walk(start.record, seed)
    aims = _aims(start.margins)
    moved, end, flat = False, steps, 0
    for step in range(steps):
        try:
            measured, margin, gradient, tight = _slopes(arena, walk.space, aims, walk.now)
        except OutOfTime:
            raise
        except Exception as error:
            arena.troubles[trouble("descend: a gradient", error)] += 1
            break
        inside = measured.valid & (margin < torch.inf)
        zero = not bool((gradient != 0).any() | tight.any())
        moved = moved or not zero
        flat = flat + 1 if zero else 0
        if not moved and flat > FLAT:
            arena.troubles[NO_GRADIENT] += 1
            return None
        if end == steps and arena.sure(measured):
            end = min(steps, step + AFTERWARDS)
        if step >= end or flat > FLAT:
            break
        cosine = (1 + math.cos(math.pi * step / steps)) / 2
        walk.step(margin, inside, gradient, tight, max(cosine, LAST))
        if walk.idle > IDLE:
            break
    return arena.at(tidy(walk.space.record(walk.best))) if moved else None


class _Walk:
    """The current and the best point of each instance, and its moments of Adam."""

    def __init__(self, record: Record, seed: int) -> None:
        self.space = space = Space(record)
        self.now = self.best = space.points(record)
        count, device = self.now.shape[0], self.now.device
        self._width = (space.high - space.low).clamp(max=WIDEST)
        self._generator = torch.Generator().manual_seed(seed)
        exponent = self._uniform(count)
        self._rate = 10 ** (SLOWEST + (FASTEST - SLOWEST) * exponent)
        self._least = torch.full((count,), torch.inf, dtype=torch.float64, device=device)
        self._age = torch.zeros(count, dtype=torch.float64, device=device)
        self._rest = torch.full((count,), REST, device=device)
        self._first = torch.zeros_like(self.now)
        self._second = torch.zeros_like(self.now)
        self._kicks = 0
        #: Steps since an instance has come closer.
        self.idle = 0

    def step(
        self,
        margin: torch.Tensor,
        inside: torch.Tensor,
        gradient: torch.Tensor,
        tight: torch.Tensor,
        factor: float,
    ) -> None:
        """Keep the points that are the best so far, and take a step; those not inside go back.

        Args:
            tight: the instances at equality, which are moved off now and then.
        """
        better = inside & (margin < self._least)
        step = 1e-3 * torch.where(self._least < 1.0, self._least.abs(), 1.0)
        open_ = (self._least > CLOSE) | (margin < 0)
        closer = inside & open_ & ((margin < self._least - step) | (self._least == torch.inf))
        self.idle = 0 if bool(closer.any()) else self.idle + 1
        self._least = torch.where(better, margin, self._least)
        self.best = torch.where(better[:, None], self.now, self.best)
        self._rate = torch.where(inside, self._rate, self._rate / 2)
        self._age = torch.where(inside, self._age + 1, 0.0)
        stays = inside[:, None]
        first = torch.lerp(gradient, self._first, FIRST)
        second = torch.lerp(gradient * gradient, self._second, SECOND)
        self._first = first = torch.where(stays, first, 0.0)
        self._second = second = torch.where(stays, second, 0.0)
        age = self._age.clamp(min=1)[:, None]
        direction = first / (1 - FIRST**age) / ((second / (1 - SECOND**age)).sqrt() + TINY)
        there = self.now - self._rate[:, None] * (self._width * factor) * direction
        there = torch.where(stays, there, self.best)
        self._rest += 1
        stuck = inside & tight & (self._rest > REST)
        if bool(stuck.any()):
            there = torch.where(stuck[:, None], self._off(gradient), there)
            self._rest = torch.where(stuck, 0, self._rest)
        self.now = there.clamp(self.space.low, self.space.high)

    def _off(self, gradient: torch.Tensor) -> torch.Tensor:
        """Points beside the current ones; every other time on their level sets, to first order."""
        count, number = self.now.shape
        direction = torch.randn(count, number, dtype=torch.float64, generator=self._generator)
        direction = direction.to(self.now.device)
        self._kicks += 1
        if self._kicks % 2:
            slope = (direction * gradient).sum(1, keepdim=True)
            direction = direction - gradient * slope / (
                (gradient * gradient).sum(1, keepdim=True) + TINY
            )
        size = 10 ** (CLOSEST * self._uniform(count))
        return self.now + size[:, None] * self._width * direction

    def _uniform(self, count: int) -> torch.Tensor:
        made = torch.rand(count, dtype=torch.float64, generator=self._generator)
        return made.to(self.now.device)


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


def _slopes(
    arena: Arena, space: Space, aims: tuple[torch.Tensor, torch.Tensor], now: torch.Tensor
) -> tuple[Margins, torch.Tensor, torch.Tensor, torch.Tensor]:
    """All margins, those that the instances descend on, their gradients, and who is at equality.

    The gradients have the shape (B, N); at equality they are those of the steady margin.
    """
    aim, by_steady = aims
    leaf = now.clone().requires_grad_()
    measured = arena.measure(space.record(leaf))
    distance, steady = (one.gather(0, aim)[0] for one in (measured.distance, measured.steady))
    margin = torch.where(by_steady, steady, distance)
    inside = measured.valid & (margin.detach() < torch.inf)
    tight = inside & (distance.detach() == 0)
    gradient = _gradient(torch.where(tight, steady, margin), inside, leaf)
    return measured, margin.detach(), gradient, tight


def _gradient(margin: torch.Tensor, inside: torch.Tensor, leaf: torch.Tensor) -> torch.Tensor:
    """The gradients of the margins, shape (B, N); zero where they are not finite."""
    total = torch.where(inside, margin, 0.0).sum()
    if not total.requires_grad:
        return torch.zeros_like(leaf)
    gradient: torch.Tensor | None = torch.autograd.grad(total, leaf, allow_unused=True)[0]
    if gradient is None:
        return torch.zeros_like(leaf)
    finite = inside & gradient.isfinite().all(1)
    return torch.where(finite[:, None], gradient, 0.0)
