"""A claim at one discrete shape: a strategy draws, measures and offers instances through it."""

from __future__ import annotations

import math
import re
import time
import warnings
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal, TypeVar

import torch

from rankcheck.claims.claim import Claim
from rankcheck.engine.hunt.margins import Margins, join, margins
from rankcheck.engine.hunt.points import MagnitudeSource, ShapedSource, StructuredSource
from rankcheck.engine.hunt.sample import EMPTY, Sample, outside, rows_of
from rankcheck.engine.verification.batches import Drawn, draw_batch, evaluate_instances
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.evaluation import Evaluation, Part
from rankcheck.engine.verification.ways import Way, ways_of
from rankcheck.errors import InputError
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances, Rejected, Source

#: Number of violations that an arena keeps (`Arena.kept`), relative to their sides and in
#: absolute terms. Where both sides nearly vanish, rounding is relatively large.
KEPT, KEPT_LARGE = 6, 3
#: Of violations whose sizes differ by less than this, relatively, one is kept.
SAME = 1e-9
#: Instances in a sample of the first round, where they are mapped over, and where they run one at a
#: time. The size doubles from round to round, up to `LARGEST`.
SAMPLE, SINGLES, LARGEST = 512, 24, 4096
#: Number of entries in a sample, beyond which it has fewer instances, and the fewest that it has.
ENTRIES, FEWEST = 2**17, 64
#: A violation larger than this, relative to the sides, is hardly rounding.
SURE = 1e-6
#: The families of a claim that a hunt draws from.
Family = Literal["instances", "tight"]
#: Texts of exceptions are cut off after so many characters.
READABLE = 300
#: Reasons for rejection besides those that generators give.
NOT_ASSERTED = "no relation of the claim is asserted"


class HuntError(InputError):
    """A hunt that cannot be carried out: what happened, then the rule."""


class BodyError(HuntError):
    """The body or the generator of a claim raised something other than a rejection."""


class OutOfTime(Exception):
    """The budget of the hunt is spent. What was offered before is still judged."""


@dataclass(frozen=True, order=True)
class Shape:
    """A discrete shape: a family of the claim, and the integers that its generator draws."""

    family: Family
    integers: tuple[int, ...]

    def of(self, claim: Claim) -> Instances:
        """The family of the claim."""
        family = claim.tight if self.family == "tight" else claim.instances
        if family is None:
            raise HuntError(f"{claim.id} has no {self.family}; a hunt draws instances of a claim")
        return family


def generated(claim: Claim, shape: Shape, source: Source) -> tuple[Any, ...]:
    """The instance that a family of the claim builds from a source.

    Raises:
        Rejected: if the generator rejects the shape.
        BodyError: if the generator raises anything else.
    """
    try:
        return shape.of(claim)(source)
    except (Rejected, HuntError):
        raise
    except Exception as error:
        text = " ".join(str(error).split())
        raise BodyError(
            f"the generator of {claim.id} raised {type(error).__name__} at the shape "
            f"{source.record.integers}: {text}; a generator accepts every shape in its ranges"
        ) from error


def drawn_shape(claim: Claim, family: Family, source: Source) -> Shape | None:
    """The shape that a family of a claim draws from a source; None where it rejects the instance.

    Raises:
        BodyError: if the generator raises.
    """
    try:
        generated(claim, Shape(family, ()), source)
    except Rejected:
        return None
    return Shape(family, source.record.integers)


def trouble(search: str, error: Exception) -> str:
    """Why a search ended early: the exception, without the numbers that vary by instance."""
    text = " ".join(str(error).split())
    text = re.sub(r"[-+]?\b\d+(\.\d+)?(e[-+]?\d+)?\b", "N", text)
    return f"{search} raised {type(error).__name__}: {text}"[:READABLE]


T = TypeVar("T")


def _worst(beyond: torch.Tensor, count: int) -> list[int]:
    """Indices of the largest violations, one of each size; sides that are no numbers come last."""
    order = torch.where(beyond == torch.inf, 0.0, beyond).argsort(descending=True, stable=True)
    order = order[beyond[order] > -torch.inf]
    size = beyond[order]
    new = torch.ones(len(order), dtype=torch.bool)
    new[1:] = (size[1:] != size[:-1]) & ((size[1:] - size[:-1]).abs() > SAME * size[1:].abs())
    return order[new][:count].tolist()


