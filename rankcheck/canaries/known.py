"""Claims with a known verdict, as canaries."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from rankcheck.canaries.canary import Canary
from rankcheck.claims.claim import Body, Claim
from rankcheck.claims.relations import Relation, leq
from rankcheck.claims.verdicts import Verdict
from rankcheck.instances.source import Instances, Source, instances
from rankcheck.scalars import constant
from rankcheck.verification.check import verify_claim
from rankcheck.verification.ledger import Row
from rankcheck.verification.profiles import Profile, Settings

__all__ = [
    "FEW",
    "PROFILE",
    "UNSCOPED",
    "declare",
    "formless",
    "integers",
    "known",
    "numbers",
    "vectors",
    "verified",
    "wrong_in",
]

#: Little is enough: each canary is false, or true, on a good part of the instances of its stage.
PROFILE = Profile("canaries", drawn=5, batches=2, size=64, single=4, scope=1, scope_instances=100)
#: Nothing is enumerated.
UNSCOPED = replace(PROFILE, scope_shapes=0)
#: For canaries that Hypothesis tries again and again, and whose batches are halved.
FEW = replace(PROFILE, drawn=2, size=4, scope_shapes=0)


@instances
def numbers(source: Source, *, low: float = 1.0, high: float = 8.0) -> Any:
    """A number in a range."""
    return source.tensor(low=low, high=high)


@instances
def integers(source: Source, *, high: int = 2**40) -> Any:
    """An integer in [0, high], and a number."""
    n = source.integer(0, high)
    return constant(n, x := source.tensor()), x


@instances
def vectors(source: Source, *, size: tuple[int, int] = (1, 3)) -> Any:
    """A vector with so many entries."""
    return source.tensor(source.integer(*size))


def formless(x: Any) -> Relation:
    """False by 2 percent, by a function without a ball form."""
    return leq(torch.special.bessel_j0(x) * 0 + 1.02 * x, x)


def declare(name: str, body: Body, family: Instances, folder: Path, **options: Any) -> Claim:
    """The claim of a canary, in a file of that folder; it is not entered into the registry.

    Args:
        options: further fields of the claim; by default it is a loose bound.
    """
    file = folder / "canaries.py"
    file.touch()  # a certificate is stored beside the file of its claim
    return Claim(
        id="canary." + re.sub("[^a-z0-9]+", "-", name.lower()).strip("-"),
        body=body,
        instances=family,
        title=name,
        statement=name,
        file=file,
        **{"kind": "bound", "loose": "a canary", **options},
    )


def verified(claim: Claim, profile: Profile = PROFILE, **settings: Any) -> Row:
    """The row of the claim of a canary."""
    return verify_claim(claim, Settings(profile, folder=claim.file.parent, shrink=0, **settings))


def wrong_in(row: Row, verdict: Verdict, says: str = "") -> str | None:
    """What is wrong with a row that has to have that verdict, and a message with those words."""
    if row.verdict != verdict:
        return f"the verdict is {row.verdict}, and has to be {verdict}"
    message = " ".join(row.messages)
    return None if says in message else f"the message does not say {says!r}: {message}"


def known(
    stage: str,
    name: str,
    body: Body,
    verdict: Verdict,
    family: Instances = numbers(),  # noqa: B008 -- it does not change
    *,
    says: str = "",
    look: Callable[[Row], str | None] = lambda row: None,
    profile: Profile = PROFILE,
    short: bool = False,
    **options: Any,
) -> Canary:
    """A claim with a known verdict.

    Args:
        says: a part of the message of its row, which no other stage writes.
        look: what else is wrong with its row, or None.
        options: further fields of the claim.
    """

    def check(folder: Path) -> str | None:
        row = verified(declare(name, body, family, folder, **options), profile)
        return wrong_in(row, verdict, says) or look(row)

    return Canary(name, stage, check, short)
