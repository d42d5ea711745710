"""Instances of a family from each driver, and their parts side by side."""

import random

import pytest
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from rankcheck.engine.counterexamples.drawing import without_local_constants
from rankcheck.theory.instances.drivers import BatchSource, DrawSource
from rankcheck.theory.instances.source import Rejected, seed_of
from tests.draws import arrays_of, batch_of

#: What was drawn already: several tests look at the same instances of a family.
_DRAWN: dict[tuple, list] = {}


@pytest.fixture
def drawn():
    """`drawn(family, n)`: n sources after Hypothesis drew from them; None where it rejected."""

    def draws(family, count, seed=0):
        key = family.name, family.origin, count, seed
        if key in _DRAWN:
            return _DRAWN[key]
        seen = _DRAWN[key] = []

        @st.composite
        def instance(draw):
            source = DrawSource(draw)
            try:
                built = family(source)
            except Rejected:
                return None
            return source, built

        def look(pair):
            seen.append(pair)
            return False

        quietly = settings(
            max_examples=count,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        # What else this process has imported must not change what is drawn.
        with without_local_constants(), pytest.raises(NoSuchExample):
            find(instance(), look, settings=quietly, random=random.Random(seed))
        return seen

    return draws


@pytest.fixture
def swept():
    """`swept(family, n, size)`: n batches: what was drawn, the instances, and which are inside."""

    def sweep(family, count, size=64, seed=0):
        for index in range(count):
            source = BatchSource(seed_of("tests", seed, index), size)
            built, valid = batch_of(family, source)
            yield source.record, built, valid

    return sweep


@pytest.fixture
def arrays():
    """`arrays(instance)`: the arrays of an instance in order, networks taken apart."""
    return arrays_of
