"""A run in one process: its rows and its events."""

from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.parallel import Done, Started
from rankcheck.engine.verification.profiles import Profile, Settings
from rankcheck.engine.verification.run import verify_claims
from tests.claim_text import claim


def test_a_run_tells_what_happens(mine, tmp_path):
    mine(claim("fine"))
    [entry] = select(["mine.py"])
    seen: list = []
    small = Settings(Profile("small", drawn=5, batches=4, size=64, single=4), folder=tmp_path)
    [row] = verify_claims([entry], small, progress=seen.append)
    assert (row.id, row.verdict) == ("t.fine", "guarded")
    assert seen == [Started(entry), Done(entry, [row])]
