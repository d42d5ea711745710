"""Mutation of statements: does a claim notice a stronger constant or exponent, a hypothesis less?

    python benchmarks/statement_mutation.py [SELECTOR...] [--json FILE] [--markdown FILE]

A SELECTOR is one of `rankcheck verify`. Each claim that is said to hold is changed in one place
at a time:

* the **constant** of each relation is made 2 % too strong. These are the derived mutants of the
  engine, so the outcome is that of `rankcheck verify`;
* each **exponent** is multiplied by 1.02, and by 0.98 if no instance notices: in the body and in
  the functions of its folder that it calls, the right side of `**`, the argument of `power(x, q)`,
  `schatten_power(A, q)` and `exp`, the half of a square root, a fraction `k / L`; and each number
  that is the default of a keyword-only parameter. An exponent is guarded if one direction fails;
* each **hypothesis** is dropped: `where=` of a relation, `source.require` of a generator, and the
  families of `needs=`, as the engine does.

Numbers such as `2**-20` are constants, and so is everything inside of `terms=`, `scale=`, `error=`
and `noise=`. What a mutant does comes from sweeps of the tight family and of the instances with
`--seeds` seeds, at half of the size of `rankcheck verify`, and then from all small instances:

    killed      some instance violates the claim, proved in balls where it has a form for them
    loose       no instance does, and each relation that changes is called loose by the claim; the
                best ratio is the largest left / right side of these relations outside of the tight
                family, with the exponent as printed
    tolerance   only the tolerance of a relation changes: the place is no part of the statement
    count       the body raises: the number is that of units or layers, which has no 2 %
    equivalent  listed with the reason in `statement-equivalent.toml` beside this file; a place that
                is listed with a ratio is loose: the part of the printed exponent or constant that
                is known to be needed
    survived    all else: a control, a tight family or a reason is missing

Each claim is tried in a fork of a process that has imported all claims.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before torch is imported

import torch  # noqa: E402
from mutating.statements import Function, Place, functions, in_place, places  # noqa: E402
from mutating.trial import in_fork  # noqa: E402

from rankcheck.catalogue.loader import load  # noqa: E402
from rankcheck.catalogue.selection import select  # noqa: E402
from rankcheck.claims.claim import Claim  # noqa: E402
from rankcheck.instances.source import Instances  # noqa: E402
from rankcheck.verification.arithmetic import fix_arithmetic  # noqa: E402
from rankcheck.verification.check import verify_claim  # noqa: E402
from rankcheck.verification.evaluation import evaluate_instances  # noqa: E402
from rankcheck.verification.ledger import Row  # noqa: E402
from rankcheck.verification.profiles import PROFILES, Profile, Settings  # noqa: E402
from rankcheck.verification.scope import enumerate_scope, scope_of  # noqa: E402
from rankcheck.verification.search import Tally, batches, sweep  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path(__file__).with_name("statement-equivalent.toml")
KINDS = ("identity", "bound", "construction", "limit", "statistical", "conjecture")
KEY = ("claim", "file", "function", "before", "change")
QUICK = PROFILES["quick"]
#: The share of the profile's batches that is spent on each mutant.
SHARE = 0.5
#: Instances on which the sides of a mutant are compared with those of the claim.
COMPARED = 4
OPEN = "nobody knows whether the conjecture is sharp"


@dataclass(frozen=True)
class Result:
    """What came of one mutant.

    Attributes:
        group: `constant`, `exponent` or `hypothesis`.
        claim: its id.
        file, line, function: the place of the change; of a relation, of the claim.
        before: the text that was changed, or the relation.
        change: what was changed in it.
        outcome: see the head of this file.
        by: what killed it, or why it lives.
        ratio: of a bound, the largest left / right side outside of the tight family.
    """

    group: str
    claim: str
    file: str
    line: int
    function: str
    before: str
    change: str
    outcome: str
    by: str = ""
    ratio: float | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """What names the mutant in the list of equivalent ones."""
        return tuple(str(getattr(self, name)) for name in KEY)


@dataclass(frozen=True)
class Known:
    """Why a mutant lives; with a ratio if the place is loose, without one if it is equivalent."""

    reason: str
    ratio: float | None = None


def equivalents(path: Path = EQUIVALENT) -> dict[tuple[str, ...], Known]:
    """The equivalent mutants and the loose places, by their keys."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    return {
        tuple(entry[name] for name in KEY): Known(entry["reason"], entry.get("ratio"))
        for entry in entries
    }


