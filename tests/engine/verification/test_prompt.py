"""Claims that stand in no file: at a prompt, in `python -c`, in a notebook."""

import sys
from types import ModuleType

import pytest

from rankcheck import verify_claim
from rankcheck.claims import registry
from rankcheck.claims.catalogue.certificates import CertificateError, read
from rankcheck.engine.counterexamples import replay
from rankcheck.engine.verification.profiles import Profile, Settings

SOURCE = '''
from rankcheck import conjecture, leq
from rankcheck.theory.instances.source import instances

@instances
def numbers(source):
    return source.tensor()

@conjecture("prompt.small", instances=numbers())
def test_small(x):
    r"""$x \\le 7$"""
    return leq(x, 7)

@conjecture("prompt.square", instances=numbers())
def test_square(x):
    r"""$-x^2 \\le x^2$"""
    return leq(-x * x, x * x)
'''
SMALL = Profile("small", drawn=5, batches=4, size=64, single=4)


@pytest.fixture
def forgotten():
    yield
    for name in ("prompt.small", "prompt.square"):
        registry.forget(name)


@pytest.mark.parametrize("file", ["<stdin>", "/tmp/ipykernel_7/1234.py"])
def test_a_claim_whose_file_does_not_exist(tmp_path, monkeypatch, forgotten, file):
    monkeypatch.chdir(tmp_path)
    main = ModuleType("__main__")  # without a file, as in a notebook
    monkeypatch.setitem(sys.modules, "__main__", main)
    names = vars(main)
    for _ in range(2):  # a cell may run twice
        exec(compile(SOURCE, file, "exec"), names)
    settings = Settings(SMALL)
    row = verify_claim(names["test_square"], settings)
    assert (row.verdict, row.file) == ("guarded", file)
    row = verify_claim(names["test_small"], settings)
    assert row.verdict == "refuted"
    path = tmp_path / ".rankcheck" / "prompt.small.json"
    assert (read(path)["file"], read(path)["path"]) == ("", "")
    assert replay(path, claim=names["test_small"]).refuted
    with pytest.raises(CertificateError):
        replay(path)
