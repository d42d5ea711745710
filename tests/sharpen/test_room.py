"""`rankcheck.sharpen` is a function to its users and a room to its files, in any order."""

import subprocess
import sys

import pytest

import rankcheck


def test_the_room_can_be_called(sharp, tmp_path):
    result = rankcheck.sharpen(sharp("readme"), budget=None, tasks=1, shrink=0, folder=tmp_path)
    assert "10/9" in result.message
    assert rankcheck.sharpen.run.sharpen


@pytest.mark.slow
@pytest.mark.parametrize(
    "lines",
    [
        "import rankcheck; assert callable(rankcheck.sharpen); import rankcheck.sharpen.run as run",
        "from rankcheck import sharpen; import rankcheck.sharpen.run; assert callable(sharpen)",
        "import rankcheck.sharpen.words; from rankcheck import sharpen; assert callable(sharpen)",
    ],
)
def test_the_order_of_imports_does_not_matter(lines):
    subprocess.run([sys.executable, "-c", lines], check=True)
