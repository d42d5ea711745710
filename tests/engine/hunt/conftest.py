"""The claims of `statements.py`, by the last part of their ids; and one without a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rankcheck.claims import registry
from rankcheck.claims.catalogue.loader import import_file
from rankcheck.claims.claim import Claim
from rankcheck.engine.hunt import run as run_

PROMPT = '''
from rankcheck import conjecture, leq
from rankcheck.theory.instances.matrices import matrices
from rankcheck.linalg import frobenius_squared, nuclear_norm

@conjecture("prompt.easy", instances=matrices())
def test_easy(A):
    """The nuclear norm is at most the Frobenius norm."""
    return leq(nuclear_norm(A), frobenius_squared(A).sqrt())
'''


@pytest.fixture(autouse=True)
def _no_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most tests are about the strategies: hunts begin with no enumeration, unless asked to."""
    monkeypatch.setattr(run_, "ENTRIES", 0)


@pytest.fixture(scope="session")
def hunted() -> Callable[[str], Claim]:
    """`hunted("easy")` is the claim hunted.easy."""
    import_file(Path(__file__).with_name("statements.py"))
    return lambda name: registry.declared()[f"hunted.{name}"]


@pytest.fixture
def at_a_prompt() -> Iterator[Claim]:
    """A claim as it is declared at a prompt: its file is `<stdin>`."""
    names: dict[str, Claim] = {}
    exec(compile(PROMPT, "<stdin>", "exec"), names)
    yield names["test_easy"]
    registry.forget("prompt.easy")
