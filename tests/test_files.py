"""Writing files: whole or not at all, and never over something else."""

import json
import os
import stat
import threading

import pytest

from rankcheck import files
from rankcheck.errors import InputError

LEDGER = ("a ledger", ("schema", "claims"))


@pytest.fixture
def umask():
    """Set a umask for a test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_not_of_the_kind_is_not_replaced(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text("precious")
    with pytest.raises(InputError, match="a ledger is JSON, and this is a Python file"):
        files.check_writable(mine, *LEDGER)
    with pytest.raises(InputError, match="this is a Python file"):
        files.check_writable(tmp_path / "new.py", *LEDGER)
    for text in ("precious", '{"schema": 3}', "[1]", "[" * 100_000):
        other = tmp_path / "other.json"
        other.write_text(text)
        with pytest.raises(InputError, match="it exists and is not a ledger; name another file"):
            files.check_writable(other, *LEDGER)
    other.write_text("")
    files.check_writable(other, *LEDGER)
    other.write_text('{"schema": 1, "claims": []}')
    files.check_writable(other, *LEDGER)


def test_a_file_is_no_folder(tmp_path):
    file = tmp_path / "theory.py"
    file.write_text("precious")
    for path in (file / "x.json", file / "deep" / "x.json"):
        with pytest.raises(InputError, match=r"theory\.py is a file, not a folder"):
            files.check_writable(path, *LEDGER)
    with pytest.raises(InputError, match=r"the folder .*none does not exist"):
        files.check_writable(tmp_path / "none" / "x.json", *LEDGER)


def test_links_are_followed(tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    link.symlink_to(target)
    files.write_json(link, [1])
    assert link.is_symlink()
    assert json.loads(target.read_text()) == [1]


def test_permissions(tmp_path, umask):
    path = tmp_path / "x.json"
    umask(0o077)
    files.write_json(path, 1)
    assert mode(path) == 0o600
    path.chmod(0o640)
    umask(0o022)
    files.write_json(path, 2)
    assert mode(path) == 0o640
    files.write_json(tmp_path / "y.json", 1)
    assert mode(tmp_path / "y.json") == 0o644


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipes_and_devices_are_written_through(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    files.write_json(pipe, {"a": 1})
    reader.join(10)
    assert json.loads(got[0]) == {"a": 1}
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    files.write_json(path, [1])

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(OSError, match="No space left"):
        files.write_json(path, [2])
    assert json.loads(path.read_text()) == [1]
    assert [found.name for found in tmp_path.iterdir()] == ["x.json"]


def test_git_passes_over_what_runs_leave(tmp_path, monkeypatch):
    """The folder has a .gitignore from the beginning; one of somebody else is not touched."""
    monkeypatch.chdir(tmp_path)
    for name in ("mine", "mine/.rankcheck", "mine/.rankcheck/records"):
        files.make_folder(tmp_path / name)
        files.make_folder(tmp_path / name)
    assert [path.name for path in tmp_path.rglob(".gitignore")] == [".gitignore"]
    ignored = tmp_path / "mine" / ".rankcheck" / ".gitignore"
    assert ignored.read_text().splitlines()[-1] == "*"
    ignored.unlink()
    files.make_folder(ignored.parent / "proofs")
    assert not ignored.exists()
    files.make_folder(files.LEFT)
    assert (files.LEFT / ".gitignore").is_file()
