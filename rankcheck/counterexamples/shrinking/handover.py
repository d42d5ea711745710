"""Handing a recorded instance to Hypothesis, which shrinks it.

This is the one module that relies on what Hypothesis does not promise: that the choices of an
instance, saved under the secondary key of its example database, are replayed first and then shrunk.
Choices that do not fit are dropped there without a word, so what Hypothesis sees first is held
against what it was given; `tests/instances/test_shrink.py` has a canary for each detail.
"""

from __future__ import annotations

import contextlib
import unittest
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import HealthCheck, Phase, find, reject, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import HypothesisException
from hypothesis.internal.conjecture.engine import BUFFER_SIZE

from rankcheck.counterexamples.shrinking.clock import Clock
from rankcheck.counterexamples.shrinking.cropping import size
from rankcheck.counterexamples.shrinking.entries import cost
from rankcheck.instances.record import Integer, Record
from rankcheck.instances.source import SMALLEST, DrawSource, Instances, Rejected

_KEY = b"rankcheck"
#: Choices of an instance that is handed over. Hypothesis could encode three times as many, but it
#: would compare what it never runs for minutes, and no test of ours ends that.
LARGEST = 256


class HandoverError(RuntimeError):
    """Hypothesis does not replay what it was handed: an error of rankcheck, not of its user."""


@dataclass(frozen=True, eq=False)
class Shrunk:
    """The smallest record that was found, and why Hypothesis took no part in it, if so."""

    record: Record
    left_out: str | None = None


class _Stop(BaseException):
    """Leaves Hypothesis from within its test; it takes every `Exception` for a finding."""


def shrink_with_hypothesis(
    family: Instances, record: Record, interesting: Callable[[Record], bool], clock: Clock
) -> Shrunk:
    """The simplest interesting record that Hypothesis finds from this one, which is interesting.

    Raises:
        HandoverError: if the first record that Hypothesis sees is another.
    """
    if (why := refusal(record)) is not None:
        return Shrunk(record, why)
    trial = _Trial(record, interesting, clock)
    database = InMemoryExampleDatabase()
    # Saved under the key itself it would be replayed, but not shrunk.
    database.save(_KEY + b".secondary", choices_to_bytes(choices(record)))
    # A seed, and `derandomize` beside a database, would make Hypothesis leave the database aside;
    # inherited, `derandomize` does not.
    quietly = settings(
        settings(derandomize=True),
        max_examples=2,
        database=database,
        deadline=None,
        phases=(Phase.reuse, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    # However it ends: what was seen is in the trial.
    with contextlib.suppress(HypothesisException, unittest.SkipTest, _Stop):
        find(_drawn(family, trial), trial, settings=quietly, database_key=_KEY)
    if not trial.replayed:
        raise HandoverError(
            f"Hypothesis replays the instance that it is handed first; it saw {trial.first}"
        )
    return Shrunk(trial.best)


def refusal(record: Record) -> str | None:
    """Why a record is not handed over, if so."""
    flat = choices(record)
    if len(flat) > LARGEST or len(choices_to_bytes(flat)) > BUFFER_SIZE:
        return f"Hypothesis is handed at most {LARGEST} numbers; this instance has {len(flat)}"
    if any(bool(((t != 0) & (t.abs() < SMALLEST)).any()) for t in record.tensors):
        return f"Hypothesis draws no entries below {SMALLEST}; this instance has some"
    return None


class _Trial:
    """The predicate that Hypothesis calls; remembers the simplest record for which it held."""

    def __init__(self, record: Record, interesting: Callable[[Record], bool], clock: Clock) -> None:
        self.best = record
        self.replayed = False
        self.first = "nothing"
        self._interesting = interesting
        self._clock = clock
        self._complexity = complexity(record)
        self._start = choices(record)

    def __call__(self, record: Record) -> bool:
        if choices(record) == self._start:
            self.replayed = True
            return True
        if not self.replayed:
            self.first = f"the choices {choices(record)!r:.200}"
            raise _Stop
        self.go_on()
        if not self._interesting(record):
            return False
        simplicity = complexity(record)
        if simplicity < self._complexity:
            self.best, self._complexity = record, simplicity
        return True

    def go_on(self) -> None:
        """Leave Hypothesis if the time is over; most of its attempts end before they are whole."""
        if self.replayed and self._clock.over():
            raise _Stop


def complexity(record: Record) -> tuple[float, ...]:
    """Records are compared by their size, their non-zero entries, and the cost of these."""
    entries = torch.cat([tensor.reshape(-1) for tensor in record.tensors] or [torch.zeros(0)])
    return (*size(record), float((entries != 0).sum()), cost(entries.double()))


def choices(record: Record) -> list[int | float]:
    """The choices that `DrawSource` would draw for this record, in order."""
    flat: list[int | float] = []
    for choice in record.choices:
        if isinstance(choice, Integer):
            flat.append(choice.value)
        else:
            # A zero of negative sign lies outside [0, 1] for Hypothesis.
            flat.extend((choice.values.detach().reshape(-1) + 0.0).tolist())
    return flat


def _drawn(family: Instances, trial: _Trial) -> st.SearchStrategy[Record]:
    @st.composite
    def drawn(draw: Any) -> Record:
        trial.go_on()
        source = DrawSource(draw)
        try:
            family(source)
        except Rejected:
            reject()
        return source.record

    return drawn()
