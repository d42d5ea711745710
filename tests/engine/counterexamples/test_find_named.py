"""A search with a name draws and finds what `hypothesis.find` does."""

import random

import pytest
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.errors import NoSuchExample

from rankcheck.engine.counterexamples.drawing import find_named

PAIRS = st.tuples(st.integers(0, 10**6), st.floats(-8, 8))
QUIETLY = settings(
    max_examples=50,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def noting(seen, condition):
    def note(value):
        seen.append(value)
        return condition(value)

    return note


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("condition", [lambda v: v[0] > 900_000, lambda v: False])
def test_the_same_draws_in_the_same_order(seed, condition):
    seen: list[list[object]] = [[], []]
    found: list[object] = []
    for number, search in enumerate(
        (
            lambda note: find(PAIRS, note, settings=QUIETLY, random=random.Random(seed)),
            lambda note: find_named("t.some-id", PAIRS, note, QUIETLY, random=random.Random(seed)),
        )
    ):
        try:
            found.append(search(noting(seen[number], condition)))
        except NoSuchExample:
            found.append(None)
    assert seen[0] == seen[1]
    assert len(seen[0]) > 1
    assert found[0] == found[1]


def test_the_key_of_the_database_is_used():
    """What a search has kept under a key, `hypothesis.find` tries first under the same key.

    Without it, Hypothesis tries (0, 0.0) first.
    """
    database = InMemoryExampleDatabase()
    keeping = settings(QUIETLY, database=database, phases=(Phase.reuse, Phase.generate))
    found = find_named("t.a", PAIRS, lambda v: v[0] > 10, keeping, key=b"k")
    seen: list[object] = []
    find(PAIRS, noting(seen, lambda v: True), settings=keeping, database_key=b"k")
    assert seen[0] == found


def test_an_error_of_the_condition_is_raised():
    def condition(value):
        raise KeyError("lost")

    with pytest.raises(KeyError):
        find_named("t.a", PAIRS, condition, QUIETLY)
