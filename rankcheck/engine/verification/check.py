"""Verifies one claim: searches its instances, checks its controls, and gives the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from rankcheck.balls import noted_wraps
from rankcheck.claims.catalogue.certificates import FORM, CertificateError
from rankcheck.claims.claim import Claim, ImpureError
from rankcheck.claims.kinds import KINDS
from rankcheck.claims.verdicts import Verdict
from rankcheck.engine.counterexamples.instance import DisagreementError
from rankcheck.engine.counterexamples.refutation import explained
from rankcheck.engine.counterexamples.replay import replay
from rankcheck.engine.counterexamples.reporting import report_violation
from rankcheck.engine.verification.controls import check_hypotheses, check_mutants
from rankcheck.engine.verification.ledger import Row
from rankcheck.engine.verification.profiles import Settings
from rankcheck.engine.verification.scope import smallest_text
from rankcheck.engine.verification.stages import Search, not_tight, search
from rankcheck.engine.verification.standing import beaten
from rankcheck.engine.verification.tally import hidden, seen_in
from rankcheck.files import shown_path


def verify_claim(
    claim: Claim,
    settings: Settings = Settings(),  # noqa: B008 -- it does not change
    *,
    progress: Callable[[int], None] | None = None,
    found: Callable[[Row], None] | None = None,
) -> Row:
    """Verify a claim; returns its row of the ledger.

    A claim that is declared false replays its stored certificate. Any other claim is searched for a
    violation, and its controls are checked. One that is no function of what is drawn has failed.

    Args:
        settings: profile, seed, and the folder for the certificate of a new counterexample.
        progress: called with the number of instances whenever some more were evaluated.
        found: called with the row of a proved counterexample before it is made small.

    Raises:
        ClaimError: if the body returns anything but relations.
        Exception: what the generator or the body raises, if it does so on every instance.
    """
    start = time.perf_counter()
    if claim.kind == "cited":
        row = Row.of(claim, "cited")
    else:
        try:
            with noted_wraps(str(claim.file)) as wraps:
                if KINDS[claim.kind].false:
                    row = _replayed(claim)
                else:
                    row = _searched(claim, settings, progress, found)
        except ImpureError as error:
            return Row.of(claim, "failed", messages=(str(error),))
        if wraps:
            row = replace(row, arithmetic=(*row.arithmetic, f"integers wrap: {'; '.join(wraps)}"))
        row = _with_proofs(claim, settings, row)
    return replace(row, seconds=round(time.perf_counter() - start, 3))


def _with_proofs(claim: Claim, settings: Settings, row: Row) -> Row:
    """The row with what is proved; a proof that does not stand fails a claim that would hold."""
    if settings.prover is None:
        return row
    proved, faults = settings.prover(claim)
    row = replace(row, proved=proved)
    if not faults or not row.expected:
        return row
    messages = tuple(f"{claim.id}: {fault}" for fault in faults)
    return replace(row, verdict="failed", messages=(*row.messages, *messages))


def _replayed(claim: Claim) -> Row:
    """The row of a claim that is declared false: its stored certificate has to prove it so."""
    path = FORM.path(claim)
    row = partial(Row.of, claim, certificate=shown_path(path))
    try:
        result = replay(path, claim=claim)
    except CertificateError as error:
        return row("failed", messages=(f"{claim.id}: {error}",))
    except DisagreementError as error:
        return row("undecided", messages=(str(error),))
    if result.changed:
        message = (
            f"{claim.id}: the claim has changed since its counterexample was certified; "
            f"`rankcheck certify {claim.id} --again` certifies it for the claim as it is now"
        )
        return row("failed", messages=(message,))
    assert result.instance is not None
    found = explained(result.instance, shown_path(path))
    return row("refuted", counterexample=found)


def _searched(
    claim: Claim,
    settings: Settings,
    progress: Callable[[int], None] | None,
    found: Callable[[Row], None] | None,
) -> Row:
    """The row of a claim that is said to hold."""
    assert claim.instances is not None
    result = search(claim, settings, progress)
    facts = result.facts(claim)
    if result.violation is not None:
        # The first counterexample of a scope is a smallest one: there is nothing to shrink.
        shrink = 0.0 if result.smallest else settings.shrink
        early = found is not None and shrink and result.violation.proved
        for seconds in (0.0, shrink) if early else (shrink,):
            reported = report_violation(result.violation, settings.folder, budget=seconds)
            message = reported.message
            if result.smallest and result.shapes is not None:
                message += smallest_text(result.shapes.sentence())
            if reported.proved:
                facts |= {"relations": (), "arithmetic": ()}  # no news of a claim that is false
            facts["certificate"] = reported.certificate
            facts["counterexample"] = reported.counterexample
            judged: Verdict = "refuted" if reported.proved else "undecided"
            row = Row.of(claim, judged, messages=(message,), **facts)
            if found is not None and seconds < shrink:
                found(row)
        return row
    if result.raised:
        failed = any(not raised.short for raised in result.raised)
        verdict: Verdict = "failed" if failed else "undecided"
        return Row.of(claim, verdict, messages=(_raised(claim, result),), **facts)
    return _controlled(claim, settings, result, facts)


def _controlled(claim: Claim, settings: Settings, result: Search, facts: dict[str, Any]) -> Row:
    """The row of a claim without a violation: it holds if its controls are caught."""
    needs = check_hypotheses(claim, settings)
    unbroken = [name for name, control in needs.items() if not control.caught]
    mutants, mutated = check_mutants(claim, result.tallies, settings)
    faults = [
        f"the control without the hypothesis {name!r} does not break the claim{needs[name].why}"
        for name in unbroken
    ]
    faults += [f"the mutant {name!r} survives{mutated[name].why}" for name in mutants.survivors]
    faults += not_tight(claim, result.tight)
    facts, stale = _against_records(claim, settings, result, facts)
    faults += stale
    counts = result.swept.counts + result.drawn.counts
    if counts.evaluated == 0:
        faults.append(f"no instance satisfied the hypotheses ({counts.rejected} rejected)")
    faults += result.vacuous.values()
    faults += hidden(claim, result.tallies)
    caught = {name: control.instance for name, control in {**needs, **mutated}.items()}
    return Row.of(
        claim,
        "failed" if faults else KINDS[claim.kind].expects,
        needs=tuple(name for name in needs if name not in unbroken),
        broken_by={name: text for name, text in caught.items() if text is not None},
        unbroken=tuple(unbroken),
        vacuous=tuple(result.vacuous),
        mutants=mutants,
        messages=tuple(f"{claim.id}: {fault}" for fault in faults),
        **facts,
    )


def _against_records(
    claim: Claim, settings: Settings, result: Search, facts: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """The facts with what beats a record, and why the records of a claim have to be renewed."""
    standing = result.standing
    if standing is None:
        return facts, []
    found = beaten(claim, standing.records, result.closest, settings.folder)
    sentences = {one.number: one.sentence for one in found}
    numbers = seen_in(result.tallies)  # in the order of the relations of the row
    relations = tuple(
        replace(each, beaten=sentences.get(number))
        for number, each in zip(numbers, facts["relations"], strict=True)
    )
    stale = [one.sentence for one in found if one.fails]
    return facts | {"relations": relations}, [*standing.faults, *standing.sharp(claim), *stale]


def _raised(claim: Claim, result: Search) -> str:
    """What was raised on some instances, where, and on which.

    Raises:
        Exception: what was raised, with the instance as a note, if no instance was evaluated.
    """
    first, *others = sorted(result.raised, key=lambda raised: raised.short)
    if result.counts.evaluated == 0:
        first.error.add_note(f"on the instance {'; '.join(first.instance(claim))}")
        raise first.error
    message = f"{claim.id} {'is undecided' if first.short else 'failed'}: {first.told(claim)}"
    if others:
        message += f"\n  and on {len(others)} other instance{'s' * (len(others) > 1)}"
    return message
