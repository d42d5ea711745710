"""The unit tests choose their own profiles, whatever the run was started with."""

import pytest


@pytest.fixture(autouse=True)
def _no_profile_of_the_run(monkeypatch):
    monkeypatch.delenv("RANKCHECK_PROFILE", raising=False)
