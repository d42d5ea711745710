"""Claims about recorded experiments: the record, and the experiment made again.

Such a claim says something of the runs of an experiment, over several seeds and at a level. Nobody
draws its instances: it is evaluated on the recorded result, and with a profile that makes
experiments again on a second result, which is made with the seed of the run. A claim that holds on
the record alone has failed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.claims.recording import Provenance, recording_of
from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import SIGNS
from rankcheck.counterexamples.describe import describe_instance
from rankcheck.errors import InputError, short_of_memory
from rankcheck.instances.drivers import ScopeSource
from rankcheck.instances.scope import shapes
from rankcheck.verification.ledger import ExperimentFacts, RelationFacts, Row
from rankcheck.verification.profiles import Settings

__all__ = ["FOLDER", "on_experiments", "outcomes"]

#: Of the folder of the settings, where experiments are made again.
FOLDER = "remade"


def on_experiments(
    claim: Claim,
    settings: Settings,
    search: Callable[[], Row],
    progress: Callable[[float], None] | None = None,
) -> Row:
    """The row of a claim: that of `search`, on the record and on the experiment made again.

    A claim without a recorded experiment has the row of `search`.

    Args:
        search: evaluates the claim and its controls on what its generator yields.
        progress: called with the share of the experiment that has been made again.
    """
    recording = recording_of(claim.instances)
    if recording is None:
        return search()
    if faults := recording.faults():
        why = tuple(f"{claim.id} failed: {fault}" for fault in faults)
        return Row.of(claim, "failed", messages=why)
    provenance = recording.provenance()
    row = search()
    record = ExperimentFacts.of(provenance, outcomes(claim))
    # How far a p-value is from its level does not say how sharp a bound is.
    plain = [RelationFacts(each.label, each.kind, each.asserted) for each in row.relations]
    row = replace(row, relations=tuple(plain), reached={}, recorded=record)
    if not row.expected and not row.messages:
        reason = f"{claim.id} failed: it does not hold on the recorded result"
        return replace(row, messages=("\n".join([reason, *_lines(record)]),))
    if not row.expected or not settings.profile.remakes:
        return row
    with ExitStack() as stack:
        try:
            again = recording.again(
                settings.seed,
                settings.folder / FOLDER,
                lambda share: progress(float(share)) if progress is not None else None,
            )
            made = stack.enter_context(again)
        except (InputError, OSError) as error:
            reason = f"{claim.id} is undecided: its experiment cannot be made again: {error}"
            return replace(row, verdict="undecided", messages=(reason,))
        except (ArithmeticError, RuntimeError) as error:
            if short_of_memory(error):
                raise
            reason = f"{claim.id} failed: its experiment cannot be made again: {error}"
            return replace(row, verdict="failed", messages=(reason,))
        return _compared(claim, row, record, made, tuple(recording.faults()), search)


def _compared(
    claim: Claim,
    row: Row,
    record: ExperimentFacts,
    made: Provenance,
    faults: tuple[str, ...],
    search: Callable[[], Row],
) -> Row:
    """The row of a claim that holds on the record, with what it says of the new result."""
    new = search()
    facts = ExperimentFacts.of(made, outcomes(claim))
    row = replace(row, remade=facts)
    if new.expected and not faults:
        return row
    lines = [
        f"{claim.id} failed: it holds on the recorded result, and not on the one made again",
        *_lines(record, "recorded"),
        *_lines(facts, "made again"),
    ]
    lines += [f"  made again: {message}" for message in (*new.messages, *faults)]
    lines.append(f"  the new result: {made.file}")
    return replace(row, verdict="failed", messages=("\n".join(lines),))


def _lines(facts: ExperimentFacts, which: str = "recorded") -> list[str]:
    """A result and what was found there, as lines of a message."""
    head = f"  {which}: {facts.command}, {facts.runs} runs, {facts.made}"
    return [head, *(f"    {outcome}" for outcome in facts.outcomes)]


def outcomes(claim: Claim) -> tuple[str, ...]:
    """Each relation of a claim about an experiment in words, on each of its instances."""
    assert claim.instances is not None
    lines: list[str] = []
    choices = shapes(claim.instances, 0).shapes
    for shape in choices:
        instance = claim.instances(ScopeSource(shape, 0, None))
        where = f"{describe_instance(claim, instance)}: " if len(choices) > 1 else ""
        for number, relation in enumerate(claim.relations(instance)):
            lines.append(f"{where}{relation_name(relation.label, number)}: {_sides(relation)}")
    return tuple(lines)


def _sides(relation: Relation) -> str:
    """Both sides of a relation on one instance, at the entry that is closest to a violation."""
    if not bool(relation.asserted.any()):
        return "not asserted"
    if relation.note:
        return relation.note
    where = relation.asserted.reshape(-1)
    excess = relation.excess.reshape(-1).double().masked_fill(~where, -float("inf"))
    at = int(excess.argmax())
    lhs, rhs = (float(side.reshape(-1)[at]) for side in (relation.lhs, relation.rhs))
    fails = bool(relation.violated().reshape(-1)[at])
    sign = SIGNS[relation.kind].fails if fails else SIGNS[relation.kind].holds
    return f"{lhs:.6g} {sign} {rhs:.6g}"
