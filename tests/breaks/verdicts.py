"""Breaks of what is said in the end: verdicts, exit codes, the ledger, and the canaries."""

from dataclasses import replace
from functools import cache

from rankcheck.canaries import run as running
from rankcheck.canaries import trust
from rankcheck.terminal import exits
from rankcheck.verification import ledger, one, run
from rankcheck.verification.counts import Counts
from rankcheck.verification.ledger import Row

from .table import around, everywhere, noticed


@noticed(
    "verdict",
    canary="a check that raises",
    test="commands/test_cli.py::test_a_claim_that_is_neither_true_nor_false",
)
def a_check_that_raises_holds(patch):
    patch.setattr(one, "stopped_by", lambda entry, error: Row.of(entry, "holds"))


@noticed(
    "verdict",
    canary="a claim whose process died",
    test="commands/test_cli.py::test_the_number_of_workers_does_not_matter_and_a_death_leaves_a_row",
)
def a_dead_worker_holds(patch):
    patch.setattr(run, "unfinished", lambda entry, *_, **__: Row.of(entry, "holds"))


@noticed(
    "verdict",
    canary="a check that raises",
    test="commands/test_cli.py::test_a_malformed_claim_fails_alone",
)
def a_malformed_claim_holds(patch):
    patch.setattr(one, "unfinished", lambda entry, *_, **__: Row.of(entry, "holds"))


@noticed(
    "verdict",
    canary="exit codes",
    test="verification/test_ledger.py::test_each_kind_expects_one_verdict",
)
def every_verdict_is_expected(patch):
    patch.setattr(Row, "expected", property(lambda self: True))


@noticed(
    "exit code",
    canary="exit codes",
    test="commands/test_cli.py::test_a_refuted_conjecture_exits_1_with_its_certificate",
)
def every_run_exits_with_0(patch):
    everywhere(patch, exits.of_rows, lambda rows: exits.Exit.EXPECTED)


@noticed(
    "exit code",
    canary="exit codes",
    test="commands/test_cli.py::test_a_refuted_conjecture_exits_1_with_its_certificate",
)
def a_failed_claim_exits_as_an_undecided_one(patch):
    def lenient(original, rows):
        return original([replace(r, verdict="undecided") if not r.expected else r for r in rows])

    original = exits.of_rows
    everywhere(patch, original, lambda rows: lenient(original, rows))


@noticed("exit code", canary="exit codes", test="commands/test_cli.py::test_exit_codes")
def one_refuted_claim_of_many_exits_with_0(patch):
    first = lambda worst, codes: next(iter(codes), exits.Exit.EXPECTED)  # noqa: E731
    around(patch, exits, "worst", first)


def read_as(patch, change):
    """Change each row of a ledger that is read."""
    around(patch, ledger, "_row", lambda row, number, data: change(row(number, data)))


@noticed(
    "ledger",
    canary="rows read back",
    test="verification/test_ledger.py::test_what_is_written_is_read",
)
def a_row_is_read_without_its_survivors(patch):
    read_as(patch, lambda row: replace(row, mutants=replace(row.mutants, survivors=())))


@noticed(
    "ledger",
    canary="rows read back",
    test="verification/test_ledger.py::test_what_is_written_is_read",
)
def a_row_is_read_as_holding(patch):
    read_as(patch, lambda row: replace(row, verdict="holds"))


@noticed(
    "ledger",
    canary="rows read back",
    test="verification/test_ledger.py::test_what_is_written_is_read",
)
def a_ledger_is_read_without_its_last_row(patch):
    original = ledger.read_ledger

    def shorter(path):
        found = original(path)
        return replace(found, rows=found.rows[:-1])

    everywhere(patch, original, shorter)


@noticed(
    "ledger",
    canary="a ledger of another schema",
    test="verification/test_ledger.py::test_a_ledger_that_does_not_fit_is_one_error",
)
def a_ledger_of_another_schema_is_read(patch):
    around(patch, ledger, "read_json", lambda read, path: _of_this_schema(read(path)))


def _of_this_schema(data):
    return {**data, "schema": ledger.SCHEMA} if isinstance(data, dict) else data


@noticed(
    "ledger",
    canary="false only where it is rejected",
    test="verification/test_counts.py::test_counts_add_up_with_their_reasons",
)
def counts_that_are_added_forget_what_was_rejected(patch):
    around(patch, Counts, "__add__", lambda add, a, b: replace(add(a, b), rejected=0))


@noticed(
    "canaries",
    why="what is switched off says nothing",
    test="canaries/test_canaries.py::test_the_error_names_the_canary_and_the_versions",
)
def a_run_begins_without_canaries(patch):
    everywhere(patch, trust.check_canaries, cache(lambda: None))


@noticed(
    "canaries",
    why="what is switched off says nothing",
    test="canaries/test_canaries.py::test_the_error_names_the_canary_and_the_versions",
)
def there_are_no_canaries(patch):
    everywhere(patch, running.CANARIES, ())


@noticed(
    "canaries",
    why="what is switched off says nothing",
    test="canaries/test_canaries.py::test_the_error_names_the_canary_and_the_versions",
)
def every_canary_comes_out_right(patch):
    def right(original, *arguments):
        return ((canary, None) for canary, _ in original(*arguments))

    original = running.outcomes
    everywhere(patch, original, lambda *arguments: right(original, *arguments))
