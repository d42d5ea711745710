"""Canaries of hunts: a strategy alone breaks a claim, and what cannot be broken is not."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import torch

from rankcheck.canaries.canary import Canary
from rankcheck.canaries.known import declare, formless, numbers
from rankcheck.claims.claim import Body
from rankcheck.claims.relations import Relation, leq
from rankcheck.hunt.run import hunt
from rankcheck.hunt.strategies.base import Stage, Strategy
from rankcheck.hunt.strategies.descend import Descend
from rankcheck.hunt.strategies.screen import Screen
from rankcheck.instances.source import Instances, Source, instances

__all__ = ["CANARIES"]


@instances
def _vectors(source: Source) -> Any:
    return source.tensor(6)


@instances
def _none(source: Source) -> Any:
    x = source.tensor()
    source.require(x > 9, "x is larger than it can be")
    return x


class _Descend(Descend):
    """Descent in the first round, with no other strategy before it."""

    stage: Stage = "scout"


def _far_from(x: Any) -> Relation:
    """False within 1/30 of one point: no sample meets it, and all slopes lead there."""
    place = torch.tensor([0.6875, -1.3125, 2.1875, -0.4375, 1.5625, -2.0625], dtype=torch.float64)
    return leq(1e-3, (x - place).square().sum(-1))


def _near_one_number(x: Any) -> Relation:
    """False in a part of the range in which no slope leads there."""
    return leq(torch.where((x > 4.6) & (x < 4.8), x * 0 + 2, x * 0), x * 0 + 1)


def _hunted(
    body: Body,
    verdict: str,
    strategy: Strategy,
    folder: Path,
    family: Instances = numbers(),  # noqa: B008 -- it does not change
    scope: int = 0,
    by: str | None = None,
) -> str | None:
    """What is wrong with a hunt of one round by one strategy, which nothing goes before."""
    claim = declare("hunted", body, family, folder)
    settings: dict[str, Any] = {
        "strategies": (strategy,),
        "scope": scope,
        "folder": folder,
        "shrink": 0.0,
    }
    result = hunt(claim, None, 0, rounds=1, **settings)
    if result.verdict != verdict:
        return f"the hunt says {result.verdict}, and has to say {verdict}: {result.message}"
    if result.strategy != by:
        return f"it is broken by {result.strategy}, and has to be by {by}"
    if result.certificate is None and verdict == "refuted":
        return "there is no certificate of its counterexample"
    return None


CANARIES = (
    Canary("false at the end of a descent", "descent",
           partial(_hunted, _far_from, "refuted", _Descend(), family=_vectors(), by="descend")),
    Canary("false where no slope leads", "screen",
           partial(_hunted, _near_one_number, "refuted", Screen(), by="screen")),
    Canary("false of the number 1", "scope of hunts",
           partial(_hunted, lambda x: leq(2 - (x - 1).abs() * 2.0**40, x), "refuted", Screen(),
                   scope=1, by="scope")),
    Canary("true in a hunt", "hunts", partial(_hunted, lambda x: leq(x, x * x), "survived",
                                              Screen())),
    Canary("undecided in a hunt", "hunts", partial(_hunted, formless, "undecided", Screen(),
                                                   by="screen")),
    Canary("no instance in a hunt", "hunts", partial(_hunted, lambda x: leq(2 * x, x), "gave_up",
                                                     Screen(), family=_none())),
)  # fmt: skip