def settled(result: Result, reasons: Mapping[tuple[str, ...], Known]) -> Result | None:
    """The result of a mutant that is listed for its claim or for all claims (`*`); else None."""
    found = reasons.get(result.key, reasons.get(("*", *result.key[1:])))
    if found is None:
        return None
    outcome = "equivalent" if found.ratio is None else "loose"
    return replace(result, outcome=outcome, by=found.reason, ratio=found.ratio)


def shown(file: str | Path) -> str:
    """A path from the root of the project, if it lies there."""
    path = Path(file).resolve()
    return (path.relative_to(ROOT) if path.is_relative_to(ROOT) else path).as_posix()


# Constants and controls: what the engine says.


def constants(claim: Claim, row: Row) -> list[Result]:
    """The derived mutant of each relation."""
    found = []
    for number, facts in enumerate(row.relations):
        change = "one side 2 % off" if facts.kind == "eq" else "bound 2 % stronger"
        name = change + (f" ({facts.label})" if facts.label else "")
        loose = claim.loose_because(facts.label)
        outcome, by = "killed", "the sweep"
        if facts.ratio is not None and facts.ratio > 0.98:
            by = f"the sweep, with the ratio {facts.ratio:.4f}"
        elif loose is not None:
            outcome, by = "loose", loose
        elif claim.kind == "conjecture":
            outcome, by = "loose", OPEN
        elif row.mutants is not None and name in row.mutants.survivors:
            outcome, by = "survived", ""
        found.append(
            Result(
                "constant",
                claim.id,
                shown(claim.file),
                claim.line,
                claim.body.__name__,
                facts.label or f"relation {number + 1}",
                change,
                outcome,
                by,
                facts.ratio,
            )
        )
    return found


def controls(claim: Claim, row: Row) -> list[Result]:
    """The hypotheses that `needs=` drops."""
    return [
        Result(
            "hypothesis",
            claim.id,
            shown(claim.file),
            claim.line,
            claim.body.__name__,
            name,
            "dropped by needs=",
            "survived" if name in row.unbroken else "killed",
            "" if name in row.unbroken else f"{need.instances.name}",
        )
        for name, need in claim.needs.items()
    ]


# Exponents and hypotheses in the text.


def families(claim: Claim) -> list[Instances]:
    """The tight family, if there is one, and the instances."""
    return [family for family in (claim.tight, claim.instances) if family is not None]


def killed_by(
    claim: Claim, profile: Profile, seeds: Sequence[int], until: float
) -> tuple[str, str]:
    """What violates the claim as it is now: the outcome and the instances; `survived` if nothing.

    After `until`, in seconds of this process, no further seed is begun.
    """
    for seed in seeds:
        for family in families(claim):
            tally = Tally()
            violation = sweep(claim, family, profile, seed, tally, share=SHARE)
            if violation is not None:
                if violation.proved or violation.judgement.unprovable:
                    return "killed", f"{family.name}, seed {seed}"
                # The claim does not hold then: its verdict is `undecided`.
                return "killed", f"{family.name}, seed {seed}, in floats; undecided in balls"
            if tally.raised and not tally.counts.evaluated:
                error = tally.raised[0].error
                return "count", f"{type(error).__name__}: {' '.join(str(error).split())[:80]}"
            if tally.raised:
                error = tally.raised[0].error
                return "killed", f"{family.name} raises {type(error).__name__}"
        if time.process_time() > until:
            break
    violation = enumerate_scope(claim, scope_of(claim, profile), Tally())
    if violation is not None and violation.proved:
        return "killed", "the small instances"
    return "survived", ""


def sides(claim: Claim, seed: int, more: int = 1) -> list[tuple[str, tuple[Any, ...], Any]]:
    """Label, sides with the hypothesis, and tolerance of each relation, on some instances."""
    found = []
    for family in families(claim):
        key = (seed, claim.id, family.name)
        for make in batches(claim, family, COMPARED * more, 64, key):
            for part in evaluate_instances(claim, family, make).parts:
                for one in part.relations:
                    # Large integers are cut in the sides.
                    whole = torch.tensor(hash(one.integers))
                    found.append(
                        (one.label, (one.lhs, one.rhs, one.asserted, whole), one.tolerance)
                    )
    return found


