"""The controls of a proof: which mutants of the claim can be proved at its shape as well.

A mutant that is proved where an instance refutes it shows that proofs cannot be trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from flint import fmpq

from rankcheck.claims.claim import Claim
from rankcheck.claims.variants import mutant
from rankcheck.decide.prove.checking.points import NotKnown, Values
from rankcheck.decide.prove.checking.signs import Variables
from rankcheck.decide.prove.proof import Proof
from rankcheck.decide.prove.settings import Unproved
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.hunt.points import MagnitudeSource, ShapedSource, StructuredSource
from rankcheck.engine.verification.batches import evaluate_batch
from rankcheck.engine.verification.search import worst_of
from rankcheck.errors import InstallationError
from rankcheck.theory.instances.drivers import Drawing, ScopeSource
from rankcheck.theory.instances.scope import ScopeShape
from rankcheck.theory.instances.source import seed_of

#: `open`: it cannot be proved. `false`: nor that, and an instance at this shape refutes it.
Left = Literal["open", "false", "proved"]

#: So many instances with entries −1, 0 and 1 are looked at, in batches of `BATCH`; of each of the
#: other kinds, `BATCHES`. Of those that run one at a time, it is a `SHARE`.
SCOPE, BATCH, BATCHES, SHARE = 2048, 256, 2, 1 / 16
#: What balls do not decide at these is left.
PRECISIONS = (128, 256)
KINDS: tuple[type[ShapedSource], ...] = (ShapedSource, StructuredSource, MagnitudeSource)


class ProvedFalseError(InstallationError):
    """A statement is proved at a shape at which an instance refutes it: no proof can be trusted."""


def controls(
    claim: Claim, shape: ScopeShape, prove_one: Callable[[Claim], Proof | Unproved]
) -> Mapping[str, Left]:
    """What becomes of the mutants of a claim at a shape.

    Args:
        prove_one: tries to prove a mutant there.

    Raises:
        ProvedFalseError: if a mutant is proved that an instance refutes of which the proof is one.
    """
    left: dict[str, Left] = {}
    for name in claim.mutants:
        variant = mutant(claim, name)
        found = prove_one(variant)
        instance = refutation(variant, shape, found if isinstance(found, Proof) else None)
        if not isinstance(found, Proof):
            left[name] = "open" if instance is None else "false"
        elif instance is None:
            left[name] = "proved"
        elif not denies(found, instance):
            left[name] = "false"
        else:
            raise ProvedFalseError(
                f"the mutant {name!r} of {claim.id} is proved at the shape {shape.integers}, and "
                f"{', '.join(map(str, instance.record.tensors))} refutes it there; what is false "
                "is never proved"
            )
    return left


def denies(proof: Proof, instance: Instance) -> bool:
    """Whether an instance that refutes a claim refutes what a proof says of it.

    It does not where an exception may be zero.
    """
    variables = Variables(proof)
    entries = (x for tensor in instance.record.tensors for x in tensor.reshape(-1).tolist())
    values = Values(variables, tuple(fmpq(*x.as_integer_ratio()) for x in entries))
    try:
        return all(values.sign(variables.ring.poly(text)) for text in proof.exceptions)
    except NotKnown:
        return False


def refutation(claim: Claim, shape: ScopeShape, proof: Proof | None = None) -> Instance | None:
    """An instance at a shape that is proved to violate a claim, if a few small batches have one.

    Args:
        proof: of the claim. The instance is then one that would deny it, if there is one.
    """
    assert claim.instances is not None
    excepted: Instance | None = None
    for source in _sources(claim, shape):
        _, evaluation = evaluate_batch(claim, claim.instances, source, share=SHARE)
        for part in evaluation.parts:
            if part.record.integers != shape.integers or not part.violating:
                continue
            for index in worst_of(part):
                record = part.instance(index)
                instance = Instance(claim, claim.instances, record, PRECISIONS)
                if not instance.proved:
                    continue
                if proof is None or not proof.exceptions or denies(proof, instance):
                    return instance
                excepted = excepted or instance
    return excepted


def _sources(claim: Claim, shape: ScopeShape) -> Iterator[Drawing]:
    """Batches at a shape: the scope or its beginning, then what sweeps and hunts draw."""
    every = min(shape.instances, SCOPE)
    for start in range(0, every, BATCH):
        yield ScopeSource(shape, start, min(BATCH, every - start))
    for number in range(BATCHES):
        for kind in KINDS if shape.entries else ():
            seed = seed_of(claim.id, "controls", kind.__name__, number)
            yield kind(shape.integers, seed, BATCH)
