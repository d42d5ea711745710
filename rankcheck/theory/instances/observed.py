"""Searches with Hypothesis that have a name, which its observations carry.

`hypothesis.find` runs a test that is called `test`, whatever is searched. Where observations are on
(HYPOTHESIS_EXPERIMENTAL_OBSERVABILITY, see docs/ci.md), a viewer would show all claims as one
property. Two details are undocumented: the name of a test is its property, and the attribute with
the key of the database, which `find` sets as well. `tests/theory/instances/test_find_named.py` and
`tests/engine/verification/test_observed.py` fail if they change.
"""

from __future__ import annotations

import random as random_module
from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

T = TypeVar("T")


class _Found(Exception):
    """An instance is what was searched."""


def find_named(
    name: str,
    strategy: st.SearchStrategy[T],
    condition: Callable[[T], bool],
    chosen: settings,
    *,
    random: random_module.Random | None = None,
    key: bytes | None = None,
) -> T:
    """`hypothesis.find` with a name: what a strategy draws that meets a condition.

    Args:
        name: the `property` of the observations.
        chosen: the settings.
        random: where the seed comes from; without it, Hypothesis has its own.
        key: of the database.

    Raises:
        NoSuchExample: if nothing that was drawn meets the condition.
        Exception: what the condition raises.
    """
    last: list[T] = []

    @settings(chosen, report_multiple_bugs=False)
    @given(strategy)
    def evaluate(instance: T) -> None:
        if condition(instance):
            last[:] = [instance]
            raise _Found

    test: Any = evaluate if random is None else seed(random.getrandbits(64))(evaluate)
    test._hypothesis_internal_database_key = key
    test.__name__ = name
    try:
        test()
    except _Found:
        return last[0]
    raise NoSuchExample(name)
