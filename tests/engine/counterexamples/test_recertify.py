"""Instances of existing certificates are certified again, for the claim as it now stands."""

import json

import pytest

from rankcheck import leq
from rankcheck.claims.catalogue.certificates import FORM, read
from rankcheck.claims.catalogue.kept import digest
from rankcheck.engine.counterexamples import replay
from rankcheck.engine.counterexamples.certificate import write
from rankcheck.engine.counterexamples.given import (
    NotRefutedError,
    from_choices,
    read_instance,
    recertify,
)
from rankcheck.errors import InputError
from rankcheck.theory.instances.choices import ChoicesError
from rankcheck.theory.instances.source import instances


@instances
def vectors(source, *, size=(1, 3)):
    return source.tensor(source.integer(*size))


def bound(value):
    return lambda x: leq(x.sum(-1), value)


@pytest.fixture
def refuted(declare, tmp_path, monkeypatch):
    """`refuted(3.0)`: the claim that sums are at most 3, declared as refuted in `mine.py`."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.py"
    file.touch()

    def make(value, **attributes):
        attributes = {"kind": "refuted", "file": file, "statement": f"sums <= {value}"} | attributes
        return declare(bound(value), vectors(), **attributes)

    return make


def stored(claim, *choices):
    """Store a certificate of a smallest and possibly a worst instance; its path."""
    return write(FORM.path(claim).parent, *(from_choices(claim, c) for c in choices))


def test_both_instances_are_certified_for_the_new_text(refuted):
    path = stored(refuted(3.0), [1, [4]], [2, [8, "7/2"]])
    claim = refuted(2.0)
    assert replay(path, claim=claim).changed
    found = recertify(claim)
    assert (found.path, found.origin, found.changed) == (path, path, True)
    assert not replay(path, claim=claim).changed
    data = read(path)
    assert (data["smallest"]["excess"], data["worst"]["excess"]) == ("2", "9.5")


def test_a_certificate_that_is_up_to_date_is_not_written(refuted):
    claim = refuted(3.0)
    path = stored(claim, [1, [4]])
    data = json.loads(path.read_text())
    del data["sha256"]
    data["versions"]["python"] = "3.0"
    path.write_text(json.dumps({**data, "sha256": digest(data)}))
    before = path.read_text()
    assert not recertify(claim).changed
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("value", "instances", "name"),
    [
        (5.0, ([1, [4]], [2, [8, "7/2"]]), "smallest"),
        (12.0, ([1, [4]], [2, [8, "7/2"]]), "smallest"),  # as the other one does
        (5.0, ([2, [8, "7/2"]], [1, [4]]), "worst"),
    ],
)
def test_an_instance_that_no_longer_refutes_is_refused(refuted, value, instances, name):
    path = stored(refuted(3.0), *instances)
    before = path.read_text()
    with pytest.raises(NotRefutedError, match=rf"^the {name} instance of .*: satisfied"):
        recertify(refuted(value))
    assert path.read_text() == before


def test_a_generator_that_has_changed(refuted, declare):
    claim = refuted(3.0)
    stored(claim, [1, [4]])
    other = declare(bound(3.0), vectors(size=(2, 3)), kind="refuted", file=claim.file)
    with pytest.raises(ChoicesError, match="received 1; choice 1"):
        recertify(other)


def test_an_instance_as_text(refuted, tmp_path):
    path = stored(refuted(3.0), [1, [4]], [2, [8, "7/2"]])
    assert read_instance(str(path)).choices == [1, [4]]
    assert read_instance(str(path)).family == "vectors()"
    (tmp_path / "typed.json").write_text('[2, [1.5, "7/2"]]')
    for text in ("typed.json", ' [2, [1.5, "7/2"]]'):
        assert read_instance(text).choices == [2, [1.5, "7/2"]]
        assert read_instance(text).family is None
    for text in ("[1, [1]", "nothing.json", "[" * 100_000, "x" * 5000, "\0", "."):
        with pytest.raises(InputError):
            read_instance(text)
