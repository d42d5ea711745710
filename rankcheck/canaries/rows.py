"""Canaries of verdicts, of exit codes, and of the ledger."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

from rankcheck.canaries.canary import Canary
from rankcheck.canaries.known import FEW, PROFILE, declare, known, numbers, verified, wrong_in
from rankcheck.catalogue.entry import Entry
from rankcheck.catalogue.loader import BrokenClaim
from rankcheck.claims.claim import Body, Claim
from rankcheck.claims.kinds import Kind
from rankcheck.claims.relations import Relation, leq
from rankcheck.claims.verdicts import VERDICTS, Verdict
from rankcheck.parallel.executors import Unfinished
from rankcheck.terminal.exits import of_rows
from rankcheck.verification.ledger import Ledger, LedgerError, Mutants, Row, read_ledger
from rankcheck.verification.one import verify_entry
from rankcheck.verification.profiles import Settings
from rankcheck.verification.run import row_of

__all__ = ["CANARIES"]

#: The exit code for each verdict on a claim that is said to hold, on a conjecture, on a claim that
#: is said to be false, and on one that is only cited.
_CODES: dict[Kind, dict[Verdict, int]] = {
    "bound": {"holds": 0, "guarded": 1, "refuted": 1, "failed": 1, "undecided": 3, "cited": 1},
    "conjecture": {"guarded": 0, "holds": 1, "refuted": 1, "failed": 1, "undecided": 3, "cited": 1},
    "refuted": {"refuted": 0, "holds": 1, "guarded": 1, "failed": 1, "undecided": 3, "cited": 1},
    "cited": {"cited": 0, "holds": 1, "guarded": 1, "refuted": 1, "failed": 1, "undecided": 3},
}
#: The exit code of a run of several claims.
_SEVERAL: dict[tuple[Verdict, ...], int] = {
    (): 0,
    ("holds", "holds"): 0,
    ("holds", "undecided"): 3,
    ("undecided", "refuted"): 1,
    ("failed", "undecided", "holds"): 1,
}


def _raises_above_2(x: Any) -> Relation:
    if bool((x > 2).any()):
        raise ArithmeticError("the canary raises")
    return leq(x, x * x)


def _raising(error: type[Exception]) -> Callable[[Any], Any]:
    def reach(x: Any) -> Any:
        raise error("the canary raises")

    return reach


def _true(x: Any) -> Relation:
    return leq(x, x)


def _claim(folder: Path, body: Body = _true, **options: Any) -> Claim:
    return declare("a row", body, numbers(), folder, **options)


def _exit_codes(folder: Path) -> str | None:
    runs: list[tuple[list[Row], int]] = [
        ([Row.of(_claim(folder, kind=kind), verdict)], code)
        for kind, codes in _CODES.items()
        for verdict, code in codes.items()
    ]
    bound = _claim(folder)
    runs += [([Row.of(bound, each) for each in some], code) for some, code in _SEVERAL.items()]
    for rows, code in runs:
        if of_rows(rows) != code:
            shown = ", ".join(f"{row.kind}: {row.verdict}" for row in rows)
            return f"the exit code of ({shown}) is {of_rows(rows):d}, and has to be {code}"
    missing = set(VERDICTS) - set(_CODES["bound"])
    return f"no exit code is known of {', '.join(missing)}" if missing else None


def _checked(
    verdict: Verdict, says: str, folder: Path, body: Body = _true, **options: Any
) -> str | None:
    """What a run makes of a claim whose check raises."""
    claim = _claim(folder, body, **options)
    # What a run knows of a claim are its declared facts, which the claim has as well.
    row = verify_entry(cast(Entry, claim), claim, Settings(FEW, folder=folder))
    return wrong_in(row, verdict, says)


def _malformed(folder: Path) -> str | None:
    entry = cast(Entry, _claim(folder))
    broken = BrokenClaim(entry, "the canary is malformed")
    return wrong_in(verify_entry(entry, broken, Settings(FEW)), "failed", "malformed")


def _lost(folder: Path) -> str | None:
    entry = cast(Entry, _claim(folder))
    row = row_of(Unfinished(0, "lost its process (exit code 3)"), entry)
    return wrong_in(row, "undecided", "lost its process (exit code 3)") or (
        "a claim whose process died is as expected" if row.expected else None
    )


def _ledger(folder: Path, *more: Row) -> tuple[Ledger, Path]:
    """A ledger of one row of each verdict, and its file."""
    bound = _claim(folder)
    mutants = Mutants(1, 2, ("a mutant that survives",))
    rows = [
        Row.of(bound, verdict, mutants=mutants, messages=("a message",), seconds=1.5)
        for verdict in VERDICTS
    ]
    ledger = Ledger.of([*more, *rows], profile="canaries", seed=3, seconds=2.5)
    ledger.write(folder / "ledger.json")
    return ledger, folder / "ledger.json"


def _read_back(folder: Path) -> str | None:
    rich = verified(declare("rich", lambda x: leq(1.02 * x, x), numbers(), folder), PROFILE, seed=1)
    ledger, path = _ledger(folder, rich)
    again = read_ledger(path)
    for row, read in zip(ledger.rows, again.rows, strict=True):
        if row.to_json() != read.to_json() or row.expected != read.expected:
            return f"the row of the verdict {row.verdict} is read as {read.verdict}, or otherwise"
    if (again.profile, again.seed, again.seconds) != (ledger.profile, ledger.seed, ledger.seconds):
        return "the profile, the seed or the seconds are read otherwise"
    return None


def _refused(call: Callable[[], object], says: str) -> str | None:
    """What is wrong if a ledger does not say so of what it is asked."""
    try:
        call()
    except LedgerError as error:
        return None if says in str(error) else f"the error does not say {says!r}: {error}"
    return f"it is not said that {says!r}"


def _unread(folder: Path) -> str | None:
    """Ledgers that are changed so that nobody may read them."""
    _, path = _ledger(folder)
    text = path.read_text(encoding="utf-8")
    data = json.loads(text)
    first, *others = data["claims"]
    nameless = {name: value for name, value in first.items() if name != "verdict"}
    for changed, says in (
        (text[:-20], "was cut off"),
        (json.dumps(data | {"claims": [nameless, *others]}), "verdict is missing"),
        (
            json.dumps(data | {"claims": [first | {"verdict": "true"}, *others]}),
            "verdict is 'true'",
        ),
        (json.dumps(data | {"schema": 1}), "of schema 1"),
    ):
        path.write_text(changed, encoding="utf-8")
        if wrong := _refused(partial(read_ledger, path), says):
            return wrong
    return None


def _no_row(folder: Path) -> str | None:
    ledger, _ = _ledger(folder)
    return _refused(lambda: ledger.rows_of(["canary.a-row", "canary.other"]), "row of canary.other")


CANARIES = (
    Canary("exit codes", "verdicts", _exit_codes, short=True),
    known("verdicts", "a body that raises on some", _raises_above_2, "failed",
          says="ArithmeticError", profile=FEW),
    Canary("a check that raises", "verdicts",
           partial(_checked, "failed", "ArithmeticError", reach=_raising(ArithmeticError))),
    Canary("a check without relations", "verdicts",
           partial(_checked, "failed", "the body returned", body=lambda x: x < 9)),
    Canary("a check without memory", "verdicts",
           partial(_checked, "undecided", "memory", reach=_raising(MemoryError))),
    Canary("a malformed claim", "verdicts", _malformed),
    Canary("a claim whose process died", "verdicts", _lost),
    known("verdicts", "only cited", lambda x: leq(1.02 * x, x), "cited", kind="cited"),
    known("verdicts", "a conjecture", lambda x: leq(x, 2 * x), "guarded", kind="conjecture"),
    Canary("rows read back", "ledger", _read_back),
    Canary("ledgers that cannot be read", "ledger", _unread),
    Canary("a claim without a row", "ledger", _no_row),
)  # fmt: skip
