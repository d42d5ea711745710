"""A disk that is full or read-only: nothing half-written, and the proof still stands."""

import errno
import io
import json
import os
import threading
from pathlib import Path

import pytest

from rankcheck import files, leq
from rankcheck.engine.counterexamples.certificate import write
from rankcheck.engine.counterexamples.given import from_choices
from rankcheck.engine.counterexamples.reporting import report_violation
from rankcheck.engine.hunt import hunt
from rankcheck.engine.verification.ledger import Ledger
from tests.claim_text import claim

ERRORS = [errno.ENOSPC, errno.EACCES]
SQUARE = '''
@conjecture("t.square", instances=numbers())
def test_square(x):
    """Squares are at least 0."""
    return leq(0, x**2)
'''


def full(*arguments, **options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture(params=ERRORS, ids=lambda number: errno.errorcode[number])
def broken(request, monkeypatch):
    """Make writing fail: when a file is begun, or in its middle."""

    def fail(*arguments, **options):
        raise OSError(request.param, os.strerror(request.param))

    def half(handle, *arguments, **options):
        os.write(handle, b'{"schema": 3, "cla')
        os.close(handle)
        file = io.StringIO()
        monkeypatch.setattr(file, "write", fail)
        return file

    def make(when):
        if when == "begin":
            monkeypatch.setattr(files.tempfile, "mkstemp", fail)
        else:
            monkeypatch.setattr(files.os, "fdopen", half)
        return os.strerror(request.param)

    return make


@pytest.fixture
def false(declare, scalars):
    claim = declare(lambda x: leq(x, 3.0), scalars())
    return claim, from_choices(claim, [4])


def write_ledger(folder, false):
    with pytest.raises(OSError, match=r"x\.json") as caught:
        Ledger((), "quick", 1, 0.0, {}).write(folder / "x.json")
    return str(caught.value)


def report(folder, false):
    _, violation = false
    found = report_violation(violation, folder, budget=0)
    assert found.proved
    assert found.certificate is None
    return found.message


def certify(folder, false):
    _, violation = false
    with pytest.raises(OSError, match=r"t\.made-up\.json") as caught:
        write(folder, violation)
    return str(caught.value)


def hunts(folder, false):
    claim, _ = false
    found = hunt(claim, None, rounds=1, folder=folder, shrink=0.0)
    assert found.verdict == "refuted"
    assert found.certificate is None
    return found.message


@pytest.mark.parametrize("when", ["begin", "middle"])
@pytest.mark.parametrize("action", [write_ledger, report, certify, hunts])
def test_a_disk_that_fails(tmp_path, broken, false, action, when):
    old = tmp_path / "x.json"
    old.write_text('{"old": 1}')
    said = broken(when)
    assert said in action(tmp_path, false)
    assert [path.name for path in tmp_path.rglob("*")] == ["x.json"]
    assert old.read_text() == '{"old": 1}'


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_devices_that_are_full(tmp_path):
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        Ledger((), "quick", 1, 0.0, {}).write(Path("/dev/full"))


RAN = "Path('ran').touch()"
WRITING = {
    "verify": "--workers 1 --limit 0 --json FILE",
    "hunt": "--budget 1 --limit 0 --json FILE",
    "sharpen": "--budget 1 --limit 0 --html FILE",
    "prove": "--seconds 1 --limit 0 --json FILE",
    "certify": "--limit 0 --instance [4]",
    "record": "--limit 0 --instance [4]",
    "report": "--ledger x.json --out FILE",
}


@pytest.mark.parametrize("verb", WRITING)
@pytest.mark.parametrize("why", ["full", "no folder"])
def test_whether_there_is_room_is_asked_first(mine, command, monkeypatch, verb, why):
    """It is asked by writing: permissions say little of a disk, and nothing to root."""
    mine(claim("any", RAN, most="3.0"))
    folder = Path({"certify": ".rankcheck", "record": "records"}.get(verb, "here"))
    if why == "full":
        folder.mkdir()
        monkeypatch.setattr(files.tempfile, "TemporaryFile", full)
    else:
        folder.write_text("no folder")
    suffix = {"prove": "v", "sharpen": "html", "report": "html"}.get(verb, "json")
    options = WRITING[verb].replace("FILE", f"{folder}/x.{suffix}")
    code, out, err = command(verb, "mine.py", *options.split())
    assert code == 2
    assert f"cannot write to {folder}/" in err
    assert err.count("\n") == 1
    assert "false" not in out
    assert not Path("ran").exists()


@pytest.mark.parametrize(("verb", "kept"), [("sharpen", "--record"), ("prove", "--keep")])
def test_whether_what_is_kept_has_room_is_asked_first(mine, command, verb, kept):
    mine(claim("any", RAN))
    Path("records").write_text("no folder")
    Path("proofs").write_text("no folder")
    code, _, err = command(verb, "mine.py", kept, "--limit", 0)
    assert (code, Path("ran").exists()) == (2, False)
    assert "cannot write to " in err
    assert "t.any.json: Not a directory" in err


@pytest.mark.parametrize(
    ("line", "said", "name"),
    [
        ("sharpen mine.py::test_any --budget 0.5 --limit 0 --record", "lhs/rhs", "any.json"),
        ("prove mine.py::test_square --seconds 5 --limit 0 --keep", "proved at 1", ".rankcheck"),
        ("certify mine.py::test_any --limit 0 --instance [4]", "t.any is false", ".rankcheck"),
        ("verify mine.py::test_any --workers 1 --limit 0 --json x.json", "t.any", "x.json"),
        ("new t.new", "", "new.py"),
    ],
)
def test_a_disk_that_fills_meanwhile_loses_no_result(mine, command, monkeypatch, line, said, name):
    """What was found is printed; the message names the file, which is whole or not there."""
    mine(claim("any", most="3.0" if line.startswith("certify") else "9.0"), SQUARE)
    begin = files.tempfile.mkstemp

    def full_here(dir, prefix):  # noqa: A002
        return full() if dir.is_relative_to(Path.cwd()) else begin(dir=dir, prefix=prefix)

    monkeypatch.setattr(files.tempfile, "mkstemp", full_here)
    code, out, err = command(*line.split())
    assert code == 2
    assert said in out
    assert name in out + err
    assert "No space left on device" in out + err
    left = [path.name for path in Path().rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert left == ["mine.py"]


def test_two_runs_write_one_file(tmp_path):
    """Whoever reads sees one of them, whole."""
    path = tmp_path / "x.json"
    files.write_json(path, {"run": 0, "rows": [0] * 500})
    seen, done = [], threading.Event()

    def runs(number):
        for _ in range(15):
            files.write_json(path, {"run": number, "rows": [number] * 500})

    def reads():
        while not done.is_set():
            seen.append(json.loads(path.read_text()))

    writers = [threading.Thread(target=runs, args=(number,)) for number in range(1, 5)]
    reader = threading.Thread(target=reads)
    for one in [reader, *writers]:
        one.start()
    for one in writers:
        one.join()
    done.set()
    reader.join()
    assert seen
    assert all(set(data["rows"]) == {data["run"]} for data in seen)
    assert [one.name for one in tmp_path.iterdir()] == ["x.json"]


def test_a_certificate_replaces_a_link_and_does_not_follow_it(tmp_path, false):
    _, violation = false
    precious = tmp_path / "precious"
    precious.write_text("precious")
    folder = tmp_path / "left"
    folder.mkdir()
    for target in (precious, tmp_path / "not there"):
        link = folder / "t.made-up.json"
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        assert not write(folder, violation).is_symlink()
    assert precious.read_text() == "precious"
    assert not (tmp_path / "not there").exists()
