from __future__ import annotations

import math

import pytest

from rankcheck.hunt.arena import Shape
from rankcheck.hunt.journal import Journal, JournalError, set_aside
from rankcheck.hunt.shard import Finding, Outcome, Shard
from rankcheck.verification.counts import Counts

HEAD = {"claim": "hunted.easy", "statement_sha256": "ab", "seed": 3, "strategies": ["corpus"]}
FOUND = Finding([1, [0, "1/2"]], True, 0.25)
FIRST = Outcome(Counts(5, 1, 0, {"x > 0": 1}), (0.5, math.inf))
SECOND = Outcome(Counts(7, 0, 2), (), FOUND)


def shard(index):
    return Shard(0, index, "corpus", Shape("instances", (1, 2)), 10 + index)


def written(path):
    journal = Journal(path, HEAD)
    journal.add(shard(0), FIRST, 1.5)
    journal.add(shard(1), SECOND, 2.5)
    journal.close()
    return path


def test_a_journal_gives_back_what_it_was_given(tmp_path):
    journal = Journal(written(tmp_path / "new folder" / "j.jsonl"), HEAD)
    assert len(journal) == 2
    assert journal.get(shard(0)) == FIRST
    assert journal.get(shard(1)) == SECOND
    assert journal.get(shard(2)) is None
    assert journal.seconds == 2.5
    journal.close()


def test_a_line_that_was_cut_off_is_dropped_and_written_over(tmp_path):
    path = written(tmp_path / "j.jsonl")
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for cut in (1, 20, len(lines[2]) - 1):
        path.write_bytes(whole[: len(whole) - cut])
        journal = Journal(path, HEAD)
        assert len(journal) == 1
        journal.add(shard(1), SECOND, 2.5)
        journal.close()
        assert path.read_bytes() == whole


def test_a_head_that_was_cut_off_is_written_again(tmp_path):
    path = tmp_path / "j.jsonl"
    whole = written(path).read_bytes()
    path.write_bytes(whole[:9])
    Journal(path, HEAD).close()
    assert path.read_bytes() == whole.splitlines(keepends=True)[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [("claim", "hunted.other"), ("statement_sha256", "cd"), ("seed", 4), ("journal", 4)],
)
def test_the_journal_of_another_hunt_or_version_is_refused(tmp_path, name, value):
    path = written(tmp_path / "j.jsonl")
    before = path.read_bytes()
    with pytest.raises(JournalError, match=f"its {name} is .*, not {value!r}; delete it, or name"):
        Journal(path, {**HEAD, name: value})
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (1, b"{}"),
        (1, b"[1]"),
        (2, b"{"),
        (2, b'{"shard":"0.1 x","seconds":1}'),
        (2, b'{"shard":"0.1 x","seconds":1,"outcome":null}'),
        (2, b'{"shard":"x","seconds":1,"outcome":{}}'),
        (2, b'{"shard":"0.1 x","seconds":1,"outcome":{"surprise":1}}'),
        (2, b'{"shard":"0.1 x","seconds":1,"outcome":{"least":[NaN]}}'),
        (2, b'{"shard":"0.1 x","seconds":1,"outcome":{"counts":{"evaluated":-1}}}'),
        *[
            (2, b'{"shard":"0.1 x","seconds":%s,"outcome":{}}' % s)
            for s in (b"-1", b"NaN", b"1e999")
        ],
    ],
)
def test_a_malformed_journal_is_refused_and_left_alone(tmp_path, line, text):
    path = written(tmp_path / "j.jsonl")
    lines = path.read_bytes().splitlines()
    lines[line - 1] = text
    path.write_bytes(b"\n".join(lines) + b"\n")
    before = path.read_bytes()
    with pytest.raises(JournalError, match="journal"):
        Journal(path, HEAD)
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["a letter", "a letter\nof two lines\n", "{}\n"])
def test_a_file_that_is_no_journal_is_not_written_over(tmp_path, text):
    path = tmp_path / "letter.txt"
    path.write_text(text)
    with pytest.raises(JournalError):
        Journal(path, HEAD)
    assert path.read_text() == text


def test_a_journal_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(JournalError, match="cannot be used"):
        Journal(tmp_path, HEAD)
    (tmp_path / "letter.txt").write_text("a letter")
    for path in ("letter.txt/j.jsonl", "letter.txt/deep/j.jsonl"):
        with pytest.raises(JournalError, match=r"letter\.txt is a file, not a folder"):
            Journal(tmp_path / path, HEAD)


def test_two_hunts_cannot_write_one_journal(tmp_path):
    path = tmp_path / "j.jsonl"
    first = Journal(path, HEAD)
    with pytest.raises(JournalError, match="another hunt is writing the journal"):
        Journal(path, HEAD)
    with pytest.raises(JournalError, match="another hunt is writing the journal"):
        set_aside(path)
    first.add(shard(0), FIRST, 1.0)
    first.close()
    again = Journal(path, HEAD)
    assert again.get(shard(0)) == FIRST
    again.close()


def test_a_journal_is_set_aside_under_a_free_name(tmp_path):
    path = tmp_path / "j.jsonl"
    assert set_aside(path) is None
    written(path)
    assert set_aside(path) == tmp_path / "j.jsonl.1"
    written(path)
    assert set_aside(path) == tmp_path / "j.jsonl.2"
    assert not path.exists()
    kept = Journal(tmp_path / "j.jsonl.1", HEAD)
    assert len(kept) == 2
    kept.close()
