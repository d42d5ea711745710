"""A canary of ball arithmetic: what it encloses, what it compares, and what it leaves open."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import torch
from flint import arb

from rankcheck.balls import BallArray, NoBallForm, Undecided, balls
from rankcheck.canaries.canary import Canary

__all__ = ["CANARIES"]

#: How much wider a result may be than what it has to enclose.
SLACK = Fraction(1, 10)


def _around(middle: int) -> Any:
    """The numbers within a quarter of an integer."""
    return balls([arb(middle, 0.25)])[0]


def _diagonal() -> Any:
    rows = (_around(2), _around(2) * 0), (_around(2) * 0, BallArray.exact(5))
    return torch.stack([torch.stack(row) for row in rows])


def _product() -> Any:
    A, B = BallArray.exact([[1, 2], [3, 4]]), BallArray.exact([[0, 1], [1, 1]])
    return (A @ B)[0, 0]


def _large_product() -> Any:
    ones = BallArray.exact(torch.ones(20, 4))
    return (ones @ (balls(torch.ones(4, 20)) * _around(2)))[0, 0]


#: Of each result, two numbers that it encloses, near the ends of what it has to.
_ENCLOSED: tuple[tuple[str, Callable[[], Any], float, float], ...] = (
    ("exp", lambda: _around(0).exp(), 0.77881, 1.28402),
    ("sqrt", lambda: _around(2).sqrt(), 1.32288, 1.5),
    ("abs", lambda: _around(0).abs(), 0, 0.25),
    ("relu", lambda: torch.relu(_around(0)), 0, 0.25),
    ("maximum", lambda: torch.maximum(_around(0), _around(2)), 1.75, 2.25),
    ("sum", lambda: torch.stack([_around(0), _around(2), _around(2)]).sum(0), 3.25, 4.75),
    ("where", lambda: torch.where(torch.tensor(True), _around(0), _around(2)), -0.25, 0.25),
    ("matmul", _product, 2, 2),
    ("a large product", _large_product, 7, 9),
    ("svdvals", lambda: torch.linalg.svdvals(_diagonal())[1], 1.75, 2.25),
    ("eigvalsh", lambda: torch.linalg.eigvalsh(_diagonal())[0], 1.75, 2.25),
    ("a double", lambda: BallArray.exact(torch.tensor(0.1, dtype=torch.float64)), 0.1, 0.1),
)
#: What balls do not decide, or refuse to say.
_OPEN: tuple[tuple[str, Callable[[], Any]], ...] = (
    ("a comparison of balls that overlap", lambda: _around(0) < _around(0) + Fraction(1, 4)),
    ("the sign of a ball around 0", lambda: _around(0).sign()),
    ("what is divided by a ball with 0", lambda: (_around(2) / (_around(0) + 0.125)).lower()),
    ("the Python number of a ball", lambda: _around(0).item()),
)


def _enclosed(folder: Path) -> str | None:
    for name, result, low, high in _ENCLOSED:
        found = result()
        if not found.lower() <= Fraction(low) <= Fraction(high) <= found.upper():
            return f"{name} is {found}, and has to enclose {low} and {high}"
        if found.upper() - found.lower() > Fraction(high) - Fraction(low) + SLACK:
            return f"{name} is {found}, which is wider than {low} to {high}"
    if not bool(_around(0) < _around(2)) or bool(_around(2) < _around(0)):
        return "balls that lie apart are not compared"
    for name, asked in _OPEN:
        try:
            return f"{name} is {asked()}"
        except (Undecided, NoBallForm):
            continue
    return None


CANARIES = (Canary("balls enclose", "balls", _enclosed),)
