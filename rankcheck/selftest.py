"""Does this installation refute what is false, keep what is true, and refuse what is forged?

Three tasks with known outcomes go through the whole path: the generator of networks, torch, the
search, the balls of python-flint, shrinking, the certificate and its replay.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from rankcheck.claims.catalogue.certificates import CertificateError
from rankcheck.claims.catalogue.kept import digest
from rankcheck.claims.claim import Body, Claim
from rankcheck.claims.relations import Relation, leq
from rankcheck.engine.counterexamples.replay import replay
from rankcheck.engine.parallel.traces import named
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import Settings
from rankcheck.theory.instances import networks_at_points
from rankcheck.theory.linalg import schatten_power
from rankcheck.theory.networks import Network


@dataclass(frozen=True)
class Outcome:
    """What came of one task.

    Attributes:
        task: what has to happen.
        right: whether it did.
        said: what did happen, on a line.
    """

    task: str
    right: bool
    said: str


def outcomes(folder: Path) -> Iterator[Outcome]:
    """Try each task; its files are written in the folder, which is empty."""
    tasks: dict[str, Callable[[Path], tuple[bool, str]]] = {
        "a false statement is refuted": _refuted,
        "a true statement holds": _holds,
        "a forged certificate is refused": _refused,
    }
    for task, attempt in tasks.items():
        try:
            right, said = attempt(folder)
        except Exception as error:
            right, said = False, f"it raised {named(error)}"
        yield Outcome(task, right, said)


def _half(net: Network, x: torch.Tensor) -> Relation:
    return leq(schatten_power(net.jacobian(x), 2 / net.depth), net.cost() / net.depth / 2)


def _whole(net: Network, x: torch.Tensor) -> Relation:
    return leq(schatten_power(net.jacobian(x), 2 / net.depth), net.cost() / net.depth)


def _claim(name: str, statement: str, body: Body, folder: Path) -> Claim:
    """A bound on the Schatten power of a Jacobian; it is not entered into the registry."""
    return Claim(
        id=f"doctor.{name}",
        kind="bound",
        body=body,
        instances=networks_at_points(),
        title=statement,
        statement=statement,
        file=folder / "doctor.py",  # certificates are named by where they lie from there
    )


def _false(folder: Path) -> Claim:
    """Networks with equality in `_true` break it: a single weight is one."""
    return _claim("false", "The Schatten power is at most half of the cost a layer.", _half, folder)


def _true(folder: Path) -> Claim:
    """The proved bound of `rank.jacobian-bounds-cost`, which no smaller factor has."""
    return _claim("true", "The Schatten power is at most the cost a layer.", _whole, folder)


def _certificate(claim: Claim, folder: Path) -> Path:
    return folder / f"{claim.id}.json"


def _refuted(folder: Path) -> tuple[bool, str]:
    """By a certificate, whose numbers prove it false again in balls."""
    claim = _false(folder)
    row = verify_claim(claim, Settings(folder=folder))
    if row.verdict != "refuted":
        return False, f"it is called {row.verdict}"
    again = replay(_certificate(claim, folder), claim=claim)
    sides = f"lhs {again.smallest['lhs']} > rhs {again.smallest['rhs']}"
    return again.refuted, f"{again.description}: {sides}, in {again.judgement.bits} bits"


def _holds(folder: Path) -> tuple[bool, str]:
    """On all instances, and made 2 percent stronger on some of them not."""
    row = verify_claim(_true(folder), Settings(folder=folder))
    said = f"on {row.counts.evaluated} instances" if row.expected else " ".join(row.messages)
    return row.verdict == "holds", said


def _refused(folder: Path) -> tuple[bool, str]:
    """The counterexample to the false statement is no counterexample to the true one."""
    claim = _true(folder)
    genuine, forged = (_certificate(one, folder) for one in (_false(folder), claim))
    fields: dict[str, Any] = json.loads(genuine.read_text(encoding="utf-8"))
    del fields["sha256"]
    fields |= {
        "claim": claim.id,
        "statement": claim.statement,
        "statement_sha256": claim.statement_hash,
    }
    text = json.dumps({**fields, "sha256": digest(fields)})
    forged.write_text(text, encoding="utf-8")
    try:
        replay(forged, claim=claim)
    except CertificateError as error:
        return True, str(error).replace(f"{folder}/", "")
    return False, "it is believed"
