"""Canaries of the check of batches, one for each cause, and of what must not be accused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from rankcheck.canaries.known import UNSCOPED, known, vectors
from rankcheck.claims.claim import Body
from rankcheck.claims.relations import Relation, leq
from rankcheck.instances.source import Source, instances

__all__ = ["CANARIES"]


@instances
def _shifted(source: Source) -> Any:
    """Of a batch, the numbers less the mean of all."""
    x = source.tensor(low=1.0, high=8.0)
    return x - x.mean() if source.batch else x


@instances
def _written(source: Source) -> Any:
    x = source.tensor(low=1.0, high=8.0)
    x += 1
    return x


@instances
def _mixed_hypothesis(source: Source) -> Any:
    x = source.tensor(low=1.0, high=8.0)
    source.require(x < x.max() + (0 if source.batch else 1), "x is not the largest of its batch")
    return x


def _random(x: Any) -> Relation:
    return leq(x, x + 1 + torch.rand_like(x))


def _writes(x: Any) -> Relation:
    x.mul_(1)
    x += 1
    return leq(x, x * x)


def _branching(condition: str) -> Body:
    """A body with a branch; only code outside of rankcheck is looked at."""
    text = f"def body(A):\n    return leq(A.abs().amax(-1), 9.0 if {condition} else 10.0)\n"
    names: dict[str, Any] = {"__name__": "canaries", "leq": leq}
    exec(text, names)
    body: Body = names["body"]
    return body


def _twins(A: Any) -> Relation:
    """It asks whether another instance of the batch is the same."""
    rows = A.reshape(-1, A.shape[-1])
    same = (rows.unsqueeze(0) == rows.unsqueeze(1)).all(-1).sum(-1) > 1
    return leq(A.abs().amax(-1), 8.0 + same.reshape(A.shape[:-1]).to(A.dtype))


def _batches_only(x: Any) -> Relation:
    return leq(x, x + x.shape[0])


def _last_digits(x: Any) -> Relation:
    """In a batch the last digit of one side is another one, wherever x is."""
    return leq(x * 0 + (1 + 2.0**-52 if x.ndim else 1.0), 2.0)


def _jump(x: Any) -> Relation:
    """At integers the last digit decides, and it is another one in a batch."""
    moved = x * (1 - 2.0**-52) if x.ndim else x
    return leq(moved.floor(), 8.0)


CANARIES = (
    known("batching", "mixed among repeated instances", _twins, "failed", vectors(size=(9, 9)),
          says="beside other instances"),
    known("batching", "another value alone", lambda x: leq(x, 8.0 if x.ndim else 9.0), "failed",
          says="for the same instance alone"),
    known("batching", "mixed values", lambda x: leq(x, x.max()), "failed",
          says="for an instance in a batch of 7"),
    known("batching", "a mixed shape", lambda A: leq(A.square().sum(0), 300.0), "failed",
          vectors(size=(9, 9)), says="the batch comes first"),
    known("batching", "a mixed generator", lambda x: leq(x, x.abs()), "failed", _shifted(),
          says="x is "),
    known("batching", "a mixed hypothesis", lambda x: leq(x, x * x), "failed",
          _mixed_hypothesis(), says="the hypotheses in a batch of 7"),
    known("batching", "a mixed tight family", lambda x: leq(x, x), "failed", tight=_shifted(),
          says="with _shifted()"),
    known("batching", "for batches only", _batches_only, "failed",
          says="an instance without batch axes raised"),
    known("batching", "random", _random, "failed", says="so it is random or has a memory"),
    known("batching", "a body that writes", _writes, "failed",
          says="the body changed its argument"),
    known("batching", "a generator that writes", lambda x: leq(x, x * x), "failed", _written(),
          says="the generator changed a tensor that it drew"),
    known("branches", "a branch of one instance", _branching("A.ndim > 1 or (A > 2).all()"),
          "failed", vectors(size=(9, 9)), says="takes the truth value"),
    known("branches", "a branch at one shape", _branching("A.shape[-1] > 1 or (A > 2).all()"),
          "failed", vectors(size=(1, 8)), says="takes the truth value",
          profile=replace(UNSCOPED, batches=50)),
    known("batching", "other last digits in a batch", _last_digits, "holds"),
    known("batching", "other last digits at a jump", _jump, "holds"),
)  # fmt: skip
