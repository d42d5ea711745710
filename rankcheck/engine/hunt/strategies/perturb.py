"""Generations of small and structured changes of the best points.

The parents are the best of a sample, and instances of the tight family of the claim, if it has one,
as records of the claim's own family (`transplant`). A child differs from its parent by noise of any
size or by a change of structure: an entry is zeroed, negated, rounded or put at an end of its
range, two rows are exchanged or made equal, a tensor is scaled, made equal to another of its shape,
or taken from another parent. This finds violations of margins without a gradient, such as ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from rankcheck.engine.counterexamples.instance import wide
from rankcheck.engine.hunt.arena import Arena, OutOfTime, trouble
from rankcheck.engine.hunt.sample import Sample, together
from rankcheck.engine.hunt.strategies.base import Stage
from rankcheck.engine.hunt.strategies.starts import starts, tidy
from rankcheck.engine.hunt.transplant import transplanted
from rankcheck.theory.instances.record import Entries, Record
from rankcheck.theory.instances.source import seed_of

PARENTS, CHILDREN, GENERATIONS = 24, 192, 30
#: A generation of later rounds has more children, and there are fewer generations.
MORE_CHILDREN, FEWER_GENERATIONS, MANY = 1024, 15, 3
SINGLE_PARENTS, SINGLE_CHILDREN, SINGLE_GENERATIONS = 6, 12, 3


class Perturb:
    """Small changes of the best points of a sample and of tight instances."""

    name = "perturb"
    stage: Stage = "deepen"
    visits = 3

    def search(self, arena: Arena, seed: int) -> None:
        parents = SINGLE_PARENTS if not arena.batched else PARENTS
        begin = starts(arena, seed, parents)
        if begin is None:
            return
        if arena.claim.tight is not None:
            try:
                tight = transplanted(arena, seed_of(seed, "tight"), parents)
            except OutOfTime:
                raise
            except Exception as error:
                arena.troubles[trouble("perturb: the tight family", error)] += 1
                tight = None
            begin = begin if tight is None else together([tight, begin])
        perturb(arena, begin, seed_of(seed, "perturb"))


def perturb(arena: Arena, parents: Sample, seed: int) -> Sample:
    """Offer each generation; the best of parents and children are the next parents.

    Returns:
        The last parents.
    """
    generator = torch.Generator().manual_seed(seed)
    children, generations = SINGLE_CHILDREN, SINGLE_GENERATIONS
    if arena.batched:
        late = arena.round >= MANY
        children = arena.scaled(MORE_CHILDREN if late else CHILDREN)
        generations = FEWER_GENERATIONS if late else GENERATIONS
    relations = parents.margins.distance.shape[0]
    count = len(parents)
    for generation in range(generations):
        record = tidy(_Children(parents.record, children, generator).record())
        born = arena.at(record)
        arena.offer(born)
        if arena.sure(born.margins):
            return born
        # The newest of equals comes first, so that the search moves on a plateau.
        everyone = together([born, parents])
        margin = everyone.margins.distance[generation % relations]
        order = margin.argsort(stable=True).cpu()
        parents = everyone.select(order[:count])
    return parents


class _Children:
    """A batch of changed copies of some parents."""

    def __init__(self, parents: Record, count: int, generator: torch.Generator) -> None:
        self._generator = generator
        self._count = count
        self._like = parents
        number = parents.tensors[0].shape[0]
        self._device = parents.tensors[0].device
        mother = self._below(number)
        self._father = [t[self._below(number).to(t.device)].clone() for t in parents.tensors]
        self._tensors = [t[mother.to(t.device)].clone() for t in parents.tensors]
        self._ranges = [c for c in parents.choices if isinstance(c, Entries)]
        #: The children that are changed; `_count` is their number meanwhile.
        self._rows = torch.arange(count)

    def record(self) -> Record:
        """The children, after up to three changes each."""
        for _ in range(3):
            self._change()
        tensors = [t.clamp(c.low, c.high) for t, c in zip(self._tensors, self._ranges, strict=True)]
        return self._like.with_tensors(tensors)

    def _change(self) -> None:
        which = self._below(len(self._tensors))
        kind = self._below(len(_CHANGES) + 3)  # the last three change nothing
        for index, entry in enumerate(self._ranges):
            values = self._tensors[index]
            if not values[0].numel():
                continue
            for number, change in enumerate(_CHANGES):
                chosen = ((which == index) & (kind == number)).to(values.device)
                if number == 0:  # noise on all tensors
                    chosen = (kind == number).to(values.device)
                self._rows = chosen.nonzero().reshape(-1)
                if len(self._rows):
                    everyone, self._count = self._count, len(self._rows)
                    changed = change(self, index, values[self._rows], entry)
                    values = values.index_copy(0, self._rows, changed)
                    self._count = everyone
            self._tensors[index] = values

    def _uniform(self, *shape: int) -> torch.Tensor:
        made = torch.rand(self._count, *shape, dtype=torch.float64, generator=self._generator)
        return made.to(self._device)

    def _below(self, limit: int) -> torch.Tensor:
        made = torch.rand(self._count, dtype=torch.float64, generator=self._generator)
        return (made * limit).long()  # below the limit: see `StructuredSource._uniform`

    def _one(self, values: torch.Tensor) -> torch.Tensor:
        """A mask of one entry of each instance."""
        entries = math.prod(values.shape[1:])
        at = self._below(entries).to(values.device)
        return torch.nn.functional.one_hot(at, entries).bool().reshape(values.shape)

    # Changes: each returns new values of the same shape

    def _noise(self, index: int, values: torch.Tensor, entry: Entries) -> torch.Tensor:
        normal = torch.randn(values.shape, dtype=torch.float64, generator=self._generator)
        size = wide(10 ** (-4 * self._uniform()), values)
        return values + normal.to(values.device) * size

    def _zero(self, index: int, values: torch.Tensor, entry: Entries) -> torch.Tensor:
        return torch.where(self._one(values), 0.0, values)

    def _negate(self, index: int, values: torch.Tensor, entry: Entries) -> torch.Tensor:
        return torch.where(self._one(values), -values, values)

    def _integer(self, index: int, values: torch.Tensor, entry: Entries) -> torch.Tensor:
        step = wide(torch.floor(3 * self._uniform()) - 1, values)
        return torch.where(self._one(values), torch.round(values) + step, values)

    def _end(self, index: int, values: torch.Tensor, entry: Entries) -> torch.Tensor:
        return torch.where(self._one(values), entry.high if index % 2 else entry.low, values)

    def _rounded(self, index: int, values: torch.Tensor, entry: Entries) -> torch.Tensor:
        return torch.round(values)

    def _scaled(self, index: int, values: torch.Tensor, entry: Entries) -> torch.Tensor:
        return values * wide(torch.exp2(4 * self._uniform() - 2), values)

    def _equal_rows(self, index: int, values: torch.Tensor, entry: Entries) -> torch.Tensor:
        if values.ndim < 2 or values.shape[-1 if values.ndim == 2 else -2] < 2:
            return -values
        axis = -1 if values.ndim == 2 else -2
        rolled = values.roll(1, axis)
        size = values.shape[axis]
        first = torch.arange(size, device=values.device) == 0
        return torch.where(first if axis == -1 else first[:, None], rolled, values)

    def _rolled(self, index: int, values: torch.Tensor, entry: Entries) -> torch.Tensor:
        return values.roll(1, -1 if values.ndim == 2 else -2) if values.ndim > 1 else -values

    def _repeated(self, index: int, values: torch.Tensor, entry: Entries) -> torch.Tensor:
        for offset in range(1, len(self._tensors)):
            other = self._tensors[index - offset][self._rows]
            if other.shape == values.shape:
                return other
        return values

    def _crossed(self, index: int, values: torch.Tensor, entry: Entries) -> torch.Tensor:
        return self._father[index][self._rows]


_C = _Children
_CHANGES: tuple[Callable[[_Children, int, torch.Tensor, Entries], torch.Tensor], ...] = (
    _C._noise,
    _C._noise,
    _C._zero,
    _C._negate,
    _C._integer,
    _C._end,
    _C._rounded,
    _C._scaled,
    _C._equal_rows,
    _C._rolled,
    _C._repeated,
    _C._crossed,
)
