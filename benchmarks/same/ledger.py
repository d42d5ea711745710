"""What the ledger says of a claim at a seed, and what searched: which stage broke each control."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock
from zlib import crc32

from benchmarks.same.comparing import figure
from rankcheck.claims import variants
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.loader import BrokenClaim, load_each
from rankcheck.claims.catalogue.selection import select
from rankcheck.decide.prove.standing import standing
from rankcheck.engine.hunt.controls import hunt_control
from rankcheck.engine.verification import controls
from rankcheck.engine.verification.ledger import Row
from rankcheck.engine.verification.one import verify_entry
from rankcheck.engine.verification.profiles import PROFILES, Settings
from rankcheck.engine.verification.stages import Search


def is_quick(name: str) -> bool:
    """Whether a quick run verifies a claim: a third of them, whatever others there are."""
    return crc32(name.split("[")[0].encode()) % 3 == 0


def entries(files: list[str], quick: bool) -> list[Entry]:
    """The claims of some files, or of rankcheck; the costly ones first."""
    chosen = [entry for entry in select(files) if is_quick(entry.id) or not quick]
    return sorted(chosen, key=lambda entry: -entry.effort)


def verified(entry: Entry, seed: int) -> dict[str, Any]:
    """By claim (a parametrized one has several), what a run with the profile `quick` finds."""
    [claim] = load_each([entry])
    found = {}
    each = (
        [claim]
        if isinstance(claim, BrokenClaim)
        else [variants.at(claim, dials) for dials in variants.settings(claim)]
    )
    for one in each:
        with tempfile.TemporaryDirectory() as folder, _noted() as broken:
            settings = Settings(PROFILES["quick"], seed, Path(folder), 0.0, hunt_control, standing)
            row = verify_entry(entry, one, settings)
        found[row.id] = _fields(row, broken)
    return found


def _fields(row: Row, broken: list[dict[str, Any]]) -> dict[str, Any]:
    small = 0 if row.scope is None else row.scope.counts.evaluated
    swept = [row.drawn.evaluated, row.swept.evaluated, row.tight_swept.evaluated]
    best = {
        one.label or str(number): figure(one.deviation if one.kind == "eq" else one.ratio)
        for number, one in enumerate(row.relations)
    }
    return {
        "verdict": row.verdict,
        "expected": row.expected,
        "instances": small + sum(swept),
        "shapes": row.shapes,
        "best": best,
        "mutants": [row.mutants.killed, row.mutants.total],
        "survivors": sorted([*row.mutants.survivors, *row.unbroken]),
        "controls": dict(zip(row.broken_by, broken, strict=True)),
        "proved": None if row.proved is None else dict(row.proved.shapes),
        "messages": len(row.messages),
    }


@contextmanager
def _noted() -> Iterator[list[dict[str, Any]]]:
    """Of each control that is caught, in turn: the stage, and the distance."""
    broken: list[dict[str, Any]] = []
    last: list[dict[str, Any]] = []
    searched, checked = controls.search, controls.check_control

    def search(*arguments: Any, **named: Any) -> Search:
        result = searched(*arguments, **named)
        if result.violation is not None:
            last.append({"stage": _stage(result), "distance": figure(result.violation.relative)})
        return result

    def check(*arguments: Any) -> Any:
        last.clear()
        outcome = checked(*arguments)
        if outcome.instance is not None:
            broken.append(last[-1] if last else {"stage": "hunt"})
        return outcome

    with (
        mock.patch.object(controls, "search", search),
        mock.patch.object(controls, "check_control", check),
    ):
        yield broken


def _stage(result: Search) -> str:
    """The stage that ended the search of a control; they go in this order."""
    if result.drawn.counts.total:
        return "drawn"
    if result.small.counts.total:
        return "enumerated"
    return "swept" if result.swept.counts.total else "tight"