def moved(before: Sequence[Any], after: Sequence[Any]) -> tuple[set[str], bool]:
    """The labels of the relations of which a side or the hypothesis changes; whether anything does.

    What changes besides is a tolerance.
    """
    pairs = list(zip(before, after, strict=False))
    labels = {old[0] for old, new in pairs if not all(map(_same, old[1], new[1]))}
    return labels, bool(labels) or not all(_same(old[2], new[2]) for old, new in pairs)


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and torch.equal(torch.nan_to_num(a * 1), torch.nan_to_num(b * 1))


def probe(claim: Claim) -> str:
    """What the body raises on each of some single instances; empty if it does not."""
    for family in families(claim):
        for make in batches(claim, family, COMPARED, 2, (0, claim.id, "probe")):
            evaluation = evaluate_instances(claim, family, make)
            if evaluation.parts:
                return ""
            if evaluation.raised:
                error = evaluation.raised[0].error
                said = f"{type(error).__name__}: {' '.join(str(error).split())[:80]}"
                continue
    return said


def change_of(place: Place) -> str:
    """What a place is changed to, in words."""
    return {"where": "where= dropped", "require": "require dropped"}.get(place.kind, "± 2 %")


def at(claim: Claim, place: Place) -> Result:
    """The result of a place before it is tried."""
    return Result(
        "exponent" if place.kind in ("exponent", "dial") else "hypothesis",
        claim.id,
        shown(place.file),
        place.line,
        place.function,
        place.before,
        change_of(place),
        "survived",
    )


def tried(
    claim: Claim,
    function: Function,
    place: Place,
    blank: Result,
    row: Row,
    original: Sequence[Any],
    profile: Profile,
    seeds: Sequence[int],
    budget: float,
) -> Result:
    """One place, in both directions if it is an exponent."""
    group = blank.group
    labels: set[str] = set()
    found: list[tuple[str, str]] = []
    for factor in place.changes:
        direction = "" if factor is None else f"× {float(factor)}: "
        with in_place(function, place, factor) as ways:
            said = next((said for said in (probe(claim) for _ in ways) if not said), "raises")
            if said:
                found.append(("count", probe(claim)))
                continue
            now, anything = moved(original, sides(claim, seeds[0]))
            labels |= now
            if group == "exponent" and anything and not now:
                found.append(("tolerance", "only a tolerance changes"))
                continue
            outcome, by = killed_by(claim, profile, seeds, time.process_time() + budget)
            found.append((outcome, direction + by if by else ""))
        if outcome == "killed":
            break
    order = ("killed", "survived", "tolerance", "count")
    outcome, by = min(found, key=lambda pair: order.index(pair[0]))
    ratio = None
    if outcome == "survived":
        facts = [one for one in row.relations if one.label in labels]
        ratio = max((one.ratio for one in facts if one.ratio is not None), default=None)
        reasons = [claim.loose_because(label) for label in sorted(labels)]
        if group == "exponent" and reasons and all(reasons):
            outcome, by = "loose", reasons[0] or ""
        elif group == "exponent" and labels and claim.kind == "conjecture":
            outcome, by = "loose", OPEN
        elif labels:
            by = "changes " + ", ".join(repr(label) for label in sorted(labels))
        elif place.kind != "require":
            by = "changes nothing: " + (
                "it holds on every instance" if group == "hypothesis" else "no instance reaches it"
            )
    return replace(blank, outcome=outcome, by=by, ratio=ratio)


def try_claim(
    claim: Claim,
    seeds: Sequence[int] = (0, 1, 2),
    *,
    profile: Profile = QUICK,
    budget: float = 3.0,
    skip: Mapping[tuple[str, ...], Known] = MappingProxyType({}),
) -> list[Result]:
    """All mutants of a claim.

    Args:
        budget: seconds of CPU of a change after which no further seed is begun.
        skip: mutants of which the outcome is known, by their keys; those of the text are not tried.
    """
    row = verify_claim(claim, Settings(profile, seeds[0], Path(tempfile.gettempdir()), 0.0))
    if not row.relations:
        return [_failed(claim, row.messages[0] if row.messages else row.verdict)]
    results = [*constants(claim, row), *controls(claim, row)]
    original = sides(claim, seeds[0])
    for function, place in every_place(claim):
        blank = at(claim, place)
        results.append(
            settled(blank, skip)
            or tried(claim, function, place, blank, row, original, profile, seeds, budget)
        )
    return [
        (settled(result, skip) or result) if result.outcome == "survived" else result
        for result in results
    ]


