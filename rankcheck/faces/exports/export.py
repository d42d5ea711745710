"""From a certificate to a text: it is replayed, evaluated on traced numbers, and written."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flint import arb

from rankcheck.balls import BallArray
from rankcheck.claims.catalogue.certificates import CertificateError, read
from rankcheck.claims.claim import Claim
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.judge import Judgement
from rankcheck.engine.counterexamples.replay import family_of, replay
from rankcheck.faces.exports.coq import coq_file
from rankcheck.faces.exports.evaluate import Account, NotExportable, account
from rankcheck.faces.exports.script import script
from rankcheck.faces.exports.traced import Traced
from rankcheck.theory.instances.choices import read_choices
from rankcheck.versions import versions

WIDTH = 96

LANGUAGES: dict[str, Callable[[Account, str], str]] = {"coq": coq_file, "script": script}


def export(path: Path, claim: Claim, language: str) -> str:
    """The smallest counterexample of a certificate in one of `LANGUAGES`.

    Raises:
        CertificateError: if the file is not a certificate of this claim as it now stands, or does
            not prove what it says.
        DisagreementError: if balls prove what it says, and floats contradict them.
        NotExportable: if a step of the evaluation has no form outside of rankcheck.
    """
    replayed = replay(path, claim=claim)
    if replayed.changed:
        raise CertificateError(
            f"the text of {claim.id} has changed since {path} was written; an export is of the "
            f"claim as it now stands: rankcheck certify {claim.id} --again"
        )
    claim = replayed.claim  # at the setting of its dials that the file is of
    data = read(path)
    stated = data["smallest"]
    family = family_of(claim, stated["family"])
    assert family is not None, "a certificate was replayed, so its generator is known"
    record = read_choices(family, stated["instance"], check_hypotheses=False)
    instance = Instance(claim, family, record)
    try:
        one = account(instance, stated["relation"], replayed.description)
        _agreeing(one, replayed.judgement)
        return LANGUAGES[language](one, heading(claim, data))
    except NotExportable as missing:
        raise NotExportable(f"{claim.id} is not exported: {missing}") from missing


def _agreeing(one: Account, judgement: Judgement) -> None:
    """Check that the closed forms of an export have the sides that balls have proved."""
    assert judgement.lhs is not None
    assert judgement.rhs is not None
    lhs, rhs = one.violation.lhs, one.violation.rhs
    if not (_meet(lhs, judgement.lhs) and _meet(rhs, judgement.rhs)):
        raise NotExportable(
            f"its closed forms give lhs {lhs.describe()} and rhs {rhs.describe()}, and balls have "
            "proved other sides"
        )


def _meet(x: Traced, proved: BallArray) -> bool:
    """Whether a side is in the ball that was proved."""
    [ball] = proved.elements.ravel().tolist()
    return bool(arb(x.value).overlaps(arb(ball)))


def heading(claim: Claim, data: Any) -> str:
    """What the claim says, and where it is printed."""
    where = "" if claim.reference is None else f" ({claim.reference})"
    stated = data["smallest"]
    says = claim.claimed.strip().splitlines()
    lines = [f"A counterexample to {claim.id}{where}, which says:", "", *says, ""]
    for erratum in claim.errata:
        lines += [f"As printed: {erratum.printed}", ""]
    if stated["label"]:
        lines += [f"The relation that fails is the one of {stated['label']}.", ""]
    lines.append(
        f"Written by rankcheck {versions()['rankcheck']} from the certificate with SHA-256 "
        f"{data['sha256'][:16]}. The hypotheses on the instance are not part of this file."
    )
    wrapped = (textwrap.wrap(line, WIDTH, break_long_words=False) or [""] for line in lines)
    return "\n".join(line for part in wrapped for line in part)
