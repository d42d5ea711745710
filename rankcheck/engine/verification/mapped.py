"""A claim on a batch of instances: the generator and the body run once, mapped over all of them.

`torch.func.vmap` gives them the tensors of one instance, and does for all what they do for one. It
cannot where a value decides what comes next (`if`, `.item()`, numpy), nor where torch has no rule;
then the instances have to run one at a time.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from hypothesis.errors import HypothesisException

from rankcheck.balls import Mapping, mapping
from rankcheck.claims.claim import Claim, ClaimError, ImpureError
from rankcheck.claims.relations import Relation
from rankcheck.engine.parallel.traces import innermost
from rankcheck.errors import InputError, short_of_memory
from rankcheck.theory.instances.drivers import MappedSource, ReplayError
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances, Rejected

#: Errors that say nothing about an instance: they are not caught.
PASSED = (ClaimError, InputError, ReplayError, HypothesisException)
#: What torch warns of where it has no rule for a map, and goes through the batch itself.
SLOW = "There is a performance drop because we have not yet implemented the batching rule"


@dataclass(eq=False)
class Mapped:
    """What came of a batch of n instances.

    Attributes:
        valid: which of them satisfy the hypotheses, shape (n); known up to an error.
        reasons: by hypothesis, how many break it and none before.
        wrapped: on which of them integers wrapped, shape (n): torch's results are wrong there.
        stopped: why the instances have to run one at a time, such as ".item() in line 12", or "".
        error: what the generator or the body raised; without `stopped`, on some of the instances.
        arrays: what was read of each instance, each of shape (n, *S).
    """

    valid: torch.Tensor
    reasons: dict[str, int] = field(default_factory=dict)
    wrapped: torch.Tensor = field(default_factory=lambda: torch.zeros(()))
    stopped: str = ""
    error: Exception | None = None
    arrays: tuple[torch.Tensor, ...] = ()


def over(
    claim: Claim,
    family: Instances,
    record: Record,
    read: Callable[[tuple[Any, ...]], Sequence[torch.Tensor]],
) -> Mapped:
    """Map a generator, and what is read of its instances, over a batch.

    Args:
        record: of the batch; it has at least one tensor.
        read: a function of an instance.

    Raises:
        ImpureError: if the code of the claim draws random numbers of its own.
        InputError: whatever else says that the claim is not well formed.
    """
    whys: list[str] = []
    error: Exception | None = None
    noticed = Mapping("")

    def one(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        nonlocal error, noticed
        source, arrays = MappedSource(record, tensors), tuple[torch.Tensor, ...]()
        with mapping(str(claim.file)) as noticed:
            try:
                arrays = tuple(read(family(source)))
            except PASSED:
                raise
            except Rejected as rejected:
                source._require(torch.zeros_like(source.valid), str(rejected))
            except Exception as raised:
                error = raised
        whys[:] = source.failed
        wrapped = torch.zeros(()) if noticed.wrapped is None else noticed.wrapped
        return (source.valid, wrapped, *source.failed.values(), *arrays)

    with warnings.catch_warnings(), pure(claim):
        warnings.filterwarnings("ignore", message=SLOW)
        valid, wrapped, *others = torch.func.vmap(one)(*record.tensors)
    failed = others[: len(whys)]
    reasons = {why: int(each.sum()) for why, each in zip(whys, failed, strict=True)}
    stopped = noticed.stopped or ("" if error is None else _named(claim, error))
    if error is not None and all(map(_of_some, (error, noticed.error or error))):
        stopped = ""
    return Mapped(
        valid,
        {why: number for why, number in reasons.items() if number},
        wrapped.bool(),
        stopped,
        error,
        tuple(others[len(whys) :]),
    )


def relations_over(
    claim: Claim, family: Instances, record: Record
) -> tuple[Mapped, tuple[Relation, ...]]:
    """The relations of a claim over a batch; none, if something was raised."""
    form: list[Relation] = []

    def read(instance: tuple[Any, ...]) -> list[torch.Tensor]:
        form[:] = [relation.spread() for relation in claim.relations(instance)]
        return [array for relation in form for array in relation.arrays.values()]

    found = over(claim, family, record, read)
    arrays = iter(found.arrays)
    over_batch = (one.with_arrays({name: next(arrays) for name in one.arrays}) for one in form)
    return found, tuple(over_batch) if found.arrays else ()


def beside(relations: Sequence[tuple[Relation, ...]]) -> tuple[Relation, ...]:
    """The relations of several instances, of one `form`, as those of a batch."""
    return tuple(
        column[0].with_arrays(
            {name: torch.stack([getattr(r, name) for r in column]) for name in column[0].arrays}
        )
        for column in zip(*relations, strict=True)
    )


@contextmanager
def pure(claim: Claim) -> Iterator[None]:
    """Run code of a claim, which may not draw from the global generators of random numbers.

    Raises:
        ImpureError: if it does.
    """
    before = _states()
    yield
    for name, old, new in zip(_GENERATORS, before, _states(), strict=True):
        if old != new:
            raise ImpureError(
                claim,
                f"the body or a generator draws random numbers from {name}; both are functions of "
                "what is drawn from the source, and of nothing else",
            )


_GENERATORS = ("torch", "numpy.random", "random")


def _states() -> tuple[Any, ...]:
    _, keys, place, *gauss = np.random.get_state()  # noqa: NPY002
    return (
        torch.default_generator.get_state().numpy().tobytes(),
        (np.asarray(keys).tobytes(), place, *gauss),
        random.getstate(),
    )


def _of_some(error: Exception) -> bool:
    """Whether a batch that is halved may show which of its instances an error comes from."""
    return isinstance(error, torch.linalg.LinAlgError) or short_of_memory(error)


def _named(claim: Claim, error: Exception) -> str:
    """What was raised inside of a map, and in which line of the claim."""
    frame = innermost(error, [claim.file])
    return type(error).__name__ + ("" if frame is None else f" in line {frame.lineno}")
