"""The example at the top of docs/generators.md is true."""

import re
from pathlib import Path

from rankcheck.engine.hunt import hunt
from rankcheck.theory.instances.drivers import ReplaySource

FILE = Path(__file__).parents[3] / "docs" / "generators.md"


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
