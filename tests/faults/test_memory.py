"""Memory that is short: the claim is undecided, the others keep their rows, and files are whole."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.claim_text import claim

HUGE = "bytearray(1 << 50)"  # more than any address space has
#: Asks for it if some instance of the batch is so, without a branch; floats alone do.
HUNGRY = (
    "y = x.reshape(-1); "
    "isinstance(x, torch.Tensor) and torch.repeat_interleave(y, ({}).long() * 2**50)"
)


def left():
    """The files that a command has left; those of JSON are whole."""
    paths = [path for path in Path().rglob("*") if path.is_file() and path.suffix != ".pyc"]
    for path in paths:
        if path.suffix == ".json":
            json.loads(path.read_text())
    return {path.name for path in paths} - {"mine.py"}


def rows():
    return {row["id"]: row for row in json.loads(Path("x.json").read_text())["claims"]}


@pytest.mark.slow
def test_a_body_that_asks_for_too_much_is_undecided(mine, command):
    path = mine(
        claim("greedy", HUGE),
        claim("some", HUNGRY.format("y > 4")),
        claim("fine"),
        claim("wrong", "raise RuntimeError('the shapes differ')"),
    )
    line = 1 + path.read_text().splitlines().index(f"    {HUGE}")
    code, out, _ = command("verify", "mine.py", "--json", "x.json", "--workers", 1)
    assert code == 1
    assert f"mine.py:{line}" in out
    verdicts = {name: row["verdict"] for name, row in rows().items()}
    assert (verdicts.pop("t.fine"), verdicts.pop("t.wrong")) == ("guarded", "failed")
    assert verdicts == dict.fromkeys(("t.greedy", "t.some"), "undecided")
    assert rows()["t.some"]["swept"]["evaluated"]  # the batch was halved
    code, out, err = command("certify", "mine.py::t.greedy")
    assert (code, err, "memory" in out) == (3, "", True)
    assert left() == {"x.json"}


def test_a_false_claim_stays_false(mine, command):
    """Memory is short for some instances, and while the counterexample is made small."""
    mine(claim("false", HUNGRY.format("(y > 6.4) & (y < 6.6)") + "; x = x + 3"))
    code, out, _ = command("verify", "mine.py", "--workers", 1, "--shrink", 0.5)
    assert code == 1
    assert "t.false is false" in out


def test_a_certificate_is_not_wrong_because_memory_is_short(mine, command):
    """The same claim, before and while its body finds no memory on balls; its text is the same."""
    enough, certificate = Path("memory.py"), ".rankcheck/t.false.json"
    mine(
        claim(
            "false",
            "on_balls = type(x).__name__ == 'BallArray'\n"
            "    short = 'no' in Path('memory.py').read_text()\n"
            "    on_balls and short and bytearray(1 << 50); x = x + 3",
        )
    )
    enough.write_text("yes", encoding="utf-8")
    assert command("verify", "mine.py", "--workers", 1, "--shrink", 0.5)[0] == 1
    assert command("replay", certificate)[0] == 0
    enough.write_text("no", encoding="utf-8")
    code, out, err = command("replay", certificate)
    assert code in (3, 4)
    assert "memory" in out + err
    enough.write_text("yes", encoding="utf-8")
    assert command("replay", certificate)[0] == 0


LIMITED = """
import resource, sys
from pathlib import Path
import rankcheck.engine.verification.check
from rankcheck.faces.commands.cli import main
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, resource.RLIM_INFINITY))
sys.exit(main(["verify", "mine.py", "--json", "x.json", "--workers", "1", "--limit", "0"]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no such figures here")
def test_an_address_space_that_is_full_is_there_for_the_next_claim(mine):
    hoard = "hoard = []\n    while True: hoard.append(torch.empty(2**24))"
    mine(claim("hoard", hoard), claim("fine"))
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=300, check=False
    )
    assert (ran.returncode, ran.stderr) == (3, ""), ran.stdout
    verdicts = {name: row["verdict"] for name, row in rows().items()}
    assert verdicts == {"t.hoard": "undecided", "t.fine": "guarded"}
    assert "out of memory" in ran.stdout
    assert left() == {"x.json"}
