"""A stamp is believed for the same installation alone; without one, the canaries run."""

import os
import sys
import types
from importlib import metadata
from pathlib import Path

import pytest
import torch

from rankcheck.canaries import run, stamp
from rankcheck.canaries.canary import Canary
from rankcheck.canaries.stamp import FOLDER, KEPT, Stamp, path
from rankcheck.canaries.trust import check_canaries
from rankcheck.commands import cli
from rankcheck.errors import InstallationError


class Ran(list):
    """The names of the canaries that were checked since it was last asked."""

    def now(self):
        names = self[:]
        self.clear()
        return names


@pytest.fixture
def ran(monkeypatch):
    """One canary that every run begins with, and another one; sources that are not new."""
    ran = Ran()
    canaries = [
        Canary("short", "search", lambda folder: ran.append("short"), True),
        Canary("long", "search", lambda folder: ran.append("long")),
    ]
    monkeypatch.setattr(run, "CANARIES", canaries)
    monkeypatch.setattr(stamp, "IMPORTED", stamp.IMPORTED + 1e6)
    return ran


def check():
    """What a process does that has just begun."""
    check_canaries.cache_clear()
    try:
        check_canaries()
    finally:
        check_canaries.cache_clear()


def test_a_run_begins_with_the_short_set_once(ran):
    check()
    assert ran.now() == ["short"]
    check()
    assert ran.now() == []
    assert [file.name for file in path().parent.iterdir()] == ["canaries.json"]


def source(monkeypatch, tmp_path):
    """One more source, with the time of an older one and the same size."""
    package = tmp_path / "rankcheck" / "canaries"
    package.mkdir(parents=True)
    (package / "a.py").write_text("x = 1", encoding="utf-8")
    monkeypatch.setattr(stamp, "__file__", str(package / "stamp.py"))
    old = (package / "a.py").stat()

    def change():
        (package / "a.py").write_text("x = 2", encoding="utf-8")
        os.utime(package / "a.py", ns=(old.st_atime_ns, old.st_mtime_ns))

    return change


def version(monkeypatch, tmp_path):
    known = stamp.versions()
    return lambda: monkeypatch.setattr(stamp, "versions", lambda: known | {"torch": "9"})


def rebuilt(monkeypatch, tmp_path):
    """A package of the same version, with other files."""

    class Rebuilt(metadata.PathDistribution):
        def read_text(self, name):
            return f"{super().read_text(name)}x"

    of = metadata.PathDistribution
    return lambda: monkeypatch.setattr(
        stamp.metadata, "distribution", lambda name: Rebuilt(of.from_name(name)._path)
    )


def customized(monkeypatch, tmp_path):
    """A module that Python imports at its start, and that may change anything."""
    file = tmp_path / "sitecustomize.py"
    file.write_text("", encoding="utf-8")
    module = types.SimpleNamespace(__file__=str(file))
    monkeypatch.setitem(sys.modules, "sitecustomize", module)
    return lambda: file.write_text("1", encoding="utf-8")


CHANGES = {
    "a source": source,
    "a version": version,
    "a package that is built anew": rebuilt,
    "a start of Python": customized,
    "torch's instructions": lambda patch, _: (
        lambda: patch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "DEFAULT")
    ),
    "a BLAS": lambda patch, _: lambda: patch.setattr(torch.__config__, "show", lambda: "other"),
    "a processor": lambda patch, _: (
        lambda: patch.setattr(stamp.platform, "processor", lambda: "other")
    ),
    "MKL_CBWR": lambda patch, _: lambda: patch.setenv("MKL_CBWR", "COMPATIBLE"),
    "ATEN_CPU_CAPABILITY": lambda patch, _: lambda: patch.setenv("ATEN_CPU_CAPABILITY", "default"),
    "OMP_NUM_THREADS": lambda patch, _: lambda: patch.setenv("OMP_NUM_THREADS", "17"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_has_changed_has_no_stamp(ran, monkeypatch, tmp_path, what):
    change = CHANGES[what](monkeypatch, tmp_path)
    check()
    check()
    assert ran.now() == ["short"]
    change()
    check()
    assert ran.now() == ["short"]


def test_both_of_two_installations_are_known(ran, monkeypatch):
    for count in ("1", "2", "1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", count)
        check()
    assert ran.now() == ["short", "short"]


def test_few_stamps_are_kept(ran, monkeypatch):
    for count in range(KEPT + 3):
        Stamp(f"{count:064}", True).keep()
    assert len(stamp._kept()) == KEPT
    assert not Stamp(f"{2:064}", True).current
    assert Stamp(f"{KEPT + 2:064}", True).current


def test_sources_that_have_just_changed_get_no_stamp(ran, monkeypatch, tmp_path):
    """This process may have imported those that were there before."""
    source(monkeypatch, tmp_path)()
    newest = (tmp_path / "rankcheck" / "canaries" / "a.py").stat().st_mtime
    monkeypatch.setattr(stamp, "IMPORTED", newest + stamp.SETTLED - 1)
    check()
    assert not path().exists()
    monkeypatch.setattr(stamp, "IMPORTED", newest + stamp.SETTLED + 1)
    check()
    check()
    assert ran.now() == ["short", "short"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"passed": 3}', '{"passed": [3, null]}', "\0"])
def test_a_file_that_is_no_stamp_is_no_stamp(ran, text):
    path().parent.mkdir(parents=True)
    path().write_text(text, encoding="utf-8")
    check()
    assert ran.now() == ["short"]
    check()
    assert ran.now() == []


def test_a_folder_that_cannot_be_written_does_no_harm(ran, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv(FOLDER, str(tmp_path / "file" / "below"))
    check()
    check()
    assert ran.now() == ["short", "short"]


def test_the_folder_of_the_user(monkeypatch):
    monkeypatch.delenv(FOLDER)
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    monkeypatch.setattr(stamp.sys, "platform", "linux")
    assert path() == Path("/cache/rankcheck/canaries.json")


def test_a_canary_that_comes_out_wrong_leaves_no_stamp(ran, monkeypatch):
    monkeypatch.setattr(run, "CANARIES", [Canary("blind", "search", lambda folder: "wrong", True)])
    with pytest.raises(InstallationError, match="'blind', wrong"):
        check()
    assert not path().exists()


def test_doctor_says_whether_the_stamp_is_current(ran, monkeypatch, capsys):
    def said(code=0):
        assert cli.main(["doctor", "--limit", "0"]) == code
        return capsys.readouterr().out

    assert "the stamp was not current, and is now" in said()
    assert ran.now() == ["short", "long"]
    assert "\nthe stamp is current: runs begin without canaries" in said()
    check()
    assert ran.now() == ["short", "long"]
    monkeypatch.setattr(run, "CANARIES", [Canary("blind", "search", lambda folder: "wrong")])
    assert "WRONG: wrong" in said(4)
    monkeypatch.setattr(stamp, "IMPORTED", 0)
    monkeypatch.setattr(run, "CANARIES", [])
    assert "there is no stamp, as sources have just changed" in said()
    monkeypatch.setattr(stamp, "IMPORTED", stamp.IMPORTED + 1e12)
    monkeypatch.setenv(FOLDER, os.devnull)
    assert f"there is no stamp, and {path()} cannot be written" in said()
