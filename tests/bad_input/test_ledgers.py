"""Ledgers that were changed: the rows are shown, or it is said where they are wrong."""

import json

import pytest
from hypothesis import strategies as st

from rankcheck import files
from rankcheck.engine.verification.ledger import Row, read_ledger
from rankcheck.errors import InputError
from rankcheck.faces.report import ledger_page

from .cases import cases, refused, run
from .strategies import ODD_VALUES, WHOLE_TEXTS, as_bytes, mutated, torn


@pytest.fixture
def path(here):
    return here / "good" / "changed-ledger.json"


def check(path, raw):
    """The rows of a ledger can be written again and shown, or it is refused."""
    path.write_bytes(raw)
    ledgers = []
    refused((InputError,), lambda: ledgers.append(read_ledger(path)))
    for ledger in ledgers:
        for row in ledger.rows:
            assert Row.from_json(row.to_json()) == row or "nan" in str(row.to_json())
            assert isinstance(row.id, str)
            assert row.counts.total == row.counts.evaluated + row.counts.rejected
        assert ledger_page(ledger).endswith("</html>\n")
    ended = run("show", "mine.py", "--ledger", path)
    assert (ended.code, bool(ended.err)) == ((0, False) if ledgers else (2, True))


@cases(25, data=st.data())
def test_a_changed_or_torn_ledger(stored, path, data):
    good = stored.ledger
    rows = mutated(good["claims"]).map(lambda rows: {**good, "claims": rows})
    changed = (mutated(good) | rows).map(as_bytes)
    check(path, data.draw(changed | torn(json.dumps(good)) | WHOLE_TEXTS))


@cases(10, data=st.data())
def test_what_is_no_ledger_is_not_written_over(stored, path, data):
    raw = data.draw(WHOLE_TEXTS | mutated(stored.ledger).map(as_bytes))
    path.write_bytes(raw)
    rule = ("a ledger", ("schema", "claims"))
    refused((InputError,), lambda: files.check_writable(path, *rule))
    assert path.read_bytes() == raw


@cases(20, data=st.data())
def test_a_row_with_other_values(stored, data):
    row = dict(stored.ledger["claims"][0])
    row[data.draw(st.sampled_from(sorted(row)))] = data.draw(ODD_VALUES)
    refused((ValueError,), lambda: Row.from_json(row))


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/null", "/dev"])
def test_what_has_no_end_or_is_no_file(here, place):
    assert run("show", "mine.py", "--ledger", place).code == 2
    assert run("replay", place).code == 2


def test_a_folder_is_no_ledger(here):
    assert run("show", "mine.py", "--ledger", ".").code == 2
