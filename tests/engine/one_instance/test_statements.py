"""Statements about one instance, and old ones with batch axes, end as the mathematics says."""

from dataclasses import replace
from pathlib import Path

import pytest

from rankcheck.claims import registry
from rankcheck.claims.catalogue.loader import import_file
from rankcheck.engine.counterexamples import replay
from rankcheck.engine.hunt import hunt
from rankcheck.engine.verification.profiles import PROFILES
from tests.claim_text import claim as text

pytestmark = pytest.mark.slow

QUICK = replace(PROFILES["quick"], drawn=8, batches=8, shapes=32, scope=4)
#: Balls have no numpy, no gradients, no `unique`, and no assignment to narrow floats.
WITHOUT_FORM = {"singular-values", "descent", "different-rows", "larger-of-two"}

for name in ("statements.py", "old_claims.py"):
    import_file(Path(__file__).with_name(name))
CLAIMS = {id_: found for id_, found in registry.declared().items() if id_[:4] in ("word", "old.")}
TRUE = [id_ for id_ in CLAIMS if ".true-" in id_]
FALSE = [id_ for id_ in CLAIMS if ".false-" in id_]
assert (len(TRUE), len(FALSE)) == (12 + 3, 12 + 2)


@pytest.mark.parametrize("id_", TRUE)
def test_a_true_statement_stands(verify, tmp_path, id_):
    row = verify(CLAIMS[id_], QUICK)
    assert row.verdict == "guarded", row.messages
    assert hunt(CLAIMS[id_], None, rounds=1, folder=tmp_path).verdict == "survived"


@pytest.mark.parametrize("id_", FALSE)
def test_a_false_statement_falls(verify, tmp_path, id_):
    row = verify(CLAIMS[id_], QUICK, shrink=1.0)
    if id_.split("false-")[1] in WITHOUT_FORM:
        assert row.verdict in ("refuted", "undecided"), row.messages
        return
    assert row.verdict == "refuted", row.messages
    assert replay(row.counterexample.certificate).refuted
    assert hunt(CLAIMS[id_], None, rounds=2, folder=tmp_path / "hunt").verdict == "refuted"


def test_no_batch_is_to_be_deleted(mine, command):
    code, out, errors = command("verify", mine(text("old", options='no_batch="uses numpy",')))
    assert code in (1, 2)
    assert "no_batch" in out + errors
    assert "delete" in out + errors
