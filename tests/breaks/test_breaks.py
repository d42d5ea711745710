"""Each break of the table is noticed by its test."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from .table import FILES, breaks

ROOT = Path(__file__).parents[2]
BREAKS = breaks()
STAGES = list(dict.fromkeys(one.stage for one in BREAKS.values()))


def of_stage(stage):
    return [one for one in BREAKS.values() if one.stage == stage]


def under(some):
    command = [sys.executable, "-m", "tests.breaks.under", *(one.name for one in some)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_tests_are_there():
    for one in BREAKS.values():
        path, _, name = one.test.partition("::")
        assert f"def {name}(" in (ROOT / "tests" / path).read_text(encoding="utf-8"), one.test


@pytest.mark.slow
def test_a_test_notices_the_first_break_of_each_file():
    under([import_module(f"{__package__}.{name}").BREAKS[0] for name in FILES])


@pytest.mark.nightly
@pytest.mark.parametrize("stage", STAGES)
def test_a_test_notices_each_break(stage):
    under(of_stage(stage))
