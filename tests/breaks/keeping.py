"""Breaks of records: of what one says, of what renews it, and of what a run makes of it."""

from rankcheck.engine.records import again, ratio, renewal
from rankcheck.engine.records.file import Records
from rankcheck.engine.verification import stages, standing

from .table import Break, around, everywhere, put

FILE, STANDING = "engine/records/test_file.py::", "engine/verification/test_standing.py::"
RATIO = "engine/records/test_ratio.py::"


def middle_alone(measure, lhs, rhs):
    ends = measure(lhs, rhs)
    return ends and (sum(ends) / 2,) * 2


def excused_on_record(of, claim, tally):
    attained = any(relation.best.sharp for relation in Records.of(claim).relations)
    return [] if attained else of(claim, tally)


BREAKS = (
    Break("records", "what a record says is believed",
          f"{STANDING}test_a_record_that_is_stale_fails",
          put(standing, "check", lambda stated, instance, now, made_with: now)),
    Break("records", "ratios on record are not compared",
          f"{STANDING}test_a_record_that_is_stale_fails", put(again, "nearly", lambda *_: True)),
    Break("records", "no record is ever beaten",
          f"{STANDING}test_a_loose_bound_that_a_run_finds_far_sharper_fails",
          put(standing, "MARGIN", 10**9)),
    Break("records", "a search begins without what is on record",
          f"{STANDING}test_a_search_begins_with_what_is_on_record",
          put(stages, "again", lambda *_: None)),
    Break("records", "a record excuses a tight family that is not tight",
          f"{STANDING}test_a_record_does_not_excuse_a_tight_family",
          everywhere(stages.not_tight, excused_on_record)),
    Break("records", "any instance takes the place of a record",
          f"{FILE}test_a_larger_ratio_renews_a_record", put(renewal, "_best", lambda *_: None)),
    Break("records", "a ratio is that of the middles of its balls",
          f"{RATIO}test_the_ends_enclose_the_ratio",
          around(ratio, "_ratio", middle_alone)),
)  # fmt: skip
