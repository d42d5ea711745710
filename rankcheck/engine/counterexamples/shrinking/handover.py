"""Hands a record to Hypothesis, which shrinks it.

Beside `rankcheck.engine.counterexamples.drawing`, this is the only module that relies on
undocumented behaviour of Hypothesis: choices that are saved under the secondary key of its example
database are replayed first and then shrunk. Hypothesis drops choices that do not fit without a
message, so the first record that it replays is compared with the one that it was handed.
`tests/engine/counterexamples/test_shrinking.py` has a test for each detail.
"""

from __future__ import annotations

import contextlib
import unittest
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import torch
from hypothesis import HealthCheck, Phase, Verbosity, reject, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import HypothesisException
from hypothesis.internal.conjecture.engine import BUFFER_SIZE

from rankcheck.engine.counterexamples.drawing import find_named
from rankcheck.engine.counterexamples.shrinking.cropping import size
from rankcheck.engine.counterexamples.shrinking.entries import cost
from rankcheck.theory.instances.drivers import DrawSource
from rankcheck.theory.instances.record import Integer, Record
from rankcheck.theory.instances.source import SMALLEST, Instances, Rejected

_KEY = b"rankcheck"
#: The most choices of a record that is handed over. Hypothesis can encode three times as many, but
#: then spends minutes on comparisons without calling our predicate, which could stop it.
LARGEST = 256


class HandoverError(RuntimeError):
    """Hypothesis did not replay the record that it was handed: an internal error."""


@dataclass(frozen=True, eq=False)
class Shrunk:
    """The smallest record that was found; `left_out` says why Hypothesis did not take part."""

    record: Record
    left_out: str | None = None


class _Stop(BaseException):
    """Leaves Hypothesis from within its predicate; it treats every `Exception` as a finding."""


def shrink_with_hypothesis(
    family: Instances,
    record: Record,
    interesting: Callable[[Record], bool],
    until: float,
    name: str = "shrinking",
) -> Shrunk:
    """The simplest interesting record that Hypothesis finds from an interesting one.

    Args:
        name: the property of what Hypothesis observes.

    Raises:
        HandoverError: if the first record that Hypothesis replays is a different one.
    """
    if (why := refusal(record)) is not None:
        return Shrunk(record, why)
    trial = _Trial(record, interesting, until)
    database = InMemoryExampleDatabase()
    # Choices that are saved under the key itself are replayed, but not shrunk.
    database.save(_KEY + b".secondary", choices_to_bytes(choices(record)))
    # With a seed, or with `derandomize` and a database in one settings object, Hypothesis ignores
    # the database. With an inherited `derandomize` it does not.
    quietly = settings(
        settings(derandomize=True),
        max_examples=2,
        database=database,
        deadline=None,
        verbosity=Verbosity.normal,
        phases=(Phase.reuse, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    # However the search ends, the trial has the best record.
    with contextlib.suppress(HypothesisException, unittest.SkipTest, _Stop):
        find_named(name, _drawn(family, trial), trial, quietly, key=_KEY)
    if not trial.replayed:
        raise HandoverError(
            f"Hypothesis saw {trial.first} first; it replays the record that it is handed first"
        )
    return Shrunk(trial.best)


def refusal(record: Record) -> str | None:
    """Why Hypothesis cannot shrink this record; None if it can."""
    flat = choices(record)
    if len(flat) > LARGEST or len(choices_to_bytes(flat)) > BUFFER_SIZE:
        return f"Hypothesis is handed at most {LARGEST} numbers; this instance has {len(flat)}"
    if any(bool(((t != 0) & (t.abs() < SMALLEST)).any()) for t in record.tensors):
        return f"Hypothesis draws no entries below {SMALLEST}; this instance has some"
    return None


class _Trial:
    """The predicate that Hypothesis calls; keeps the simplest record for which it was true."""

    def __init__(self, record: Record, interesting: Callable[[Record], bool], until: float) -> None:
        self.best = record
        self.replayed = False
        self.first = "nothing"
        self._interesting = interesting
        self._until = until
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
        """Leave Hypothesis if the time is up. Called in every attempt, also in incomplete ones."""
        if self.replayed and monotonic() >= self._until:
            raise _Stop


def complexity(record: Record) -> tuple[float, ...]:
    """The key by which records are compared: size, number of non-zero entries, cost of entries."""
    entries = torch.cat([tensor.reshape(-1) for tensor in record.tensors] or [torch.zeros(0)])
    return (*size(record), float((entries != 0).sum()), cost(entries.double()))


def choices(record: Record) -> list[int | float]:
    """The choices that `DrawSource` would draw for this record, in order."""
    flat: list[int | float] = []
    for choice in record.choices:
        if isinstance(choice, Integer):
            flat.append(choice.value)
        else:
            # For Hypothesis, -0.0 lies outside [0, 1].
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
