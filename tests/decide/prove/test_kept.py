"""The proofs that are kept for rankcheck's own claims, all of them before the second checker."""

import pytest

from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.catalogue.loader import load
from rankcheck.decide.prove.again import prove_again
from rankcheck.decide.prove.file import FORM, Proofs

KEPT = [entry for entry in project() if FORM.path(entry).exists()]


@pytest.mark.nightly
@pytest.mark.parametrize("entry", KEPT, ids=[entry.id for entry in KEPT])
def test_they_are_accepted(entry):
    [claim] = load([entry])
    assert Proofs.of(claim).statement_sha256 == claim.statement_hash
    assert all(said for _, said in prove_again(FORM.path(entry), claim))


def test_nobody_elses_proofs_lie_there():
    ids = {entry.id for entry in project()}
    folders = {FORM.path(entry).parent for entry in project()}
    assert {path.stem for folder in folders for path in folder.glob("*.json")} <= ids
