"""An engine that hands out proofs made by hand."""

import pytest

from .made import install


@pytest.fixture
def engine(monkeypatch, tmp_path):
    """The engine; the working directory is empty."""
    monkeypatch.chdir(tmp_path)
    return install(monkeypatch)
