"""docs/exports.md shows what the commands write, and has a row for each stored refutation."""

import re

import pytest

from .made import ROOT, STORED, exported, lines_of_code, stored

PAGE = (ROOT / "docs/exports.md").read_text(encoding="utf-8")
SHOWN = "rank.cross-example-as-printed"


@pytest.mark.parametrize("language", ["coq", "script"])
def test_the_page_shows_an_export(language):
    assert f"```text\n{exported(SHOWN, language).rstrip()}\n```" in PAGE
    assert f"rankcheck export {SHOWN} --{language} > " in PAGE


def test_the_table_has_every_stored_refutation():
    rows = re.findall(r"^\| `([\w.-]+)` \| (\w+) \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE)
    assert [row[0] for row in rows] == list(STORED)
    assert f"All {len(STORED)} stored refutations have both forms." in PAGE
    for claim_id, kind, comparisons, lines in rows:
        rational = "QArith" in exported(claim_id, "coq")
        assert kind == ("rationals" if rational else "reals"), claim_id
        assert int(comparisons) == len(stored(claim_id)[0].branches), claim_id
        assert int(lines) == len(lines_of_code(exported(claim_id, "script"))), claim_id
