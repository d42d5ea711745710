"""The tables of verdicts, kinds and declared facts: everything that names them follows them."""

from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

import rankcheck
from rankcheck.claims.catalogue.reading import read_file
from rankcheck.claims.declare import Accused, Checked
from rankcheck.claims.facts import HEAD, Facts
from rankcheck.claims.kinds import KINDS, Kind
from rankcheck.claims.verdicts import VERDICTS, Verdict
from rankcheck.engine.verification.ledger import Row

ARGUMENTS = [item for item in fields(Facts) if item.name not in HEAD]
#: A text of a file for each annotation of a fact.
WRITTEN = {
    "str | None": '"so"',
    "str | Mapping[str, str] | None": '{"first": "so"}',
    "Mapping[str, str]": '{"first": "so"}',
    "tuple[Erratum, ...]": 'Erratum(printed="a", right="b", survives="c")',
    "float": "2.0",
}


def test_the_tables_have_the_names_of_their_types():
    assert set(VERDICTS) == set(get_args(Verdict))
    assert set(KINDS) == set(get_args(Kind))


def test_every_kind_is_a_decorator():
    assert [getattr(rankcheck, kind).__name__ for kind in KINDS] == list(KINDS)


@pytest.mark.parametrize("item", ARGUMENTS, ids=lambda item: item.name)
def test_a_fact_is_declared_read_and_stored(item, tmp_path: Path):
    options = {*Checked.__annotations__, *Accused.__annotations__, "reason", "result"}
    assert item.name in options
    path = tmp_path / "mine.py"
    path.write_text(
        "from rankcheck import Erratum, bound, paper\n"
        f'@bound("t.a", paper("rank", "p. 1"), {item.name}={WRITTEN[item.type]})\n'
        'def test_a():\n    """A title."""\n'
    )
    (entry,) = read_file(path)
    assert entry.declared[item.name] not in (None, 1.0, (), {})
    row = Row.of(entry, "holds")
    assert row.declared == entry.declared
    assert item.name in entry.to_json()
    assert getattr(Row.from_json(row.to_json()), item.name) == getattr(entry, item.name)
