"""What may go wrong around a command: the place, the streams, odd files; each ends in one line."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.claim_text import claim


@pytest.fixture(autouse=True)
def here(mine, tmp_path):
    """An empty working directory."""
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code", "error"),
    [
        ("mkdir d; cd d; rmdir ../d; rankcheck list", 2, "No such file or directory"),
        ("PYTHONUNBUFFERED=1 rankcheck list > /dev/full", 2, "No space left on device"),
        ("PYTHONUNBUFFERED= rankcheck list > /dev/full", 2, "No space left on device"),
        ("rankcheck list >&-", 0, ""),  # standard output is closed
        ("rankcheck list | head -1", 0, ""),
        ("HOME= LC_ALL=C PYTHONUTF8=0 rankcheck show rank.sandwich > x", 0, ""),
    ],
)
def test_streams_and_places(line, code, error):
    ran = subprocess.run(
        ["bash", "-c", line.replace("rankcheck", f"{sys.executable} -m rankcheck")],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        timeout=120,
        check=False,
    )
    assert ran.returncode == code, ran.stderr
    assert error in ran.stderr
    assert ran.stderr.count("\n") == (1 if error else 0)


@pytest.mark.parametrize(
    "line",
    [
        *("{}", "verify {}", "verify --profile {}", "hunt x --seed {}", "list --{}", "new {}"),
        *("hunt rank.sandwich --executor {} --workers 2", "replay {}"),
        *("certify rank.sandwich --instance {}", "show rank.sandwich --ledger {}"),
    ],
)
def test_odd_letters_in_arguments(command, line):
    """What an error quotes is escaped and shortened; the error ends with the rule."""
    odd = "no\nsuch\t\x1b[31m\u2028" + "a" * 9999
    code, out, err = command(*(word.replace("{}", odd) for word in line.split()))
    assert code in (2, 4)
    assert out == ""
    assert err.startswith("rankcheck: ")
    assert err.endswith("\n")
    assert err[:-1].isprintable()
    assert len(err) < 1000


def test_odd_letters_in_files(mine, command):
    """A byte-order mark is read, and a lone surrogate is written."""
    path = mine(claim("odd").replace("9.0.", "9 \\udc80."))
    path.write_text(path.read_text("utf-8"), encoding="utf-8-sig")
    assert command("list", "mine.py")[1].startswith("t.odd")
    assert command("verify", "mine.py", "--json", "ledger.json", "--workers", 1)[0] == 0
    [row] = json.loads(Path("ledger.json").read_text("utf-8"))["claims"]
    assert row["title"] == "x is at most 9 \udc80"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_folder_with_pipes_and_loops(mine, command):
    folder = Path("d")
    folder.mkdir()
    mine(claim("fine")).rename(folder / "mine.py")
    for name in ("a", "b"):
        (folder / name).symlink_to(".")
    os.mkfifo(folder / "x.py")
    (folder / "self.py").symlink_to("self.py")
    code, out, _ = command("list", "d")
    assert (code, out.count("\n")) == (0, 1)


@pytest.mark.parametrize("name", ["ä b $x 'q' \"r\" ; *", "x" * 200, "/".join(["deep" * 20] * 12)])
def test_odd_folders(here, mine, command, monkeypatch, name):
    """A claim is listed, certified and proved again there, by the command that was printed."""
    folder = here / name
    folder.mkdir(parents=True)
    mine(claim("odd-place", most="3.0")).rename(folder / "c ü.py")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("HOME", raising=False)
    assert command("list", "c ü.py")[0] == 0
    code, out, _ = command("certify", "c ü.py", "--instance", "[4]")
    assert code == 0
    printed = out.partition("rankcheck replay ")[2].splitlines()[0]
    assert command("replay", *shlex.split(printed))[0] == 0
    assert sorted(path.name for path in folder.rglob("*.json")) == ["t.odd-place.json"]
