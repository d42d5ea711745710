"""Fixtures for all rooms: made-up claims and records, claim files, commands."""

import sys

import pytest
import torch

from rankcheck.claims import registry
from rankcheck.claims.catalogue.loader import module_name
from rankcheck.claims.claim import Claim
from rankcheck.claims.reference import Reference
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import Profile, Settings
from rankcheck.faces.commands import arguments, cli
from rankcheck.theory.instances.record import Entries, Integer, Record
from rankcheck.theory.instances.source import instances
from tests.claim_text import HEAD


@pytest.fixture
def declare():
    """`declare(body, family, **attributes)`: a claim of kind `bound` unless told otherwise."""

    def make(body, family, **attributes):
        return Claim(
            **{
                "id": "t.made-up",
                "kind": "bound",
                "body": body,
                "instances": family,
                "title": "A statement of the tests",
                "statement": "$x$",
                "reference": Reference("tests", "here"),
            }
            | attributes
        )

    return make


@instances
def numbers(source, *, count=1, low=-8.0, high=8.0):
    return tuple(source.tensor(low=low, high=high) for _ in range(count))


@instances
def vectors(source, *, count=1, size=(1, 4)):
    n = source.integer(*size)
    return tuple(source.tensor(n) for _ in range(count))


@pytest.fixture
def scalars():
    """`scalars(count=…)`: a family of so many numbers."""
    return numbers


@pytest.fixture
def lists():
    """`lists(count=…)`: a family of so many vectors of one length."""
    return vectors


@pytest.fixture
def record():
    """`record(2, [1.0, 2.0], ...)`: ints and tensors in drawing order, in the default range."""

    def make(*values, low=-8.0, high=8.0):
        return Record(
            tuple(
                Integer(value, min(value, 1), max(value, 4))
                if isinstance(value, int)
                else Entries(torch.tensor(value).double(), torch.tensor(value).shape, low, high)
                for value in values
            )
        )

    return make


@pytest.fixture
def verify(tmp_path):
    """`verify(claim, profile, **settings)`: the row of a claim, by a small profile."""
    small = Profile("small", drawn=20, batches=8, size=64, single=12)

    def row(claim, profile=small, **settings):
        return verify_claim(claim, Settings(profile, folder=tmp_path, **settings))

    return row


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """`mine(claim("a"), ...)` writes `mine.py` in an empty working directory, to be loaded anew."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"

    def write(*claims, head=HEAD):
        sys.modules.pop(module_name(path), None)
        _forget_claims()
        path.write_text(head + "".join(claims), encoding="utf-8")
        return path

    yield write
    sys.modules.pop(module_name(path), None)


@pytest.fixture
def command(capsys):
    """`command("verify", ...)`: the exit code, the standard output and the standard error."""

    def run(*arguments):
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as stopped:  # argparse
            code = stopped.code if isinstance(stopped.code, int) else 1
        return code, *capsys.readouterr()

    return run


def _forget_claims(before=frozenset()):
    for id_ in {*registry.declared(), *registry.malformed()} - before:
        if id_.startswith("t."):
            registry.forget(id_)


@pytest.fixture(autouse=True)
def _no_claim_is_left():
    """Claims that a test declares as `t.something` do not meet those of the next one."""
    before = set(registry.declared())  # those of fixtures that several tests share
    yield
    _forget_claims(before)


@pytest.fixture(autouse=True)
def _no_profile_of_the_run(monkeypatch):
    monkeypatch.delenv("RANKCHECK_PROFILE", raising=False)


@pytest.fixture(autouse=True)
def _no_github(monkeypatch):
    """What a test prints is not annotated in the run of the tests."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    """Commands run claims here: a process that imports torch takes seconds (test_limits)."""
    monkeypatch.setattr(arguments, "LIMITS", dict.fromkeys(arguments.LIMITS, 0.0))
