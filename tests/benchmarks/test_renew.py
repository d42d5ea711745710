"""`python -m benchmarks.renew`: what stands gets the hash of the new text, and nothing else."""

import json
import shutil
from types import SimpleNamespace

import pytest

from benchmarks import renew
from rankcheck.claims.catalogue.certificates import FORM
from rankcheck.claims.catalogue.collect import project

ID = "bottleneck.chained-projections-as-printed"


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The certificate of a claim as it was for an older text, and how it is renewed."""
    (entry,) = (one for one in project() if one.id == ID)
    path = tmp_path / "kept.json"
    shutil.copy(FORM.path(entry), path)
    data = json.loads(path.read_text("utf-8"))
    FORM.write(path, {n: v for n, v in data.items() if n != "sha256"} | {renew.HASH: "0" * 64})
    form = SimpleNamespace(
        path=lambda _: path, write=FORM.write, whereabouts=lambda *_: (data["file"], "")
    )

    def run(again):
        monkeypatch.setattr(renew, "KINDS", ((form, again),))
        return renew.renewed(entry)

    return path, data, run


def test_what_stands_gets_the_hash_and_no_other_number_changes(kept):
    path, data, run = kept
    assert run(renew.refuted_again) == [f"{path} is renewed"]
    after = json.loads(path.read_text("utf-8"))
    assert {n for n in data if after[n] != data[n]} <= {renew.HASH, renew.CHECKSUM}
    assert after[renew.HASH] != "0" * 64
    assert run(renew.refuted_again) == []


def test_what_does_not_stand_is_left(kept):
    path, _, run = kept
    before = path.read_bytes()

    def falls(*_):
        raise ValueError("it proves nothing")

    assert run(falls) == [f"{path} does not stand: ValueError: it proves nothing"]
    assert path.read_bytes() == before
