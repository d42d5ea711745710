"""Samples: instances of one shape as a batch, with their margins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from rankcheck.engine.hunt.margins import Margins, join
from rankcheck.theory.instances.record import Record


@dataclass(frozen=True, eq=False)
class Sample:
    """Instances as a batch of B records, with their margins."""

    record: Record
    margins: Margins

    def __len__(self) -> int:
        return int(self.margins.valid.shape[0])

    def select(self, index: torch.Tensor) -> Sample:
        """Some of the instances."""
        return Sample(self.record.select(index), self.margins.select(index))

    def first(self, count: int) -> Sample:
        """The first `count` instances."""
        return self.select(torch.arange(min(count, len(self))))

    def best(self, count: int) -> Sample:
        """The instances closest to breaking a relation: of `count`, an equal share a relation.

        At most half of a share are instances at equality, as long as there are others.
        """
        rows = self.margins.distance.detach()
        share = -(-count // len(rows))
        chosen = []
        for row in rows:
            order = row.argsort(stable=True)
            order = order[row[order] < torch.inf]
            equal = row[order] == 0
            late = equal & (equal.cumsum(0) > (share + 1) // 2)
            chosen.append(torch.cat((order[~late], order[late]))[:share])
        return self.select(torch.cat(chosen))


def together(samples: Sequence[Sample]) -> Sample:
    """Samples of one shape as one sample."""
    return Sample(
        rows_of([sample.record for sample in samples]), join([one.margins for one in samples])
    )


def rows_of(records: Sequence[Record]) -> Record:
    """Batches of records of one shape as one batch."""
    columns = zip(*(record.tensors for record in records), strict=True)
    return records[0].with_tensors([torch.cat(column) for column in columns])


def outside(count: int, relations: int, device: torch.device | str = "cpu") -> Margins:
    """The margins of instances that lie outside the hypotheses."""
    margin = torch.full((relations, count), torch.inf, dtype=torch.float64, device=device)
    nowhere = torch.zeros(count, dtype=torch.bool, device=device)
    none = torch.full_like(margin[0], -torch.inf)
    return Margins(margin, margin, margin, none, none, nowhere)


EMPTY = Sample(Record(()), outside(0, 1))
