"""A claim at one discrete shape: what a strategy draws from, measures on, and reports to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from rankcheck.claims.claim import Claim
from rankcheck.errors import InputError
from rankcheck.hunt.margins import Margins, margins, stack
from rankcheck.hunt.points import ShapedSource, StructuredSource
from rankcheck.instances.record import Record
from rankcheck.instances.source import Instances, Rejected, ReplaySource, Source, seed_of

#: Of the violations that a strategy offers, this many are kept.
KEPT = 6
#: Instances in a sample, where bodies carry a batch axis and where they are run one by one.
SAMPLE, SINGLES = 256, 24


class HuntError(InputError):
    """A hunt that cannot be carried out: the rule, then what was received."""


class OutOfTime(Exception):
    """The budget of the hunt is spent; what was offered so far counts."""


@dataclass(frozen=True, order=True)
class Shape:
    """A discrete shape: a family of the claim, and the integers that its generator draws."""

    family: Literal["instances", "tight"]
    integers: tuple[int, ...]

    def of(self, claim: Claim) -> Instances:
        """The family of the claim."""
        family = claim.tight if self.family == "tight" else claim.instances
        if family is None:
            raise HuntError(f"{claim.id} is hunted over its instances; it has none")
        return family


def generated(claim: Claim, shape: Shape, source: Source) -> tuple[Any, ...]:
    """The instances that a family of the claim makes of a source.

    Raises:
        Rejected: if the source has no batch axis and its instance lies outside the hypotheses.
        HuntError: if the generator raises anything else.
    """
    try:
        return shape.of(claim)(source)
    except (Rejected, HuntError):
        raise
    except Exception as error:
        said = " ".join(str(error).split())
        raise HuntError(
            f"a generator makes an instance of every shape; that of {claim.id} raised "
            f"{type(error).__name__} at {source.record.integers}: {said}"
        ) from error


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
        """The first ones, which are as good as any."""
        return self.select(torch.arange(min(count, len(self))))

    def best(self, count: int) -> Sample:
        """Those closest to breaking a relation, `count` of them shared among the relations."""
        rows = self.margins.distance.detach()
        share = -(-count // len(rows))
        chosen = []
        for row in rows:
            order = row.argsort(stable=True)[:share]
            chosen.append(order[row[order] < torch.inf])
        return self.select(torch.cat(chosen))


@dataclass(frozen=True)
class Tally:
    """What has been measured: numbers of instances, and the least margin of each relation."""

    evaluated: int = 0
    rejected: int = 0
    least: tuple[float, ...] = ()


class Arena:
    """A claim at one discrete shape, on one device.

    A strategy draws samples, measures records of its own, and offers what it finds. The arena
    counts instances and keeps the worst violations; whether one is refuted is not asked here.

    Raises:
        HuntError: from whatever runs the body, if the body raises anything but a rejection.
        OutOfTime: likewise, once the clock has reached `until`, in seconds since the epoch.
    """

    def __init__(
        self,
        claim: Claim,
        shape: Shape,
        *,
        device: torch.device | str = "cpu",
        until: float | None = None,
    ) -> None:
        self.claim = claim
        self.shape = shape
        self.family = shape.of(claim)
        self.device = device
        self.tally = Tally()
        #: The worst violations so far, as (how far beyond the tolerance, record).
        self.offers: list[tuple[float, Record]] = []
        self._until = until

    @property
    def batched(self) -> bool:
        """Whether the body carries a batch axis."""
        return self.claim.no_batch is None

    @property
    def sample_size(self) -> int:
        """How many instances make a sample: fewer where the claim says that each is costly."""
        size = SAMPLE if self.batched else SINGLES
        return max(8, round(size * min(1.0, self.claim.effort)))

    def sample(self, seed: int, size: int | None = None, *, structured: bool = False) -> Sample:
        """Draw instances of this shape, at random or structured points, and measure them."""
        count = self.sample_size if size is None else size
        make = StructuredSource if structured else ShapedSource
        if self.batched:
            source = make(self.shape.integers, seed, count, self.device)
            measured = self._run(source)
            sample = EMPTY if measured is None else Sample(source.record, measured)
        else:
            singles: list[tuple[Record, Margins]] = []
            for index in range(count):
                source = make(self.shape.integers, seed_of(seed, index), None, self.device)
                measured = self._run(source)
                # Integers that depend on the entries may differ from one instance to the next.
                if measured is not None and (
                    not singles or source.record.integers == singles[0][0].integers
                ):
                    singles.append((source.record, measured))
            sample = _together(singles) if singles else EMPTY
        self._count(sample.margins, count)
        self.offer(sample)
        return sample

    def measure(self, record: Record) -> Margins:
        """The margins of a batch of records of one shape; gradients flow to tensors that want them.

        Counts the instances, but keeps none: `offer` does that.
        """
        count = record.tensors[0].shape[0]
        if self.batched:
            measured = self._run(ReplaySource(record, batch=(count,)))
            measured = measured or self._outside((count,))
        else:
            one_by_one = [
                self._run(ReplaySource(record.with_tensors([t[index] for t in record.tensors])))
                for index in range(count)
            ]
            measured = stack([one or self._outside(()) for one in one_by_one])
        self._count(measured, count)
        return measured

    def at(self, record: Record) -> Sample:
        """A batch of records of this shape, measured, without gradients."""
        with torch.no_grad():
            return Sample(record, self.measure(record))

    def offer(self, sample: Sample) -> int:
        """Report instances; those beyond their tolerance are candidates. How many those were."""
        beyond = torch.where(sample.margins.valid, sample.margins.beyond, -torch.inf).cpu()
        found = int((beyond > -torch.inf).sum())
        # A side that is not a number says little: such instances come last.
        order = torch.where(beyond == torch.inf, 0.0, beyond).argsort(descending=True, stable=True)
        for index in order[: min(found, KEPT)].tolist():
            self.offers.append((float(beyond[index]), sample.record.instance(index)))
        self.offers.sort(key=lambda offer: -offer[0] if offer[0] < torch.inf else 0.0)
        del self.offers[KEPT:]
        return found

    def _outside(self, batch: tuple[int, ...]) -> Margins:
        return outside(batch, len(self.tally.least) or 1, self.device)

    def _count(self, measured: Margins, count: int) -> None:
        """Count instances, and keep the least margin of each relation.

        What lies beyond the tolerance is not believed before balls have seen it.
        """
        inside = int(measured.valid.sum())
        least = list(self.tally.least)
        if inside:
            believed = measured.valid & (measured.beyond == -torch.inf)
            known = torch.where(believed, measured.relative.detach(), torch.inf).amin(1).tolist()
            least = [
                min(pair) for pair in zip(least or [torch.inf] * len(known), known, strict=True)
            ]
        tally = self.tally
        self.tally = Tally(tally.evaluated + inside, tally.rejected + count - inside, tuple(least))

    def _run(self, source: Source) -> Margins | None:
        """The margins of what a source gives; None where all of it is rejected."""
        if self._until is not None and time.time() > self._until:
            raise OutOfTime
        try:
            relations = self.claim.relations(self.family(source))
        except (Rejected, torch.linalg.LinAlgError):
            return None
        except (OutOfTime, HuntError):
            raise
        except Exception as error:
            said = " ".join(str(error).split())
            raise HuntError(
                f"a body accepts every instance of its family; {self.claim.id} raised "
                f"{type(error).__name__} at the shape {self.shape.integers}: {said}"
            ) from error
        return margins(relations, source.valid)


def outside(batch: tuple[int, ...], relations: int, device: torch.device | str = "cpu") -> Margins:
    """The margins of instances that lie outside the hypotheses."""
    margin = torch.full((relations, *batch), torch.inf, dtype=torch.float64, device=device)
    nowhere = torch.zeros(batch, dtype=torch.bool, device=device)
    return Margins(margin, margin, margin, torch.full_like(margin[0], -torch.inf), nowhere)


def _together(singles: Sequence[tuple[Record, Margins]]) -> Sample:
    """Instances that were drawn one by one, as a batch."""
    records, measured = zip(*singles, strict=True)
    tensors = [torch.stack(column) for column in zip(*(r.tensors for r in records), strict=True)]
    return Sample(records[0].with_tensors(tensors), stack(measured))


EMPTY = Sample(Record(()), outside((0,), 1))
