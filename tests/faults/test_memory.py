"""Memory that is short: the claim is undecided, the others keep their rows, and files are whole."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rankcheck.claims import registry
from rankcheck.commands.cli import main
from rankcheck.errors import InputError
from rankcheck.parallel import executors
from rankcheck.parallel.executors import Unfinished

HEAD = """
import torch
from rankcheck import conjecture, leq
from rankcheck.instances import instances

@instances
def numbers(source):
    return source.tensor()
"""
CLAIM = '''
@conjecture("t.{name}", instances=numbers(), effort=0.1)
def test_{name}(x):
    """x is at most 9."""
    {line}
    return leq(x, 9.0)
'''
#: More than any address space has: by Python, and by torch.
HUGE = {"python": "bytearray(1 << 50)", "torch": "torch.empty(2**50)"}
#: Asks for it if some instance of the batch is so, without a branch; floats alone do.
HUNGRY = (
    "y = x.reshape(-1); "
    "isinstance(x, torch.Tensor) and torch.repeat_interleave(y, ({}).long() * 2**50)"
)
#: Takes what there is, as a claim does whose sizes grow.
HOARD = "hoard = []\n    while True: hoard.append(torch.empty(2**24))"


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Write `mine.py` in an empty working directory: claims by name and a line of the body."""
    monkeypatch.chdir(tmp_path)

    def write(**lines):
        text = HEAD + "".join(CLAIM.format(name=name, line=line) for name, line in lines.items())
        Path("mine.py").write_text(text, encoding="utf-8")

    yield write
    for id_ in [id_ for id_ in registry.declared() if id_.startswith("t.")]:
        registry.forget(id_)


def left():
    """The files that a command has left; those of JSON are whole."""
    found = [path for path in Path().rglob("*") if path.is_file() and path.suffix != ".pyc"]
    for path in found:
        if path.suffix == ".json":
            json.loads(path.read_text())
    return {path.name for path in found} - {"mine.py"}


def test_a_body_that_asks_for_too_much(mine, capsys):
    some = HUNGRY.format("y > 4")
    together = f"x.ndim and {HUGE['python']}"  # it is not accused of mixing its instances
    mine(greedy=HUGE["python"], some=some, fine="", together=together)
    assert main(["verify", "mine.py", "--json", "x.json", "--workers", "1"]) == 3
    out = capsys.readouterr().out
    assert "t.greedy is undecided: its check ran out of memory at mine.py:13 (" in out
    assert "t.some is undecided: its body ran out of memory (" in out
    rows = {row["id"]: row for row in json.loads(Path("x.json").read_text())["claims"]}
    verdicts = {name: row["verdict"] for name, row in rows.items()}
    assert verdicts.pop("t.fine") == "guarded"
    assert verdicts == dict.fromkeys(("t.greedy", "t.some", "t.together"), "undecided")
    assert rows["t.some"]["swept"]["evaluated"]  # the batch was halved
    for command, said in (
        (["hunt", "mine.py::t.greedy", "--budget", "0.3"], "t.greedy ran out of memory at the"),
        (["certify", "mine.py::t.greedy"], "its certification ran out of memory at mine.py:13 ("),
    ):
        assert main(command) == 3, command
        out, err = capsys.readouterr()
        assert said in out
        assert err == ""
    assert left() == {"x.json"}


def test_a_body_that_raises_something_else_has_failed(mine):
    mine(wrong="raise RuntimeError('the shapes differ')")
    assert main(["verify", "mine.py", "--workers", "1"]) == 1


def test_a_false_claim_stays_false(mine, capsys):
    """Memory is short for some instances, and while the counterexample is made small."""
    mine(false=HUNGRY.format("(y > 6.4) & (y < 6.6)") + "; x = x + 3")
    assert main(["verify", "mine.py", "--workers", "1", "--shrink", "0.5"]) == 1
    assert "t.false is false: lhs" in capsys.readouterr().out


