"""Verifying one claim: its instances, its controls, and the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from rankcheck.catalogue.entry import shown_path
from rankcheck.claims.claim import Claim
from rankcheck.claims.kinds import KINDS
from rankcheck.claims.labels import relation_name
from rankcheck.claims.verdicts import Verdict
from rankcheck.counterexamples import certificate as certificates
from rankcheck.counterexamples.instance import DisagreementError
from rankcheck.counterexamples.message import raised_message
from rankcheck.counterexamples.replay import replay
from rankcheck.counterexamples.reporting import report_violation
from rankcheck.verification.batching import BatchError, check_batching
from rankcheck.verification.controls import check_hypotheses, check_mutants
from rankcheck.verification.experiments import on_experiments
from rankcheck.verification.ledger import Counterexample, Row
from rankcheck.verification.profiles import Settings
from rankcheck.verification.scope import smallest_text
from rankcheck.verification.search import hidden
from rankcheck.verification.stages import Search, not_tight, search

__all__ = ["verify_claim"]


def verify_claim(
    claim: Claim,
    settings: Settings = Settings(),  # noqa: B008 -- it does not change
    *,
    progress: Callable[[int | float], None] | None = None,
) -> Row:
    """Verify a claim; returns its row of the ledger.

    First the body and the generators are checked to be functions of one instance; the row of a
    claim that mixes the instances of a batch has failed, with the message of the `BatchError`. A
    claim that is declared false replays its stored certificate. Any other claim is searched for a
    violation, and its controls are checked. One about a recorded experiment is evaluated on the
    record and, with a profile that makes experiments again, on the new result as well.

    Args:
        settings: profile, seed, and the folder for the certificate of a new counterexample.
        progress: called with the number of instances whenever some more were evaluated, and with
            the share (a float) of an experiment that has been made again.

    Raises:
        ClaimError: if the body returns anything but relations.
        Exception: what the generator or the body raises, if it does so on every instance.
    """
    start = time.perf_counter()
    if claim.kind == "cited":
        row = Row.of(claim, "cited")
    else:
        try:
            check_batching(claim, settings.seed)
            if KINDS[claim.kind].false:
                row = _replayed(claim)
            else:
                row = on_experiments(
                    claim, settings, lambda: _searched(claim, settings, progress), progress
                )
        except BatchError as error:
            row = Row.of(claim, "failed", messages=(str(error),))
    return replace(row, seconds=round(time.perf_counter() - start, 3))


def _replayed(claim: Claim) -> Row:
    """The row of a claim that is declared false: its stored certificate has to prove it so."""
    path = certificates.stored_path(claim)
    message = ""
    try:
        found = replay(path, claim=claim)
        if found.changed:
            message = (
                f"{claim.id}: the claim has changed since its counterexample was certified; "
                f"`rankcheck certify {claim.id} --again` certifies it for the claim as it is now"
            )
    except certificates.CertificateError as error:
        message = f"{claim.id}: {error}"
    except DisagreementError as error:
        return Row.of(claim, "undecided", certificate=shown_path(path), messages=(str(error),))
    if message:
        return Row.of(claim, "failed", certificate=shown_path(path), messages=(message,))
    proved = Counterexample.of(found.smallest)
    return Row.of(claim, "refuted", certificate=shown_path(path), counterexample=proved)


def _searched(claim: Claim, settings: Settings, progress: Callable[[int], None] | None) -> Row:
    """The row of a claim that is said to hold."""
    assert claim.instances is not None
    found = search(claim, settings, progress)
    facts = found.facts(claim)
    if found.violation is not None and claim.instances.recording is not None:
        return Row.of(claim, "failed", **facts)  # `on_experiments` says why
    if found.violation is not None:
        # The first counterexample of a scope is a smallest one: there is nothing to shrink.
        budget = None if found.smallest else settings.shrink
        reported = report_violation(found.violation, settings.folder, budget=budget)
        return Row.of(
            claim,
            "refuted" if reported.proved else "undecided",
            certificate=reported.certificate,
            counterexample=Counterexample.of(certificates.section(reported.smallest))
            if reported.proved
            else None,
            messages=(reported.message + _before(found),),
            **facts,
        )
    if found.raised:
        failed = any(not raised.short for raised in found.raised)
        verdict: Verdict = "failed" if failed else "undecided"
        return Row.of(claim, verdict, messages=(_raised(claim, found),), **facts)
    needs = check_hypotheses(claim, settings)
    broken = [name for name, control in needs.items() if control.caught]
    unbroken = [name for name, control in needs.items() if not control.caught]
    vacuous = _vacuous(found)
    mutants, named = check_mutants(claim, found.tallies, settings)
    messages = [
        f"{claim.id}: the control without the hypothesis {name!r} does not break the claim"
        f"{needs[name].why}"
        for name in unbroken
    ]
    messages += [
        f"{claim.id}: the mutant {name!r} survives{named[name].why}" for name in mutants.survivors
    ]
    caught = {name: control.instance for name, control in {**needs, **named}.items()}
    disagree = [
        f"{claim.id} is undecided: {control.disagree}, in the {what} {name!r}"
        for what, controls in (("control without", needs), ("mutant", named))
        for name, control in controls.items()
        if control.disagree is not None
    ]
    messages += [f"{claim.id}: {why}" for why in not_tight(claim, found.tight)]
    counts = found.swept.counts + found.drawn.counts
    if counts.evaluated == 0:
        messages.append(
            f"{claim.id}: no instance satisfied the hypotheses ({counts.rejected} rejected)"
        )
    messages += [f"{claim.id}: {name} is asserted on no instance" for name in vacuous]
    messages += [f"{claim.id}: {why}" for why in hidden(claim, found.tallies)]
    return Row.of(
        claim,
        "undecided" if disagree else "failed" if messages else KINDS[claim.kind].expects,
        needs=tuple(broken),
        broken_by={name: text for name, text in caught.items() if text is not None},
        unbroken=tuple(unbroken),
        vacuous=tuple(vacuous),
        mutants=mutants,
        messages=(*disagree, *messages),
        **facts,
    )


def _raised(claim: Claim, found: Search) -> str:
    """What was raised on some instances, where, and on which.

    Raises:
        Exception: what was raised, with the instance as a note, if no instance was evaluated.
    """
    counts = found.small.counts + found.tight.counts + found.swept.counts + found.drawn.counts
    first, *others = sorted(found.raised, key=lambda raised: raised.short)
    if counts.evaluated == 0:
        first.error.add_note(f"on the instance {first.describe(claim)}")
        raise first.error
    message = raised_message(claim, first.record, first.family, first.error, by=first.by)
    if others:
        message += f"\n  and on {len(others)} other instance{'s' * (len(others) > 1)}"
    if first.short:
        return message + "\n  smaller ranges in the generator, or more memory, would decide it"
    return message + (
        f"\n  the {first.by} accepts every instance inside the hypotheses; source.require in the "
        "generator, before the operation that raises, leaves an instance out"
    )


def _before(found: Search) -> str:
    """A line of the message of a counterexample that the enumeration found."""
    if not found.smallest or found.shapes is None:
        return ""
    return smallest_text(found.shapes.sentence())


def _vacuous(found: Search) -> list[str]:
    """The relations whose hypothesis, `where`, was true of no instance."""
    seen = {number: what for tally in found.tallies for number, what in tally.seen.items()}
    asserted = {number for tally in found.tallies for number in tally.asserted}
    return [
        relation_name(label, number)
        for number, (_, label) in sorted(seen.items())
        if number not in asserted
    ]
