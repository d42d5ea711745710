"""A sharpening as text, from its JSON: the constant in the first line, then what attains it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from rankcheck.claims.catalogue.entry import at_prompt
from rankcheck.claims.labels import readable
from rankcheck.engine.counterexamples.describe import approximately
from rankcheck.files import shown_path
from rankcheck.sharpen.sentences import (
    Data,
    Standing,
    closing,
    even,
    frontier,
    headline,
    looks_like,
    record,
    shown,
    standing,
    trend,
    unmeasured,
)

#: Of a longer table so many rows at its begin and at its end are shown; and so many growing
#: instances.
FIRST, LAST, GROWING = 7, 3, 4
#: A side with more characters is rounded.
SIDE = 14


@dataclass(frozen=True)
class Paragraph:
    """What is said of a dial, of one relation, or of the whole.

    Attributes:
        lines: the first one is the answer; the others are indented.
        standing: that of the relation, or of the statement for all values of the dial that were
            tried; None for the whole.
    """

    lines: tuple[str, ...]
    standing: Standing | None = None


def message(data: Data) -> str:
    """The whole as plain text, several lines.

    Args:
        data: the JSON of a sharpening, without `message`.
    """
    return "\n".join(line for each in paragraphs(data) for line in each.lines)


def paragraphs(data: Data) -> list[Paragraph]:
    """What is said of the dial, of each relation, and at the end of the run."""
    parts = [] if data["dial"] is None else [_dial(data["claim"], data["dial"])]
    parts += [_relation(data, relation) for relation in data["relations"]]
    return [*parts, Paragraph(tuple(_end(data)))]


def side(text: str) -> str:
    """A side as it is, or rounded if it is long."""
    return text if len(text) <= SIDE else approximately(Fraction(text.rstrip("…")), 10)


def _relation(data: Data, relation: Data) -> Paragraph:
    several = len(data["relations"]) > 1 or relation["label"]
    name = data["claim"] + (f", {relation['name']}" if several else "")
    lines = [f"{name}: {headline(relation)}", *_indented(_details(data["by"], relation))]
    return Paragraph(tuple(lines), standing(relation))


def _details(by: Sequence[str], relation: Data) -> Iterator[str]:
    """What follows the headline of a relation; what is empty is left out."""
    yield looks_like(relation)
    small, best = relation["small"] or relation["best"], relation["best"]
    if small is not None and standing(relation) != "equal":
        same = shown(small["ratio"]) == shown(best["ratio"])
        how = f"{'' if same else shown(small['ratio']) + ' is '}{relation['how']} by"
        yield _instance(how, small)
        yield from (f"  {sentence}" for sentence in relation["special"])
    groups = relation["by"]
    if len(groups) > 1 and standing(relation) != "equal":
        sizes, keys = ", ".join(by), [", ".join(map(str, one["key"])) for one in groups]
        if even(relation):
            yield f"by {sizes}: the same from {keys[0]} to {keys[-1]}"
        else:
            yield f"by {sizes}:"
            found = [shown(one["best"]["ratio"]) for one in groups]
            yield from _table(list(zip(keys, found, strict=True)))
    yield trend(by, relation)
    grown = relation["growing"]
    yield "growing instances:" if grown else ""
    yield from (_instance(f"  {shown(one['ratio'], 6)} at", one) for one in grown[-GROWING:])
    yield unmeasured(relation)
    yield record(relation)


def _instance(how: str, instance: Data) -> str:
    sides = f"lhs {side(instance['lhs'])}, rhs {side(instance['rhs'])}"
    return f"{how}: {readable(instance['description'])} ({sides})"


def _dial(claim: str, dial: Data) -> Paragraph:
    probes = dial["probes"]
    lines = ["tried:"] if probes else []
    rows = []
    for probe in probes:
        ratio = "" if probe["ratio"] is None else f"lhs/rhs {shown(probe['ratio'])}"
        fate = "proved false" if probe["refuted"] else "survived"
        tried = "" if probe["refuted"] else f"{probe['instances']} instances"
        rows.append((probe["value"], f"{fate:12}", ", ".join(filter(None, [ratio, tried]))))
    lines += _table(rows)
    last = _last_false(dial)
    if last is not None and last["instance"] is not None:
        lines.append(_instance(f"{dial['name']} = {last['value']} is refuted by", last["instance"]))
    head = f"{claim}, {dial['name']}: {frontier(dial)}"
    said: Standing = "loose" if dial["survived"] else "false" if dial["false"] else "open"
    return Paragraph((head, *_indented(lines)), said)


def _last_false(dial: Data) -> Data | None:
    """The refuted probe that is nearest to what survived; the largest one if nothing did."""
    refuted = [probe for probe in dial["probes"] if probe["refuted"]]
    ends = dial["survived"] or [dial["high"]]
    return min(
        refuted,
        key=lambda probe: min(abs(Fraction(probe["value"]) - Fraction(end)) for end in ends),
        default=None,
    )


def again(data: Data) -> str:
    """What proves the certificate again; empty if there is none."""
    if data["certificate"] is None:
        return ""
    path = shown_path(Path(data["certificate"]))
    if at_prompt(Path(data["file"])):  # no command finds the claim
        return f"rankcheck.engine.counterexamples.replay({path!r}, claim=claim)"
    return f"rankcheck replay {shlex.quote(path)}"


def _end(data: Data) -> Iterator[str]:
    """The last lines: what the run did, and what it left."""
    yield f"{closing(data)}; what the generator never draws was not tried"
    for reason, times in data["troubles"].items():
        yield f"  {times} times: {reason}"
    if data["certificate"] is not None:
        yield f"  certificate: {again(data)}"
    if data["record_file"] is not None:
        yield f"  record: {shown_path(Path(data['record_file']))}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows with their first cells padded to one width; a long table without its middle."""
    widest = max((len(row[0]) for row in rows), default=0)
    lines = [f"  {first:{widest}}  {'  '.join(rest)}".rstrip() for first, *rest in rows]
    middle = len(lines) - FIRST - LAST
    if middle > 1:
        lines[FIRST:-LAST] = [f"  … {middle} more, in --json"]
    yield from lines


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines if line)
