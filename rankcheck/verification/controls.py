"""Checks the controls of a claim: statements made false on purpose, which a search refutes.

There are three kinds: a hypothesis is dropped (`needs`), a parameter of the body is changed
(`mutants`), or a relation is made 2 % stronger (the derived mutants). A control goes through the
same stages as the claim, and where it survives these, through a short hunt. One that is not caught
shows that the claim, or the search, is too weak.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.claims.variants import derived, derived_name, mutant, without
from rankcheck.counterexamples.describe import selector
from rankcheck.counterexamples.instance import Instance
from rankcheck.errors import InputError
from rankcheck.parallel.traces import named
from rankcheck.verification.evaluation import instance_text
from rankcheck.verification.ledger import Mutants
from rankcheck.verification.profiles import Settings
from rankcheck.verification.stages import Search, search
from rankcheck.verification.tally import Sharpest, Tally, seen_in

__all__ = ["Control", "check_control", "check_hypotheses", "check_mutants"]


@dataclass(frozen=True)
class Control:
    """What came of a control.

    Attributes:
        caught: whether it broke the claim.
        instance: the instance that broke it, as a text.
        why: of a control that was not caught, what its body raised, or how near it came.
    """

    caught: bool
    instance: str | None = None
    why: str = ""


def check_control(claim: Claim, control: Claim, name: str, settings: Settings) -> Control:
    """Search a control, a variant of a claim, for an instance that breaks it.

    The violation has to be proved, unless the claim has no ball form. An instance that the balls
    leave undecided, such as one with a side that is not a number, does not count. Nor does one on
    which the body raises.
    """
    result = search(control, settings, control=True)
    violation, why = result.violation, ""
    if violation is None and result.raised:
        why = f"; it raised {named(result.raised[0].error)}"
    elif violation is None:
        nearest = _nearest(claim, control, result)
        violation, why = _hunted(claim, control, name, nearest, settings)
    if violation is None:
        return Control(False, None, why)
    text = instance_text(control, violation.family, violation.record)
    return Control(True, text)


def _hunted(
    claim: Claim, control: Claim, name: str, nearest: str, settings: Settings
) -> tuple[Instance | None, str]:
    """Hunt a control that no stage has caught: what broke it, or how near it came."""
    assert claim.instances is not None
    why = nearest
    if settings.hunter is not None:
        try:
            hunted = settings.hunter(control, settings.seed)
        except InputError as error:
            why += f"\n  it could not be hunted: {error}"
        else:
            if hunted.violation is not None and hunted.violation.conclusive:
                return hunted.violation, ""
            if hunted.violation is not None:
                reason = hunted.violation.judgement.reason
                why += f"\n  a hunt found a violation in floats that is not proved: {reason}"
            elif hunted.margin is not None:
                why += (
                    f"\n  the least margin of a hunt of {hunted.counts.evaluated} instances is "
                    f"{hunted.margin:.3g}"
                )
    typed = selector(claim)
    if typed is not None:
        why += (
            f"\n  `rankcheck hunt {typed} --control {shlex.quote(name)} --budget 60` searches on; "
            "a control that is true has to be changed"
        )
    return None, why


def _nearest(claim: Claim, control: Claim, result: Search) -> str:
    """How near a control came to being broken, and where; of the relations that it changes."""
    seen = [(n, one) for n, all_ in seen_in(result.tallies).items() for one in all_]
    sharpest = [(number, one.sharpest) for number, one in seen if one.sharpest is not None]
    changed = [sharp for number, sharp in sharpest if _differs(claim, control, number, sharp)]
    if best := max(
        changed or [sharp for _, sharp in sharpest], key=lambda one: one.ratio, default=None
    ):
        text = instance_text(control, best.family, best.record)
        return f"; its best ratio is {best.ratio:.6g}" + (f", on {text}" if text else "")
    deviations = [one.deviation for _, one in seen if one.deviation is not None]
    if deviations:
        return f"; its sides differ by {max(deviations):.1e} at most"
    return ""


def _differs(claim: Claim, control: Claim, number: int, at: Sharpest) -> bool:
    """Whether a relation of the control has another ratio than that of the claim at an instance."""
    of_claim, of_control = (
        Instance(one, at.family, at.record).relations for one in (claim, control)
    )
    return number >= len(of_claim) or any(
        not bool((before == after).all())
        for before, after in (
            (of_claim[number].lhs, of_control[number].lhs),
            (of_claim[number].rhs, of_control[number].rhs),
        )
    )


def check_hypotheses(claim: Claim, settings: Settings) -> dict[str, Control]:
    """By hypothesis, the control that drops it."""
    return {
        name: check_control(claim, without(claim, name), name, settings) for name in claim.needs
    }


def check_mutants(
    claim: Claim, tallies: Sequence[Tally], settings: Settings
) -> tuple[Mutants, Mapping[str, Control]]:
    """The mutants of the claim, and the derived ones, of which the tallies know.

    Given are the numbers, and by name the controls: of derived mutants only those that no instance
    of the tallies has killed.

    A conjecture has no derived mutants: nobody knows whether it is sharp.
    """
    assert claim.instances is not None
    controls: dict[str, Control] = {}
    total = len(claim.mutants)
    if claim.kind != "conjecture":
        seen = seen_in(tallies)
        for number, (*_, one) in seen.items():
            if claim.loose_because(one.label) is not None:
                continue
            total += 1
            if any(tallied.killed for tallied in seen[number]):
                continue
            relation = relation_name(one.label, number) if one.label or len(seen) > 1 else ""
            name = derived_name(one.kind, relation)
            controls[name] = check_control(claim, derived(claim, relation), name, settings)
    for name in claim.mutants:
        controls[name] = check_control(claim, mutant(claim, name), name, settings)
    survivors = tuple(name for name, control in controls.items() if not control.caught)
    return Mutants(total - len(survivors), total, survivors), controls
