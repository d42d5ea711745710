"""Breaks of what is said in the end: verdicts, exit codes, and the ledger."""

from dataclasses import replace

from rankcheck.engine.verification import ledger, one, run
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.ledger import Row
from rankcheck.faces.terminal import exits

from .table import Break, around, everywhere, put

CLI, LEDGER = "faces/commands/test_cli.py::", "engine/verification/test_ledger.py::"


def undecided_if_failed(of_rows, rows):
    return of_rows([replace(r, verdict="undecided") if not r.expected else r for r in rows])


def without_survivors(read, number, data):
    row = read(number, data)
    return replace(row, mutants=replace(row.mutants, survivors=()))


def without_the_last(read, path):
    found = read(path)
    return replace(found, rows=found.rows[:-1])


def of_this_schema(read, path):
    data = read(path)
    return {**data, "schema": ledger.SCHEMA} if isinstance(data, dict) else data


BREAKS = (
    Break("verdict", "a check that raises holds",
          f"{CLI}test_a_claim_that_is_neither_true_nor_false",
          put(one, "stopped_by", lambda entry, error: Row.of(entry, "holds"))),
    Break("verdict", "a dead worker holds",
          f"{CLI}test_the_number_of_workers_does_not_matter_and_a_death_leaves_a_row",
          put(run, "unfinished", lambda entry, *_, **options: Row.of(entry, "holds"))),
    Break("verdict", "a malformed claim holds",
          f"{CLI}test_a_malformed_claim_fails_alone",
          put(one, "unfinished", lambda entry, *_, **options: Row.of(entry, "holds"))),
    Break("verdict", "every verdict is expected",
          f"{LEDGER}test_each_kind_expects_one_verdict",
          put(Row, "expected", property(lambda self: True))),
    Break("exit code", "a failed claim exits as an undecided one",
          f"{CLI}test_a_refuted_conjecture_exits_1_with_its_certificate",
          everywhere(exits.of_rows, undecided_if_failed)),
    Break("exit code", "one refuted claim of many exits with 0",
          f"{CLI}test_exit_codes",
          around(exits, "worst", lambda worst, codes: next(iter(codes), exits.Exit.EXPECTED))),
    Break("ledger", "a row is read without its survivors",
          f"{LEDGER}test_what_is_written_is_read", around(ledger, "_row", without_survivors)),
    Break("ledger", "a ledger is read without its last row",
          f"{LEDGER}test_what_is_written_is_read",
          everywhere(ledger.read_ledger, without_the_last)),
    Break("ledger", "a ledger of another schema is read",
          f"{LEDGER}test_a_ledger_that_does_not_fit_is_one_error",
          around(ledger, "read_json", of_this_schema)),
    Break("ledger", "counts that are added forget what was rejected",
          "engine/verification/test_counts.py::test_counts_add_up_with_their_reasons",
          around(Counts, "__add__", lambda add, a, b: replace(add(a, b), rejected=0))),
)  # fmt: skip