def _kept(offers: list[tuple[float, T]], count: int) -> list[tuple[float, T]]:
    """The worst of some violations, one of each size."""
    chosen: list[tuple[float, T]] = []
    for offer in sorted(offers, key=lambda offer: -offer[0] if offer[0] < torch.inf else 0.0):
        if not any(math.isclose(offer[0], size, rel_tol=SAME) for size, _ in chosen):
            chosen.append(offer)
    return chosen[:count]


class Arena:
    """A claim at one discrete shape, on one device.

    A strategy draws samples, measures records of its own, and offers what it finds. The arena
    counts instances and keeps the worst violations. It does not judge them.

    Attributes:
        counts: the instances inside and outside the hypotheses, and the reasons for rejection.
        round: number of the round, which later rounds spend on larger samples.
        least: the least margin of each relation; empty where no instance was inside. Violations
            beyond the tolerance are left out, because ball arithmetic has not judged them yet.
        offers: the worst violations, as (how far beyond the tolerance, record).
        kept: how many violations are kept for the judge: the worst ones relative to their sides,
            and in absolute terms.
        raised: what the body or the generator raised on an instance inside the hypotheses.
        troubles: by reason, how many searches, or starts of one, ended early.

    Every method that evaluates the body raises:
        OutOfTime: once `time.monotonic()` has passed `until`.
    """

    def __init__(
        self,
        claim: Claim,
        shape: Shape,
        *,
        device: torch.device | str = "cpu",
        until: float | None = None,
        number: int = 0,
    ) -> None:
        self.claim = claim
        self.shape = shape
        self.family = shape.of(claim)
        self.device = device
        self.counts = Counts()
        self.least: tuple[float, ...] = ()
        self.offers: list[tuple[float, Record]] = []
        self.kept = KEPT, KEPT_LARGE
        self._large: list[tuple[float, tuple[float, Record]]] = []
        self.troubles: Counter[str] = Counter()
        self.raised = ""
        self.round = number
        self._until = until

    @property
    def way(self) -> Way:
        """What is known of how the claim runs at the shape."""
        return ways_of(self.claim, self.family).at.setdefault(self.shape.integers, Way())

    @property
    def batched(self) -> bool:
        """Whether the instances of the shape are mapped over, as far as is known."""
        return not self.way.singly

    @property
    def sample_size(self) -> int:
        """Number of instances in a sample; see `scaled`."""
        if not self.batched:
            return self.scaled(SINGLES)
        return self.scaled(min(LARGEST, SAMPLE << min(self.round, 8)))

    def scaled(self, count: int) -> int:
        """Fewer instances for a claim of effort below 1, or with many entries; one without any.

        The number does not depend on the clock, so that the result of a shard does not either.
        """
        if self._width() == 0:
            return 1
        if self.batched:
            count = min(count, max(FEWEST, ENTRIES // self._width()))
        return max(min(count, 8), round(count * min(1.0, self.claim.effort)))

    def _width(self) -> int:
        """Number of entries of an instance of the shape."""
        if self.way.entries is None:
            source = ShapedSource(self.shape.integers, 0, device=self.device)
            with suppress(Exception):  # a sample meets it again
                self.family(source)
            self.way.entries = sum(tensor.numel() for tensor in source.record.tensors)
        return self.way.entries

    def sure(self, measured: Margins) -> bool:
        """Whether an instance has a violation that is hardly rounding."""
        return bool((measured.valid & (measured.beyond > SURE)).any())

    def sample(
        self,
        seed: int,
        size: int | None = None,
        *,
        structured: bool = False,
        magnitudes: bool = False,
    ) -> Sample:
        """Draw instances of this shape and measure them.

        Args:
            structured: draw structured points; otherwise at random.
            magnitudes: draw entries whose magnitudes differ by orders.
        """
        count = self.sample_size if size is None else size
        make: type[ShapedSource] = ShapedSource
        if structured or magnitudes:
            make = StructuredSource if structured else MagnitudeSource
        source = make(self.shape.integers, seed, count, self.device)
        share = min(1.0, SINGLES / count) if self.way.singly is None else 1.0
        evaluation = self._evaluated(draw_batch(self.claim, self.family, source), share)
        lost = Counter(evaluation.reasons)
        parts = [(part.record, self._margins(part, lost)) for part in evaluation.parts]
        sample = EMPTY
        if parts:
            joined = join([measured for _, measured in parts])
            sample = Sample(rows_of([record for record, _ in parts]), joined)
        self._count(sample.margins, evaluation.counts.total + len(evaluation.raised), lost)
        self.offer(sample)
        return sample

    def measure(self, record: Record) -> Margins:
        """The margins of a batch of records of one shape, with gradients for leaves that need them.

        The instances are counted but not offered. One that is rejected, or on which the body
        raises, lies outside.
        """
        count = record.tensors[0].shape[0]
        known = self.raised
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Converting a tensor with requires_grad")
            evaluation = self._evaluated(Drawn(record))
        leaves = any(tensor.requires_grad for tensor in record.tensors)
        if leaves and evaluation.raised and not evaluation.parts:
            # numpy takes no tensor that needs a gradient; then there is none to follow
            self.raised = known
            free = record.with_tensors([tensor.detach() for tensor in record.tensors])
            evaluation = self._evaluated(Drawn(free))
        lost = Counter(evaluation.reasons)
        found = [self._margins(part, lost) for part in evaluation.parts]
        places = [part.places for part in evaluation.parts]
        left = torch.ones(count, dtype=torch.bool)
        left[torch.cat(places) if places else []] = False
        if bool(left.any()) or not found:
            found.append(outside(int(left.sum()), len(self.least) or 1, self.device))
            places.append(left.nonzero().reshape(-1))
        measured = join(found)
        order = torch.cat(places).argsort()
        if len(found) > 1:
            measured = measured.select(order.to(self.device))
        self._count(measured, count, lost)
        return measured

    def at(self, record: Record) -> Sample:
        """A batch of records of this shape with their margins, without gradients."""
        with torch.no_grad():
            return Sample(record, self.measure(record))

    def offer(self, sample: Sample) -> int:
        """Keep the violations beyond their tolerance; the number of them in the sample."""
        beyond = torch.where(sample.margins.valid, sample.margins.beyond, -torch.inf).cpu()
        violations = int((beyond > -torch.inf).sum())
        if not violations:
            return 0
        absolute = torch.where(sample.margins.valid, sample.margins.absolute, -torch.inf).cpu()
        relatively, absolutely = self.kept
        for index in _worst(beyond, relatively):
            self.offers.append((float(beyond[index]), sample.record.instance(index)))
        self.offers = _kept(self.offers, relatively)
        for index in _worst(absolute, absolutely):
            one = float(absolute[index]), (float(beyond[index]), sample.record.instance(index))
            self._large.append(one)
        self._large = _kept(self._large, absolutely)
        return violations

    @property
    def judged(self) -> list[tuple[float, Record]]:
        """The offers, then those that are large in absolute terms and not among them."""
        known = {id(record) for _, record in self.offers}
        sizes = {size for size, _ in self.offers}
        large = [one for _, one in self._large if id(one[1]) not in known and one[0] not in sizes]
        return self.offers + large

    def _count(self, measured: Margins, count: int, lost: Mapping[str, int]) -> None:
        """Count instances, and keep the least margin of each relation.

        A margin beyond the tolerance may be rounding, so it is left out here.
        """
        inside = int(measured.valid.sum())
        if inside:
            within = measured.valid & (measured.beyond == -torch.inf)
            least = torch.where(within, measured.relative.detach(), torch.inf).amin(1).tolist()
            self.least = tuple(map(min, zip_longest(self.least, least, fillvalue=torch.inf)))
        self.counts += Counts(evaluated=inside, rejected=count - inside, reasons=dict(lost))

    def _evaluated(self, batch: Drawn, share: float = 1.0) -> Evaluation:
        """The evaluation of a batch of this shape; of a share of it, if it runs one at a time."""
        self._check_clock()
        evaluation = batch.evaluation
        if batch.whole:
            evaluation = evaluate_instances(
                self.claim, self.family, batch, share=share, before_each=self._check_clock
            )
        if evaluation.raised and not self.raised:
            self.raised = evaluation.raised[0].told(self.claim)
        return evaluation

    def _check_clock(self) -> None:
        if self._until is not None and time.monotonic() > self._until:
            raise OutOfTime

    def _margins(self, part: Part, lost: Counter[str]) -> Margins:
        measured = margins(part.relations, part.valid)
        if unasserted := int(part.valid.sum()) - int(measured.valid.sum()):
            lost[NOT_ASSERTED] += unasserted
        return measured
