"""Draws that do not depend on what else is imported.

Hypothesis collects the constants of all modules that are not installed packages, and mixes them
into what it draws. The same seed would then draw other instances in `verify ID` than in `verify`,
where more files of claims are loaded. `without_local_constants` switches this off. It replaces two
names that Hypothesis does not promise to keep; `tests/instances/test_constants.py` fails if one of
them goes away.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis.internal.cache import LRUCache
from hypothesis.internal.conjecture import providers

_NONE = providers.Constants()


@contextmanager
def without_local_constants() -> Iterator[None]:
    """Within this context Hypothesis draws no constants from the modules that are loaded."""
    collect, cache = providers._get_local_constants, providers.CONSTANTS_CACHE
    providers._get_local_constants = lambda: _NONE
    providers.CONSTANTS_CACHE = LRUCache(1024)
    try:
        yield
    finally:
        providers._get_local_constants, providers.CONSTANTS_CACHE = collect, cache
