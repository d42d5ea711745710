"""The suite runs deterministically, on one thread a process."""

from pathlib import Path

from rankcheck.verification.arithmetic import fix_arithmetic

fix_arithmetic()  # before torch and numpy are imported

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

pytest_plugins = ["pytester", "tests.nudge"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The claims of the ledger are in the slow lane: `rankcheck verify` runs them too."""
    folder = Path(__file__).parent / "properties"
    for item in items:
        if item.path.is_relative_to(folder):
            item.add_marker(pytest.mark.slow)


settings.register_profile("rankcheck", derandomize=True, deadline=None, print_blob=False)
settings.load_profile("rankcheck")
