"""The claims of `statements.py`, by the last part of their ids."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rankcheck.claims import registry
from rankcheck.claims.catalogue.loader import import_file
from rankcheck.claims.claim import Claim


@pytest.fixture(scope="session")
def sharp() -> Callable[[str], Claim]:
    """`sharp("readme")` is the claim sharp.readme."""
    import_file(Path(__file__).with_name("statements.py"))
    return lambda name: registry.declared()[f"sharp.{name}"]
