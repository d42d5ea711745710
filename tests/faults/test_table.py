"""The table of faults names tests that exist, and none is missing."""

import ast
import re

import pytest

from tests.faults import table


def found_in(file):
    tree = ast.parse((table.TESTS / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if getattr(node, "name", "").startswith("test_")}


def test_every_test_of_the_table_exists():
    rows = [row for rows in table.TABLE.values() for row in rows]
    named: dict[str, set[str]] = {}
    for row in rows:
        file, _, name = row.test.partition("::")
        assert name in found_in(file), row
        assert all((row.fault, row.commands, row.required))
        named.setdefault(file, set()).add(name)
    assert len({row.test for row in rows}) == len(rows)
    for file in table.WHOLE:
        assert found_in(file) == named[file], f"a test of {file} has no row in table.py"


def test_every_file_of_faults_is_in_the_table():
    files = {f"faults/{path.name}" for path in (table.TESTS / "faults").glob("test_*.py")}
    assert files - {"faults/test_table.py"} <= set(table.WHOLE)


def test_the_counts_are_those_of_the_tests():
    """The numbers of one file, from its text."""
    text = (table.TESTS / "bad_input" / "test_journals.py").read_text(encoding="utf-8")
    drawn, written = table.inputs()["journals"]
    assert drawn == sum(
        int(number) for number in re.findall(r"^@cases\((\d+)\)", text, re.MULTILINE)
    )
    assert written == 6  # five places, and one without a table
    last = list(table.counts())[-1].split()
    assert last[0] == "all"
    assert int(last[1]) < int(last[2])


@pytest.mark.parametrize("heading", table.TABLE)
def test_the_table_is_printed(heading):
    assert heading in table.text()