def test_a_certificate_is_not_wrong_because_memory_is_short(mine, capsys):
    """The same claim, before and while its body finds no memory on balls; its text is the same."""
    Path("memory.py").write_text("enough = True", encoding="utf-8")
    mine(
        false="import pathlib; on_balls = type(x).__name__ == 'BallArray'\n"
        "    enough = 'True' in pathlib.Path('memory.py').read_text()\n"
        "    on_balls and not enough and bytearray(1 << 50); x = x + 3"
    )
    certificate = ".rankcheck/t.false.json"
    assert main(["verify", "mine.py", "--workers", "1", "--shrink", "0.5"]) == 1
    assert main(["replay", certificate]) == 0
    Path("memory.py").write_text("enough = False", encoding="utf-8")
    capsys.readouterr()
    assert main(["replay", certificate]) in (3, 4)
    out, err = capsys.readouterr()
    assert "memory" in out + err
    assert "does not refute" not in out + err
    Path("memory.py").write_text("enough = True", encoding="utf-8")
    assert main(["replay", certificate]) == 0


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (["certify", "mine.py::t.fine"], 3, "not certified: t.fine: its certification lost its"),
        (["hunt", "mine.py::t.fine", "--budget", "1"], 3, "t.fine is undecided: the hunt lost its"),
        (["doctor"], 4, "cannot be trusted: the check of the canaries lost its"),
    ],
)
def test_a_process_that_the_kernel_kills(mine, capsys, monkeypatch, command, code, said):
    class Killed(executors.Inline):
        """A worker process that imports the files, and is killed then."""

        def __init__(self, work, workers):
            super().__init__(work)

        def run(self, tasks, *options):
            for task in tasks:
                if task == ("known", 0):
                    yield from super().run([task], *options)
                else:
                    yield Unfinished(task, "lost its process (SIGKILL, out of memory?)")

    monkeypatch.setattr(executors, "Processes", Killed)
    mine(fine="")
    assert main([*command, "--limit", "9"]) == code
    out, err = capsys.readouterr()
    assert f"{said} process (SIGKILL, out of memory?)" in out + err
    assert "Traceback" not in out + err
    assert left() == set()


LIMITED = """
import resource, sys
from pathlib import Path
import rankcheck.hunt.run, rankcheck.verification.check, rankcheck.verification.canaries
from rankcheck.commands.cli import main
rankcheck.verification.canaries.check_canaries()
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, resource.RLIM_INFINITY))
verify = ["verify", "mine.py", "--json", "x.json", "--workers", "1", "--limit", "0"]
hunt = ["hunt", "mine.py::t.hoard", "--budget", "0.5", "--limit", "0", "--scope", "0"]
certify = ["certify", "mine.py::t.hoard", "--limit", "0"]
sys.exit(0 if [main(one) for one in (verify, hunt, certify)] == [3, 3, 3] else 1)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no such figures here")
def test_an_address_space_that_is_full(mine):
    """Memory runs out little by little, and is there again for the next claim."""
    mine(hoard=HOARD, fine="")
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stderr == ""
    rows = {row["id"]: row["verdict"] for row in json.loads(Path("x.json").read_text())["claims"]}
    assert rows == {"t.hoard": "undecided", "t.fine": "guarded"}
    assert ran.stdout.count("ran out of memory") >= 3
    assert left() == {"x.json"}


def refuses():
    raise MemoryError


def test_a_worker_that_cannot_be_prepared_says_why(monkeypatch):
    from rankcheck.parallel import pool

    class Pipe:
        def __init__(self):
            self.sent = []

        def send(self, message):
            self.sent.append(message)

        def fileno(self):
            return 2

    monkeypatch.setattr(pool, "_WHERE", None)
    monkeypatch.setattr(pool.threading, "Thread", lambda **options: monkeypatch)
    monkeypatch.setattr(monkeypatch, "start", lambda: None, raising=False)
    monkeypatch.setattr(pool.signal, "signal", lambda *arguments: None)
    pipe = Pipe()
    pool._work(pipe, pipe, pool.pickle.dumps((None, refuses)))
    kind, error = pipe.sent[-1]
    assert kind == "refused"
    assert isinstance(error, InputError)
    assert "ran out of memory before it was prepared" in str(error)
