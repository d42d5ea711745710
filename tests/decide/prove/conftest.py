"""An engine that hands out proofs made by hand, and small statements."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rankcheck.claims import registry
from rankcheck.claims.catalogue.loader import import_file
from rankcheck.claims.claim import Claim

from .made import install


@pytest.fixture
def engine(monkeypatch, tmp_path):
    """The engine; the working directory is empty."""
    monkeypatch.chdir(tmp_path)
    return install(monkeypatch)


@pytest.fixture(scope="session")
def toys() -> Callable[[str], Claim]:
    """`toys("means")` is the claim toy.means of `statements.py`."""
    import_file(Path(__file__).with_name("statements.py"))
    return lambda name: registry.declared()[f"toy.{name}"]
