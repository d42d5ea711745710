"""A disk that is full or read-only: nothing half-written, and the proof still stands."""

import errno
import io
import json
import os
import threading
from pathlib import Path

import pytest

from rankcheck import files, leq
from rankcheck.counterexamples import from_choices, report_violation, write
from rankcheck.hunt import HuntError, hunt
from rankcheck.hunt.journal import Journal, JournalError
from rankcheck.hunt.shard import Outcome
from rankcheck.verification.ledger import Ledger, LedgerError

ERRORS = [errno.ENOSPC, errno.EACCES]


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
    with pytest.raises(LedgerError, match=r"x\.json") as caught:
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
    with pytest.raises(OSError) as caught:  # noqa: PT011 -- any of ERRORS
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


HEAD = {"claim": "t.made-up", "statement_sha256": "a", "seed": 0, "strategies": []}


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
def test_a_journal_on_a_disk_that_fails(tmp_path, monkeypatch, number):
    """It says which file, as an error of the system; the lines before are read again."""
    path = tmp_path / "j.jsonl"
    journal = Journal(path, HEAD)

    def fail(handle):
        raise OSError(number, os.strerror(number))

    class One:
        key = "0.0 screen instances() 1"

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match=r"j\.jsonl") as caught:
            journal.add(One(), Outcome(), 1.0)
        assert caught.value.errno == number
        assert not isinstance(caught.value, HuntError)
    journal.close()
    again = Journal(path, HEAD)
    assert len(again) <= 1
    again.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_devices_that_are_full(tmp_path):
    with pytest.raises(LedgerError, match="No space left on device"):
        Ledger((), "quick", 1, 0.0, {}).write(Path("/dev/full"))
    with pytest.raises(JournalError, match="/dev/full"):
        Journal(Path("/dev/full"), HEAD)


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
