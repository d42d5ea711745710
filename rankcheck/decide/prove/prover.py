"""Proves a claim at one shape: the proof, then its second check, then the controls."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rankcheck.claims.claim import Claim
from rankcheck.claims.kinds import FALSE
from rankcheck.claims.variants import mutant
from rankcheck.decide.prove.checking import UnsoundError, check
from rankcheck.decide.prove.controls import ProvedFalseError, controls
from rankcheck.decide.prove.exact.algebra import prove_shape
from rankcheck.decide.prove.proof import Proof
from rankcheck.decide.prove.range import Ranged, draws_entries, prove_range
from rankcheck.decide.prove.result import Outcome, Plan
from rankcheck.decide.prove.sentences import counted
from rankcheck.decide.prove.settings import Settings, Unproved
from rankcheck.decide.prove.shapes import is_part, selected, targets
from rankcheck.decide.prove.target import Target
from rankcheck.decide.prove.through import FaultError
from rankcheck.errors import InputError, InstallationError, short_of_memory
from rankcheck.files import shown_path
from rankcheck.theory.instances.scope import ScopeShape, Shapes

#: A mutant is given so many times the seconds of the proof, and these at least.
TIMES, LEAST = 5.0, 1.0
#: The proof of a range has this share of the seconds; its check takes as long.
SHARE = 0.4


def check_claim(claim: object) -> None:
    """Refuse what is not a claim that can be proved.

    Raises:
        InputError: with the rule.
    """
    if not isinstance(claim, Claim):
        raise InputError(
            f"{claim!r:.80} is not a claim; prove takes what @conjecture or another decorator makes"
        )
    if claim.instances is None:
        raise InputError(
            f"{claim.id} is {claim.kind}, without instances; a proof is one of all instances of a "
            "shape"
        )
    if claim.kind in FALSE:
        raise InputError(
            f"{claim.id} is declared as false; `rankcheck replay` proves that, and prove takes a "
            "statement that may be true"
        )


class Prover:
    """Proves a claim at its shapes.

    Attributes:
        plan: its shapes.

    Raises:
        InputError: if there is no such size or shape, or the generator raises at all of them.
    """

    def __init__(
        self, claim: Claim, entries: int = 8, asked: Mapping[str, Sequence[int]] | None = None
    ) -> None:
        assert claim.instances is not None
        self._claim = claim
        if entries < 0:
            raise InputError(f"received {entries} entries; a shape has 0 or more")
        self._shapes: dict[tuple[int, ...], ScopeShape] = {}
        whole = _plan(claim, entries)
        known, scope = targets(claim, entries, None) if asked else targets(claim, entries)
        if not (draws_entries(claim.instances) or any(one.grids for one in scope.shapes)):
            if asked:
                raise InputError(
                    f"{claim.id} is about integers alone and is proved over their whole range; "
                    f"--shape {min(asked)} selects shapes of claims that have entries"
                )
            self.plan = replace(whole, targets=(Target(integers=()),), ranged=True)
            return
        self._shapes = {shape.integers: shape for shape in scope.shapes}
        known = [one for one in known if one.entries]  # no proof is one of integers alone here
        if not known and (asked or scope.failed):
            raise InputError(_no_shape(claim, scope))
        chosen = selected(claim, known, asked, entries)
        self.plan = replace(whole, targets=tuple(chosen), complete=scope.complete)

    def attempt(self, target: Target, settings: Settings) -> Outcome:
        """Prove the claim at a shape; what is raised on the way ends this shape alone.

        Raises:
            FaultError: if the second checker refuses the proof.
            ProvedFalseError: if a false mutant is proved.
        """
        since = time.monotonic()
        try:
            done = self._ranged if self.plan.ranged else self._at_shape
            outcome = done(target, settings)
        except (InputError, InstallationError):
            raise
        except Exception as error:  # it ends this shape, and is named
            what = f"internal error: {type(error).__name__}: {error}".rstrip(": ")
            short = short_of_memory(error)
            outcome = Outcome(target=target, reason="memory was short" if short else what)
        return replace(outcome, seconds=time.monotonic() - since)

    def _at_shape(self, target: Target, settings: Settings) -> Outcome:
        claim, shape = self._claim, self._shapes[target.integers]
        until = time.monotonic() + settings.seconds
        found = prove_shape(claim, shape, settings)
        if not isinstance(found, Proof):
            return _unproved(target, found)
        proof = replace(found, sizes=dict(target.sizes))
        target = replace(target, twin=target.twin or is_part(claim, target))
        checked = self._checked(proof, target, settings)

        def prove_one(variant: Claim) -> Proof | Unproved:
            rest = max(until - time.monotonic(), LEAST)
            enough = max(TIMES * found.seconds, LEAST)
            return prove_shape(variant, shape, replace(settings, seconds=min(rest, enough)))

        try:
            left = controls(claim, shape, prove_one)
        except ProvedFalseError as error:
            place = Outcome(target=target).text
            raise ProvedFalseError(f"{claim.id}, {place}: {error}") from error
        proof = replace(proof, controls=dict(left))
        return Outcome(target=target, proof=proof, paths=proof.paths, checked=checked)

    def _ranged(self, target: Target, settings: Settings) -> Outcome:
        claim = self._claim
        until = time.monotonic() + settings.seconds
        found = prove_range(claim, replace(settings, seconds=SHARE * settings.seconds))
        if not isinstance(found, Ranged):
            return _unproved(target, found)
        checked = self._checked(found.proof, target, settings)
        left = {}
        for name in claim.mutants:
            rest = max(until - time.monotonic(), 1e-3)
            other = prove_range(
                mutant(claim, name), replace(settings, seconds=rest), most=found.seen
            )
            left[name] = "proved" if isinstance(other, Ranged) else other.control
        proof = replace(found.proof, controls=left)
        return Outcome(
            target=target, proof=proof, paths=proof.paths, checked=checked, whole=found.whole
        )

    def _checked(self, proof: Proof, target: Target, settings: Settings) -> float:
        """The seconds that the second checker takes.

        Raises:
            FaultError: if it refuses the proof.
        """
        since = time.monotonic()
        try:
            check(self._claim, proof, seed=settings.seed)
        except UnsoundError as error:
            raise FaultError(
                f"{self._claim.id}, {Outcome(target=target).text}: the second checker refuses the "
                f"proof: {error}"
            ) from error
        return time.monotonic() - since


def _plan(claim: Claim, entries: int) -> Plan:
    return Plan(
        claim=claim.id,
        title=claim.title,
        statement=claim.statement,
        statement_sha256=claim.statement_hash,
        file=shown_path(claim.file),
        entries=entries,
        targets=(),
    )


def _unproved(target: Target, found: Unproved) -> Outcome:
    return Outcome(target=target, reason=found.reason, place=found.place, paths=found.paths)


def _no_shape(claim: Claim, scope: Shapes) -> str:
    """Why there is nothing to prove."""
    if scope.failed:
        return f"{claim.id}: its generator raised at every shape, first {next(iter(scope.failed))}"
    at_most = counted(scope.entries, "entry", "entries")
    return f"{claim.id} has no shape of at most {at_most}; --entries N takes larger ones"
