"""Putting one claim to the test, whole: its instances, its controls, and what follows from them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankcheck.catalogue.entry import shown_path
from rankcheck.claims import tolerances
from rankcheck.claims.claim import FALSE, Claim
from rankcheck.counterexamples import certificate as certificates
from rankcheck.counterexamples.judge import judge
from rankcheck.counterexamples.replay import replay
from rankcheck.counterexamples.reporting import report_violation
from rankcheck.counterexamples.violation import Violation, evaluate
from rankcheck.instances.source import BatchSource, Instances, Rejected, seed_of
from rankcheck.verification.ledger import Mutants, Row, Verdict
from rankcheck.verification.profiles import Profile, Settings
from rankcheck.verification.search import Tally, draw, sweep, worst_of

#: The share of the batches that goes to a tight family, and to each control.
TIGHT_SHARE, CONTROL_SHARE = 0.25, 0.5


def verify_claim(
    claim: Claim,
    settings: Settings = Settings(),  # noqa: B008 -- it does not change
    *,
    advance: Callable[[int], None] | None = None,
) -> Row:
    """Verify a claim and say what was found.

    Args:
        settings: profile, seed, and the folder for the certificate of a new counterexample.
        advance: called with numbers of instances as the work goes on.
    """
    start = time.perf_counter()
    if claim.kind == "cited":
        row = _row(claim, "cited")
    elif claim.kind in FALSE:
        row = _verify_refuted(claim)
    else:
        row = _verify_holding(claim, settings.profile, settings.seed, settings.folder, advance)
    return replace(row, seconds=round(time.perf_counter() - start, 3))


def _verify_refuted(claim: Claim) -> Row:
    """A statement that is false as printed stays refuted by its stored counterexample."""
    path = certificates.stored_path(claim)
    try:
        replayed = replay(path, claim=claim)
    except certificates.CertificateError as error:
        return _row(
            claim, "failed", certificate=shown_path(path), messages=(f"{claim.id}: {error}",)
        )
    if replayed.changed:
        message = (
            f"{claim.id}: the claim has changed since its counterexample was certified; "
            f"look at both, then write the certificate anew: {path}"
        )
        return _row(claim, "failed", certificate=shown_path(path), messages=(message,))
    return _row(claim, "refuted", certificate=shown_path(path), corrected_by=claim.corrected_by)


@dataclass
class _Run:
    """What a holding claim went through."""

    swept: Tally
    drawn: Tally
    tight: Tally
    violation: Violation | None = None


def _verify_holding(
    claim: Claim,
    profile: Profile,
    seed: int,
    folder: Path,
    advance: Callable[[int], None] | None,
) -> Row:
    run = _search(claim, profile, seed, advance)
    if run.violation is not None:
        found = report_violation(claim, run.violation, folder)
        verdict: Verdict = "failed" if found.proved else "undecided"
        return _row(claim, verdict, run, certificate=found.certificate, messages=(found.message,))
    broken, unbroken = _controls(claim, profile, seed)
    mutants = _mutants(claim, run, profile, seed)
    messages = [
        f"{claim.id}: the control without the hypothesis {name!r} does not break the claim"
        for name in unbroken
    ]
    messages += [f"{claim.id}: the mutant {name!r} survives" for name in mutants.survivors]
    if claim.tight is not None and not _is_tight(claim, run.tight):
        messages.append(f"{claim.id}: {claim.tight} is not tight: {_tightness(claim, run)}")
    total = run.swept.evaluated + run.drawn.evaluated
    rejected = run.swept.rejected + run.drawn.rejected
    if total == 0:
        messages.append(f"{claim.id}: no instance lies inside the hypotheses ({rejected} rejected)")
    messages += [f"{claim.id}: {name} is asserted of no instance" for name in _vacuous(run)]
    good: Verdict = "guarded" if claim.kind == "conjecture" else "holds"
    return _row(
        claim,
        "failed" if messages else good,
        run,
        needs=tuple(broken),
        mutants=mutants,
        messages=tuple(messages),
    )


def _vacuous(run: _Run) -> list[str]:
    """The relations whose hypothesis, `where`, no instance satisfied."""
    tallies = (run.tight, run.swept, run.drawn)
    seen = {number: what for tally in tallies for number, what in tally.seen.items()}
    asserted = {number for tally in tallies for number in tally.asserted}
    return [
        label or f"relation {number + 1}"
        for number, (_, label) in sorted(seen.items())
        if number not in asserted
    ]


def _search(
    claim: Claim, profile: Profile, seed: int, advance: Callable[[int], None] | None
) -> _Run:
    """The tight family, the sweep and the draws, until one of them breaks the claim."""
    assert claim.instances is not None
    run = _Run(Tally(), Tally(), Tally())
    if claim.tight is not None:
        run.violation = sweep(
            claim, claim.tight, profile, seed, run.tight, share=TIGHT_SHARE, advance=advance
        )
    if run.violation is None:
        run.violation = sweep(claim, claim.instances, profile, seed, run.swept, advance=advance)
    if run.violation is None:
        examples = max(5, round(profile.drawn * claim.effort))
        run.violation = draw(claim, claim.instances, examples, seed, run.drawn, advance=advance)
    return run


def breaks(
    claim: Claim, family: Instances, profile: Profile, seed: int, parameters: dict[str, Any]
) -> bool:
    """Whether some instance of a family breaks the claim, proved where the claim has a ball form.

    An instance that the balls leave open, such as one with a side that is not a number, breaks
    nothing.
    """
    planned = profile.batches if claim.no_batch is None else profile.single
    for index in range(max(4, round(planned * CONTROL_SHARE * claim.effort))):
        size = None if claim.no_batch is not None else profile.size
        source = BatchSource(seed_of(seed, claim.id, family.name, "control", index), size)
        try:
            relations = evaluate(claim, family, source, parameters)
        except Rejected:
            continue
        for worst in worst_of(relations, source)[:1]:
            record = source.record.instance(worst) if source.batch else source.record.detach()
            judgement = judge(claim, record, family=family, parameters=parameters)
            if judgement.finding == "refuted" or judgement.unprovable:
                return True
    return False


def _controls(claim: Claim, profile: Profile, seed: int) -> tuple[list[str], list[str]]:
    """The hypotheses whose control breaks the claim, as it must, and those whose does not."""
    broken: list[str] = []
    unbroken: list[str] = []
    for name, need in claim.needs.items():
        caught = breaks(claim, need.instances, profile, seed, dict(need.parameters))
        (broken if caught else unbroken).append(name)
    return broken, unbroken


def _mutants(claim: Claim, run: _Run, profile: Profile, seed: int) -> Mutants:
    """The derived mutants, one a relation, and those that the claim names."""
    assert claim.instances is not None
    survivors: list[str] = []
    total = len(claim.mutants)
    if claim.kind != "conjecture":
        tallies = (run.tight, run.swept, run.drawn)
        seen = {number: what for tally in tallies for number, what in tally.seen.items()}
        killed = {number for tally in tallies for number in tally.killed}
        sharp = {n: what for n, what in seen.items() if claim.loose_because(what[1]) is None}
        total += len(sharp)
        for number, (kind, label) in sorted(sharp.items()):
            if number not in killed:
                change = "bound 2 % stronger" if kind == "leq" else "one side 2 % off"
                survivors.append(f"{change}{f' ({label})' if label else ''}")
    families = [claim.instances] if claim.tight is None else [claim.tight, claim.instances]
    for name, parameters in claim.mutants.items():
        if not any(breaks(claim, family, profile, seed, dict(parameters)) for family in families):
            survivors.append(name)
    return Mutants(total - len(survivors), total, tuple(survivors))


def _is_tight(claim: Claim, tally: Tally) -> bool:
    """Whether the tight family reaches every bound of which it was evaluated."""
    reached = [ratio >= 1 - tolerances.TIGHT for ratio in tally.ratio.values()]
    return tally.evaluated > 0 and (any(reached) or not reached)


def _tightness(claim: Claim, run: _Run) -> str | None:
    """The tight case of a bound with its ratio, or how closely an identity holds."""
    if claim.tight is not None:
        ratio = max(run.tight.ratio.values(), default=None)
        return f"{claim.tight}" + ("" if ratio is None else f": {ratio:.9g}")
    if run.swept.deviation and not run.swept.ratio:
        return f"equal to {max(run.swept.deviation.values()):.1e}"
    return None


def _row(claim: Claim, verdict: Verdict, run: _Run | None = None, **values: Any) -> Row:
    if run is not None:
        tallies = (run.tight, run.swept, run.drawn)
        ratios = [ratio for tally in tallies for ratio in tally.ratio.values()]
        values = {
            "drawn": run.drawn.evaluated,
            "swept": run.swept.evaluated + run.tight.evaluated,
            "rejected": sum(tally.rejected for tally in tallies),
            "rounding": sum(tally.rounding for tally in tallies),
            "best_ratio": max(ratios, default=None),
            "tight": _tightness(claim, run),
        } | values
    return Row(
        id=claim.id,
        title=claim.title,
        kind=claim.kind,
        verdict=verdict,
        reference=None
        if claim.reference is None
        else {"key": claim.reference.key, "where": claim.reference.where},
        loose="; ".join(f"{label}: {why}" for label, why in claim.loose.items())
        if isinstance(claim.loose, Mapping)
        else claim.loose or claim.reason,
        file=shown_path(claim.file),
        **values,
    )
