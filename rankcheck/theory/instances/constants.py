"""Draws that do not depend on which modules are imported.

Hypothesis collects the constants of all modules that are not installed packages, and mixes them
into what it draws. With the same seed, `verify ID` would then draw other instances than `verify`,
which loads more files of claims. `without_local_constants` turns this off. It replaces two private
names of Hypothesis; `tests/theory/instances/test_constants.py` fails if one of them disappears.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis.internal.cache import LRUCache
from hypothesis.internal.conjecture import providers

_NONE = providers.Constants()


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
