"""docs/generators.md: the table is up to date, and the example at its top is true."""

import re
from pathlib import Path

import pytest

from rankcheck.hunt import hunt
from rankcheck.instances import is_factory
from rankcheck.instances.page import generators, page
from rankcheck.instances.source import ReplaySource

FILE = Path(__file__).parents[2] / "docs" / "generators.md"


def test_the_table_is_up_to_date():
    text = FILE.read_text(encoding="utf-8")
    assert page(text) == text, (
        "write it anew: python -m rankcheck.instances.page docs/generators.md"
    )


def test_every_generator_has_a_row_and_a_docstring():
    text = FILE.read_text(encoding="utf-8")
    assert len(generators()) > 30
    for name, made in generators().items():
        assert is_factory(made)
        assert made.__doc__, name
        assert text.count(f"\n| `{name}` | ") == 1


def test_a_page_without_the_line():
    with pytest.raises(ValueError, match="the page has no line"):
        page("# Generators")


def test_the_example_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", FILE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(code.splitlines()) <= 10
    file = tmp_path / "mine.py"
    file.write_text(f'"""A conjecture."""\n\n{code}', encoding="utf-8")
    space = {"__name__": "mine", "__file__": str(file)}
    exec(compile(file.read_text(encoding="utf-8"), file, "exec"), space)
    found = hunt(space["test_positive_diagonal"], budget=10.0, folder=tmp_path)
    assert found.verdict == "refuted"
    violation = found.smallest
    A, B = violation.family(ReplaySource(violation.record))
    assert float((A @ B).diagonal().min()) < 0
