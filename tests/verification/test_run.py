"""A run in one process: its rows, its events, and what a claim that could not finish says."""

import pytest

from rankcheck.catalogue.selection import select
from rankcheck.claims import registry
from rankcheck.parallel import Done, Started, Told
from rankcheck.verification.profiles import Profile, Settings
from rankcheck.verification.run import verify_claims

SOURCE = '''
from rankcheck import conjecture, leq
from rankcheck.instances.source import instances

@instances
def numbers(source):
    return source.tensor()

@conjecture("run.square", instances=numbers())
def test_square(x):
    r"""$-x^2 \\le x^2$"""
    return leq(-x * x, x * x)
'''


@pytest.fixture
def entries(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(SOURCE, encoding="utf-8")
    yield select([str(path)])
    registry.forget("run.square")


def test_a_run_tells_what_happens(entries, tmp_path):
    seen: list = []
    small = Settings(Profile("small", drawn=5, batches=4, size=64, single=4), folder=tmp_path)
    [row] = verify_claims(entries, small, progress=seen.append)
    assert (row.id, row.verdict) == ("run.square", "guarded")
    [entry] = entries
    first, *between, last = seen
    assert (first, last) == (Started(entry), Done(entry, [row]))
    assert all(isinstance(event, Told) and event.value > 0 for event in between)
    assert between
