"""Canaries of verdicts, of exit codes, and of the ledger."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
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


def _ledger(folder: Path) -> tuple[Ledger, Path]:
    """A ledger of one row of each verdict, and its file."""
    rich = verified(declare("rich", lambda x: leq(1.02 * x, x), numbers(), folder), PROFILE, seed=1)
    bound = _claim(folder)
    mutants = Mutants(1, 2, ("a mutant that survives",))
    rows = [
        Row.of(bound, verdict, mutants=mutants, messages=("a message",), seconds=1.5)
        for verdict in VERDICTS
    ]
    ledger = Ledger.of([rich, *rows], profile="canaries", seed=3, seconds=2.5)
    ledger.write(folder / "ledger.json")
    return ledger, folder / "ledger.json"


def _read_back(folder: Path) -> str | None:
    ledger, path = _ledger(folder)
    again = read_ledger(path)
    for row, read in zip(ledger.rows, again.rows, strict=True):
        if row.to_json() != read.to_json() or row.expected != read.expected:
            return f"the row of the verdict {row.verdict} is read as {read.verdict}, or otherwise"
    if (again.profile, again.seed, again.seconds) != (ledger.profile, ledger.seed, ledger.seconds):
        return "the profile, the seed or the seconds are read otherwise"
    return None


def _unread(change: Callable[[str], str], says: str, folder: Path) -> str | None:
    """A ledger that is changed so that nobody may read it."""
    _, path = _ledger(folder)
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    try:
        read_ledger(path)
    except LedgerError as error:
        return None if says in str(error) else f"the error does not say {says!r}: {error}"
    return "it was read"


def _without(name: str, text: str) -> str:
    data = json.loads(text)
    del data["claims"][0][name]
    return json.dumps(data)


def _with(values: Iterable[tuple[str, Any]], text: str) -> str:
    data = json.loads(text)
    for name, value in values:
        (data if name in data else data["claims"][0])[name] = value
    return json.dumps(data)


def _no_row(folder: Path) -> str | None:
    ledger, _ = _ledger(folder)
    try:
        ledger.rows_of(["canary.rich", "canary.other"])
    except LedgerError as error:
        return None if "no row of canary.other" in str(error) else str(error)
    return "a claim without a row has one"


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
    Canary("a ledger cut off", "ledger", partial(_unread, lambda text: text[:-20], "was cut off")),
    Canary("a row without a verdict", "ledger",
           partial(_unread, partial(_without, "verdict"), "verdict is missing")),
    Canary("an unknown verdict", "ledger",
           partial(_unread, partial(_with, [("verdict", "true")]), "verdict")),
    Canary("a ledger of another schema", "ledger",
           partial(_unread, partial(_with, [("schema", 1)]), "of schema 1")),
    Canary("a claim without a row", "ledger", _no_row),
)  # fmt: skip
