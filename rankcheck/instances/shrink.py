"""Shrinking a recorded instance with Hypothesis.

This is the one module that relies on what Hypothesis does not promise: that the choices of an
instance, saved under the secondary key of its example database, are replayed first and then
shrunk (`tests/instances/test_shrink.py` has a canary for each such detail).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, find, reject, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import NoSuchExample, Unsatisfiable

from rankcheck.instances.record import Integer, Record
from rankcheck.instances.source import DrawSource, Instances, Rejected

_KEY = b"rankcheck"


def shrink(family: Instances, record: Record, interesting: Callable[[Record], bool]) -> Record:
    """The simplest record of the family that Hypothesis finds to be interesting, from this one.

    `interesting` must be true of `record` itself, and is asked of nothing that the family rejects.
    Returns `record` where Hypothesis finds nothing simpler.
    """

    @st.composite
    def drawn(draw: Any) -> Record:
        source = DrawSource(draw)
        try:
            family(source)
        except Rejected:
            reject()
        return source.record

    database = InMemoryExampleDatabase()
    database.save(_KEY + b".secondary", choices_to_bytes(choices(record)))
    quietly = settings(
        max_examples=2,
        database=database,
        deadline=None,
        phases=(Phase.reuse, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    try:
        # Without `random=`: a seed of its own would make Hypothesis leave the database aside.
        return find(drawn(), interesting, settings=quietly, database_key=_KEY)
    except (NoSuchExample, Unsatisfiable):
        return record


def choices(record: Record) -> list[int | float]:
    """The choices that `DrawSource` would draw for this record, in order."""
    flat: list[int | float] = []
    for choice in record.choices:
        if isinstance(choice, Integer):
            # Hypothesis draws nothing from a range of one integer.
            flat += [choice.value] if choice.low < choice.high else []
        else:
            flat.extend(choice.values.reshape(-1).tolist())
    return flat
