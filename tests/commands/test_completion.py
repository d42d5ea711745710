"""What a shell is told when it completes a command line."""

import os
import subprocess
import sys

import pytest

from rankcheck.commands.completion import kept, selectors


def test_selectors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rain").mkdir()
    for name in ("rainy.py", "rainy.txt", "rainy.json", "rain/mine.py"):
        (tmp_path / name).touch()
    assert selectors("ra") == ["rank", "rain/", "rainy.py"]
    assert kept("ra") == ["rank", "rain/", "rainy.py", "rainy.json"]
    assert selectors("rain/m") == ["rain/mine.py"]
    assert "rank.sandwich" in selectors("rank.s")
    assert selectors("no/where") == []


@pytest.mark.slow
def test_a_shell_is_answered(tmp_path):
    pytest.importorskip("argcomplete")
    line, answer = "rankcheck certify rank.sandw", tmp_path / "answer"
    environment = {
        "_ARGCOMPLETE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
    }
    command = [sys.executable, "-m", "rankcheck"]
    subprocess.run(command, env=os.environ | environment, check=False)
    assert "rank.sandwich" in answer.read_text().replace("\v", " ").split()
