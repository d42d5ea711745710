"""What is reported of a hunt whose process was stopped. No process is started here."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankcheck.catalogue.selection import select
from rankcheck.hunt import Progress
from rankcheck.hunt.apart import Apart, Known
from rankcheck.parallel.pool import Done, Overran, Pool, Told
from rankcheck.verification.counts import Counts

SELECTOR = f"{Path(__file__).with_name('statements.py')}::hunted.true"


@pytest.fixture
def stopped(monkeypatch):
    """The report of a hunt that tells its progress some times, and then is stopped at its limit."""

    def report(*told):
        tasks: list = []

        def events(pool):
            task = tasks[-1]
            if task[1][0] == "known":
                yield Done(task, Known({"claim": "hunted.true"}))
                return
            yield from (Told(task, progress) for progress in told)
            yield Overran(task, 7.0, "")

        monkeypatch.setattr(Pool, "__init__", lambda pool, *given, **options: None)
        monkeypatch.setattr(Pool, "submit", lambda pool, task, **options: tasks.append(task))
        monkeypatch.setattr(Pool, "events", events)
        monkeypatch.setattr(Pool, "close", lambda pool: None)
        seen: list = []
        apart = Apart(select([SELECTOR]), 1.0)
        apart.known(0)
        found = apart.hunt(0, seen.append, budget=5.0, shrink=1.0, seed=3, journal=None)
        assert seen == list(told)
        return found

    return report


STOPPED = "hunted.true is undecided: the hunt did not end within 7 s (--limit gives it longer)"


def test_a_hunt_that_was_stopped_at_once_is_undecided(stopped):
    found = stopped()
    assert (found.verdict, found.message, found.ended) == ("undecided", STOPPED, False)


def test_a_hunt_that_was_stopped_says_how_far_it_came(stopped):
    counts = Counts(evaluated=412, rejected=5)
    first = Progress("corpus", 0, 1, Counts(evaluated=100), 0.5, 1.0, 5.0)
    found = stopped(first, Progress("descend", 1, 6, counts, 0.25, 2.0, 5.0))
    said = f"{STOPPED}\n  no counterexample in the 412 instances before"
    assert (found.verdict, found.message, found.ended) == ("undecided", said, False)
    assert (found.counts, found.shapes, found.rounds, found.seconds) == (counts, 6, 1, 7.0)
    data = found.data
    assert (data["claim"], data["margin"], data["seed"]) == ("hunted.true", 0.25, 3)
    assert (data["counts"]["evaluated"], data["message"]) == (412, said)


@pytest.mark.parametrize("finding", ["undecided", "refuted"])
def test_a_hunt_that_was_stopped_over_a_violation_says_how_to_see_it(stopped, finding):
    found = stopped(Progress("corpus", 0, 1, Counts(evaluated=9), -0.5, 1.0, 5.0, finding))
    said = f"{STOPPED}\n  a violation was found before; --shrink 0 reports it as it is"
    assert (found.verdict, found.message) == ("undecided", said)
