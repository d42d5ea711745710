"""What may go wrong around a command: the place, the streams, odd files; each ends in one line."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rankcheck.claims import registry
from rankcheck.commands.cli import main
from rankcheck.verification import canaries

CLAIM = """
from rankcheck import conjecture, leq
from rankcheck.instances import instances

@instances
def numbers(source):
    return source.tensor()

@conjecture("t.fault", instances=numbers())
def test_fault(x):
    '''x is at most 9.'''
    return leq(x, 9.0)
"""
LONG = "a" * 300


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell; `rankcheck` is this one."""
    return subprocess.run(
        ["bash", "-c", line.replace("rankcheck", f"{sys.executable} -m rankcheck")],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        timeout=120,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        pytest.param(
            "mkdir d; cd d; rmdir ../d; rankcheck list",
            2,
            "the working directory cannot be used: No such file or directory; change to one",
            id="a working directory that was deleted",
        ),
        pytest.param("rankcheck list > /dev/full", 2, "No space left on device", id="a full disk"),
        pytest.param("rankcheck list >&-", 0, "", id="standard output is closed"),
        pytest.param("rankcheck list | head -1", 0, "", id="the reader goes away"),
        pytest.param(
            "HOME= LC_ALL=C PYTHONUTF8=0 rankcheck show rank.sandwich > x", 0, "", id="locale C"
        ),
    ],
)
def test_streams_and_places(line, code, said):
    ran = shell(line)
    assert ran.returncode == code, ran.stderr
    assert said in ran.stderr
    assert ran.stderr.count("\n") == (1 if said else 0)


def test_two_dashes_are_no_value(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["certify", "rank.sandwich", "--profile=--"])
    assert ended.value.code == 2
    assert "--profile: expected a value, received --" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["verify", ""], 2, "an empty selector was given"),
        (["hunt", " "], 2, "an empty selector was given"),
        (["list", f"{LONG}.py"], 2, "File name too long"),
        (["verify", "rank.sandwich", "--json", f"{LONG}.json"], 2, "File name too long"),
    ],
)
def test_odd_arguments(capsys, arguments, code, said):
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert len(err) < 500


@pytest.mark.parametrize(
    "arguments",
    [
        ["verify", "{}"],
        ["hunt", "x", "--seed", "{}"],
        ["{}"],
        ["list", "--{}"],
        ["verify", "--profile", "{}"],
        ["hunt", "rank.sandwich", "--executor", "{}", "--workers", "2"],
        ["replay", "{}"],
        ["certify", "rank.sandwich", "--instance", "{}"],
        ["show", "rank.sandwich", "--ledger", "{}"],
        ["new", "{}"],
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_odd_letters_in_arguments(capsys, arguments):
    """What an error quotes is escaped and shortened; the error ends with the rule."""
    odd = "no\nsuch\t\x1b[31m\u2028" + "a" * 9999
    try:
        code = main([one.replace("{}", odd) for one in arguments])
    except SystemExit as stop:  # argparse
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    assert code in (2, 4)
    assert out == ""
    assert err.startswith("rankcheck: ")
    assert err.endswith("\n")
    assert err[:-1].isprintable()
    assert len(err) < 1000


def test_a_byte_order_mark_is_read(here, capsys):
    (here / "mine.py").write_text(CLAIM, encoding="utf-8-sig")
    assert main(["list", "mine.py"]) == 0
    assert capsys.readouterr().out.startswith("t.fault")


def test_a_lone_surrogate_in_a_docstring(here, capsys):
    (here / "mine.py").write_text(CLAIM.replace("9.'''", "9 \\udc80.'''"))
    assert main(["verify", "mine.py", "--json", "ledger.json"]) == 0
    [row] = json.loads((here / "ledger.json").read_text(encoding="utf-8"))["claims"]
    assert row["title"] == "x is at most 9 \udc80"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_folder_with_pipes_and_loops(here, capsys):
    (here / "d").mkdir()
    (here / "d" / "mine.py").write_text(CLAIM)
    for name in ("a", "b"):
        (here / "d" / name).symlink_to(".")
    os.mkfifo(here / "d" / "x.py")
    (here / "d" / "self.py").symlink_to("self.py")
    assert main(["list", "d"]) == 0
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.parametrize("effort", ["0", "-1.0", "float('inf')", "float('nan')"])
def test_effort_is_positive(here, capsys, effort):
    (here / "mine.py").write_text(CLAIM.replace("numbers())", f"numbers(), effort={effort})"))
    assert main(["verify", "mine.py"]) == 1
    said = capsys.readouterr().out
    assert "so it is positive" in said or "the effort of a claim is a literal number" in said


def test_a_hunt_that_does_not_begin_leaves_no_journal(here, capsys):
    raising = CLAIM.replace("return leq(x, 9.0)", "raise ValueError('no')")
    (here / "mine.py").write_text(raising)
    assert main(["hunt", "mine.py", "--budget", "1"]) == 2
    assert list(Path(".rankcheck").glob("*")) == []


@pytest.mark.parametrize("name", ["ä b $x 'q' \"r\" ; *", "x" * 200, "/".join(["deep" * 20] * 12)])
def test_odd_folders(here, monkeypatch, capsys, name):
    """A claim is listed, certified and proved again there, by the command that was printed."""
    folder = here / name
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("HOME", raising=False)
    file = Path("c ü.py")
    file.write_text(CLAIM.replace("9.0)", "3.0)").replace("t.fault", "t.odd-place"))
    try:
        assert main(["list", str(file)]) == 0
        assert main(["certify", str(file), "--instance", "[4]"]) == 0
        printed = capsys.readouterr().out.partition("rankcheck replay ")[2].splitlines()[0]
        assert main(["replay", *shlex.split(printed)]) == 0
    finally:
        registry.forget("t.odd-place")
    assert sorted(path.name for path in folder.rglob("*.json")) == ["t.odd-place.json"]


def test_the_canaries_leave_nothing_in_the_working_directory(here):
    canaries.check_canaries.cache_clear()
    canaries.check_canaries()
    assert list(here.iterdir()) == []
