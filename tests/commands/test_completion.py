"""What a shell is told when it completes a command line."""

import os
import subprocess
import sys

import pytest

from rankcheck.commands.completion import selectors


def test_selectors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rainy.py").touch()
    (tmp_path / "rainy.txt").touch()
    (tmp_path / "rain").mkdir()
    (tmp_path / "rain" / "mine.py").touch()
    assert selectors("ra") == ["rank", "rain/", "rainy.py"]
    assert selectors("rain/m") == ["rain/mine.py"]
    assert "rank.sandwich" in selectors("rank.s")
    assert selectors("no/where") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("rankcheck ver", "verify"),
        ("rankcheck show rank.sandw", "rank.sandwich"),
        ("rankcheck experiment rank.figure-1", "rank.figure-1"),
    ],
)
def test_a_shell_is_answered(tmp_path, line, offered):
    pytest.importorskip("argcomplete")
    answer = tmp_path / "answer"
    environment = {
        "_ARGCOMPLETE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
    }
    command = [sys.executable, "-m", "rankcheck"]
    subprocess.run(command, env=os.environ | environment, check=False)
    assert offered in answer.read_text().replace("\v", " ").split()