def every_place(claim: Claim) -> list[tuple[Function, Place]]:
    """The exponents and the hypotheses in the text of a claim, with their functions."""
    body, generator = functions(claim)
    found = [(function, place) for function in body for place in places(function)]
    for function in generator:
        found += [(function, place) for place in places(function, generator=True)]
    return found


def _failed(claim: Claim, why: str) -> Result:
    file, name = shown(claim.file), claim.body.__name__
    return Result("constant", claim.id, file, claim.line, name, "", "", "survived", why[:200])


# The run and the table.


def run(
    claims: Sequence[Claim],
    seeds: Sequence[int],
    budget: float,
    limit: float,
    path: Path | None = None,
) -> list[Result]:
    """Try each claim in a fork of its own; `path` takes up the results so far as JSON."""
    reasons = equivalents()
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="statements-") as folder:
        note = Path(folder) / "results.json"

        def work(claim: Claim) -> dict[str, Any]:
            found = try_claim(claim, seeds, budget=budget, skip=reasons)
            note.write_text(json.dumps([asdict(one) for one in found]), encoding="utf-8")
            return {"done": True}

        for number, claim in enumerate(claims, 1):
            begin = time.monotonic()
            answer = in_fork(lambda claim=claim: work(claim), ROOT, limit)
            if answer:
                found = [Result(**one) for one in json.loads(note.read_text(encoding="utf-8"))]
            else:
                why = f"not done within {limit:.0f} s" if answer is None else "the process ended"
                found = [_failed(claim, why)]
            results += found
            alive = sum(one.outcome == "survived" for one in found)
            print(
                f"[{number}/{len(claims)}] {claim.id}: {len(found)} mutants, {alive} survived, "
                f"{time.monotonic() - begin:.1f} s",
                file=sys.stderr,
                flush=True,
            )
            if path is not None:
                text = json.dumps([asdict(one) for one in results], indent=1, ensure_ascii=False)
                path.write_text(text, encoding="utf-8")
    return results


def _cells(*cells: object) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def table(results: Sequence[Result], *, whole: bool = True) -> str:
    """Markdown: the totals, and each mutant; only those that survived if `whole` is false."""
    outcomes = ("killed", "loose", "equivalent", "survived")
    lines = [_cells("mutants of", "all", *outcomes), "|" + " --- |" * 6]
    for group in ("constant", "exponent", "hypothesis"):
        here = [one.outcome for one in results if one.group == group and one.outcome in outcomes]
        counts = [here.count(outcome) for outcome in outcomes]
        lines.append(
            _cells(f"{group}s" if group != "hypothesis" else "hypotheses", len(here), *counts)
        )
    lines += ["", _cells("claim", "place", "mutant", "outcome", "by or why", "best ratio")]
    lines.append("|" + " --- |" * 6)
    for one in results:
        if one.outcome == "survived" or (whole and one.outcome in outcomes):
            place = f"{Path(one.file).name}:{one.line} {one.function}"
            ratio = "" if one.ratio is None else f"{one.ratio:.4g}"
            text = f"`{one.before}` {one.change}"
            lines.append(_cells(one.claim, place, text, one.outcome, one.by, ratio))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read the arguments, run, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("selectors", nargs="*", metavar="SELECTOR", help="all claims by default")
    parser.add_argument("--seeds", type=int, default=3, help="seeds of a mutant (default 3)")
    parser.add_argument(
        "--budget",
        type=float,
        default=3.0,
        help="seconds of CPU of a change for its seeds (default 3)",
    )
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of a claim")
    parser.add_argument("--survivors", action="store_true", help="show only those that survived")
    parser.add_argument("--json", type=Path, help="write every mutant and its outcome")
    parser.add_argument("--markdown", type=Path, help="write the table to a file as well")
    arguments = parser.parse_args()
    fix_arithmetic()
    torch.set_num_threads(1)
    entries = [entry for entry in select(arguments.selectors) if entry.kind in KINDS]
    seeds = range(max(1, arguments.seeds))
    results = run(load(entries), seeds, arguments.budget, arguments.limit, arguments.json)
    text = table(results, whole=not arguments.survivors)
    if arguments.markdown:
        arguments.markdown.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
