"""Searches with Hypothesis: each has a name, and its draws depend on its seed alone.

Hypothesis collects the constants of all modules that are not installed packages, and mixes them
into what it draws. With the same seed, `verify ID` would then draw other instances than `verify`,
which loads more files of claims. `without_local_constants` turns this off. It replaces two private
names of Hypothesis; `tests/engine/counterexamples/test_local_constants.py` fails if one of them
disappears.

`hypothesis.find` runs a test that is called `test`, whatever is searched. Where observations are on
(HYPOTHESIS_EXPERIMENTAL_OBSERVABILITY, see docs/ci.md), a viewer would show all claims as one
property. Two details are undocumented: the name of a test is its property, and the attribute with
the key of the database, which `find` sets as well.
`tests/engine/counterexamples/test_find_named.py` and `tests/engine/verification/test_observed.py`
fail if they change.
"""

from __future__ import annotations

import random as random_module
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from hypothesis.internal.cache import LRUCache
from hypothesis.internal.conjecture import providers

T = TypeVar("T")
_NONE = providers.Constants()


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


@contextmanager
def without_local_constants() -> Iterator[None]:
    """In this context Hypothesis does not draw constants of the loaded modules."""
    collect, cache = providers._get_local_constants, providers.CONSTANTS_CACHE
    providers._get_local_constants = lambda: _NONE
    providers.CONSTANTS_CACHE = LRUCache(1024)
    try:
        yield
    finally:
        providers._get_local_constants, providers.CONSTANTS_CACHE = collect, cache
