"""What a prompt shows of an object: a text of a few lines, what the commands would print."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from rankcheck.audit.result import Audit
from rankcheck.claims.counterexample import Counterexample
from rankcheck.claims.facts import Facts
from rankcheck.claims.signs import SIGNS
from rankcheck.decide.prove.proof import Proof
from rankcheck.decide.prove.result import Outcome, Result
from rankcheck.decide.prove.sentences import shape_text
from rankcheck.engine.counterexamples.describe import approximately, describe_instance
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.judge import Judgement
from rankcheck.engine.counterexamples.refutation import Refutation
from rankcheck.engine.counterexamples.replay import Replayed
from rankcheck.engine.counterexamples.reporting import Found
from rankcheck.engine.hunt.result import Hunt
from rankcheck.engine.verification.ledger import Ledger, Row
from rankcheck.faces.terminal import audit as audits
from rankcheck.faces.terminal import formulas, table
from rankcheck.faces.terminal.display import hunt_sentence
from rankcheck.faces.terminal.plain import printable
from rankcheck.sharpen import sentences
from rankcheck.sharpen.extremal import Extremal
from rankcheck.sharpen.result import Sharp, Sharpened
from rankcheck.theory.instances.drivers import ReplaySource

#: A text has at most so many lines, and a line so many characters.
LINES, WIDTH = 15, 180


def text(shown: object, *, whole: bool = False) -> str:
    """What a prompt shows of an object; its name and an error's where that cannot be said.

    Args:
        whole: whether it may be longer than `LINES` lines, as where it is printed.
    """
    try:
        said = _whole(shown) if whole else _text(shown)
    except Exception as error:  # a debugger shows objects in any state
        return f"<{type(shown).__name__}, not shown: {type(error).__name__}: {error}>"
    said = printable(formulas.unicode(said))
    if whole:
        return said
    lines = said.splitlines()
    if len(lines) > LINES:
        left = len(lines) - LINES + 1
        lines = [*lines[: LINES - 1], f"  … {left} more lines: print() shows all"]
    return "\n".join(line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in lines)


def _whole(shown: object) -> str:
    if isinstance(shown, Audit):
        return "\n".join(audits.lines(shown))
    if isinstance(shown, Ledger):
        total = table.total(shown.rows, shown.seconds, shown.profile, shown.seed)
        return "\n".join([*table.lines(shown.rows), *table.messages(shown.rows), total])
    return _text(shown)


@singledispatch
def _text(shown: Any) -> str:
    return object.__repr__(shown)


@_text.register
def _(shown: Facts) -> str:  # a claim, or its entry in the catalogue
    return f"<{shown.kind} {shown.id}: {shown.title}>"


@_text.register
def _(shown: Row) -> str:
    return "\n".join([table.sentence(shown), *shown.messages])


@_text.register
def _(shown: Ledger) -> str:
    rows = shown.rows
    bad = [row for row in rows if not row.expected]
    listed = rows if len(rows) <= LINES - 3 else bad
    lines = table.lines(listed)[: LINES - 2] if listed else []
    return "\n".join([*lines, table.total(rows, shown.seconds, shown.profile, shown.seed)])


@_text.register
def _(shown: Hunt) -> str:
    return f"{hunt_sentence(shown.to_json())}\n{shown.message}"


@_text.register
def _(shown: Sharpened | Result | Found) -> str:
    return shown.message


@_text.register
def _(shown: Audit) -> str:
    return "\n".join(audits.brief(shown, LINES))


@_text.register
def _(shown: Counterexample) -> str:
    return "\n".join(shown.lines("counterexample", "proved"))


@_text.register
def _(shown: Refutation) -> str:
    lines = shown.lines(f"counterexample to {shown.claim.id}", "proved")
    lines.append(f"  claimed: {shown.claim.claimed}")
    if shown.certificate is not None:
        lines.append(f"  certificate: {shown.certificate}")
    return "\n".join(lines)


@_text.register
def _(shown: Instance) -> str:
    parts = shown.family(ReplaySource(shown.record))
    return f"<instance of {shown.claim.id}: {describe_instance(shown.claim, parts)}>"


@_text.register
def _(shown: Judgement) -> str:
    said = f"<{shown.finding}"
    if shown.finding == "refuted":
        assert shown.lhs is not None
        assert shown.rhs is not None
        sign = SIGNS[shown.kind].fails
        said += f" ({shown.bits}-bit balls): {shown.lhs.describe()} {sign} {shown.rhs.describe()}"
    return f"{said}{f': {shown.reason}' if shown.reason else ''}>"


@_text.register
def _(shown: Replayed) -> str:
    if shown.changed:
        how = f"{shown.path}: {shown.claim.id} has changed since; now it is"
        return f"{how} {shown.judgement.finding} {shown.judgement.reason}".rstrip()
    return f"{shown.path} is proved again: {shown.claim.id} is false\n{_text(shown.counterexample)}"


@_text.register
def _(shown: Extremal) -> str:
    proved = shown.attained
    what = "ratio" if SIGNS[proved.kind].bound else "deviation"
    return f"<{what} {approximately(proved.low, 10)} of {proved.name}, at {shown.instance!r}>"


@_text.register
def _(shown: Sharp) -> str:
    return sentences.headline(shown.to_json())


@_text.register
def _(shown: Outcome) -> str:
    return shown.sentence or f"not proved for {shown.text}: {shown.reason}"


@_text.register
def _(shown: Proof) -> str:
    shape = shape_text(shown.sizes, shown.integers)
    return f"<proof for {shape}: {shown.method}, {shown.paths} paths>"
