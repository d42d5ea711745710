"""Checks the controls of a claim: statements made false on purpose, which a search refutes.

There are three kinds: a hypothesis is dropped (`needs`), a parameter of the body is changed
(`mutants`), or a relation is made 2 % stronger (the derived mutants). A control goes through the
same stages as the claim, and where it survives these, through a short hunt. One that is not caught
shows that the claim, or the search, is too weak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.claims.variants import derived, derived_name, mutant, without
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.parallel.traces import named
from rankcheck.engine.verification.evaluation import instance_text
from rankcheck.engine.verification.ledger import Mutants
from rankcheck.engine.verification.profiles import Settings
from rankcheck.engine.verification.stages import search
from rankcheck.engine.verification.tally import Tally, seen_in
from rankcheck.errors import InputError


@dataclass(frozen=True)
class Control:
    """What came of a control.

    Attributes:
        caught: whether it broke the claim.
        instance: the instance that broke it, as a text.
        why: of a control that was not caught, what its body raised, or why no violation is proved.
    """

    caught: bool
    instance: str | None = None
    why: str = ""


def check_control(control: Claim, settings: Settings) -> Control:
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
        violation, why = _hunted(control, settings)
    if violation is None:
        return Control(False, None, why)
    return Control(True, instance_text(control, violation.family, violation.record))


def _hunted(control: Claim, settings: Settings) -> tuple[Instance | None, str]:
    """Hunt a control that no stage has caught: what broke it, or why nothing is proved."""
    if settings.hunter is None:
        return None, ""
    try:
        violation = settings.hunter(control, settings.seed).violation
    except InputError as error:
        return None, f"\n  it could not be hunted: {error}"
    if violation is None:
        return None, ""
    if violation.conclusive:
        return violation, ""
    return None, f"\n  a violation in floats is not proved: {violation.judgement.reason}"


def check_hypotheses(claim: Claim, settings: Settings) -> dict[str, Control]:
    """By hypothesis, the control that drops it."""
    return {name: check_control(without(claim, name), settings) for name in claim.needs}


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
            controls[name] = check_control(derived(claim, relation), settings)
    for name in claim.mutants:
        controls[name] = check_control(mutant(claim, name), settings)
    survivors = tuple(name for name, control in controls.items() if not control.caught)
    return Mutants(total - len(survivors), total, survivors), controls
