"""What is drawn depends on the seed, not on which modules are loaded."""

import random
import sys
import types
from pathlib import Path

import pytest
from hypothesis import Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from hypothesis.internal.conjecture import providers

from rankcheck.engine.counterexamples.drawing import without_local_constants

ODD = 123456.789012


def drawn(seed: int = 0) -> list[float]:
    """The floats that Hypothesis draws with a seed."""
    seen: list[float] = []

    def note(value: float) -> bool:
        seen.append(value)
        return False

    quietly = settings(max_examples=300, database=None, phases=(Phase.generate,))
    with pytest.raises(NoSuchExample):
        find(st.floats(-1e6, 1e6), note, settings=quietly, random=random.Random(seed))
    return seen


@pytest.fixture
def odd_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loaded module with constants of its own."""
    path = tmp_path / "odd_constants.py"
    path.write_text(f"VALUES = ({ODD}, 98765.4321, 55555.125)\n")
    module = types.ModuleType("odd_constants")
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "odd_constants", module)


@pytest.mark.usefixtures("odd_module")
def test_hypothesis_collects_constants_of_modules() -> None:
    """The canary: without the switch the odd constant is drawn, so the switch does something."""
    assert any(ODD in drawn(seed) for seed in range(50))


@pytest.mark.usefixtures("odd_module")
def test_the_switch_leaves_them_out() -> None:
    with without_local_constants():
        assert not any(ODD in drawn(seed) for seed in range(5))


def test_the_switch_is_undone() -> None:
    before = providers._get_local_constants, providers.CONSTANTS_CACHE
    with without_local_constants():
        assert (providers._get_local_constants, providers.CONSTANTS_CACHE) != before
    assert (providers._get_local_constants, providers.CONSTANTS_CACHE) == before
