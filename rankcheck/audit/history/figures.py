"""The figures that are followed over time: a row for each, read from an audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from rankcheck.audit.result import Audit

__all__ = ["FIGURES", "VALUES", "Figure", "figures_of", "ranks_of"]

#: So many singular values of Jf are followed.
VALUES = 4


@dataclass(frozen=True)
class Figure:
    """A figure of an audit.

    Attributes:
        title: in words.
        short: for the head of a narrow column.
        of: its value; None where the audit does not have it.
        kind: `number`; `whole`, a count or a rank; `share`, a part of one.
        alone: the title without data, if it is another one.
        rank: of a rank, how it is written: `8`, `8?`, `≥ 8`; empty where the audit has none.
    """

    title: str
    short: str
    of: Callable[[Audit], float | None]
    kind: Literal["number", "whole", "share"] = "number"
    rank: Callable[[Audit], str] = lambda audit: ""
    alone: str = ""

    def text(self, value: float | None, write: Callable[[float], str]) -> str:
        """A value as a text."""
        if value is None:
            return ""
        if self.kind == "share":
            return f"{100 * value:.3g} %"
        return f"{value:.0f}" if self.kind == "whole" else write(value)

    def change(self, old: float | None, new: float | None, write: Callable[[float], str]) -> str:
        """By how much a value changed, and relative to a positive one; empty if it is the same."""
        if old is None or new is None or new == old:
            return ""
        sign = "+" if new > old else ""
        if self.kind == "share":
            return f"{sign}{write(100 * (new - old))} pp"
        text = f"{sign}{write(new - old)}"
        if self.kind == "whole" or old <= 0:
            return text
        share = (new - old) / old
        return (
            f"{text} ({sign}{write(100 * share)} %)" if share < 1 else f"{text} (×{1 + share:.3g})"
        )


def figures_of(audit: Audit) -> dict[str, float | None]:
    """The values of all figures, by name."""
    return {name: figure.of(audit) for name, figure in FIGURES.items()}


def ranks_of(audit: Audit) -> dict[str, str]:
    """The figures that are ranks, as they are written, by name."""
    return {name: text for name, figure in FIGURES.items() if (text := figure.rank(audit))}


def _undecided(audit: Audit) -> float | None:
    """The share of the points at which the rank of Jf is not clear."""
    data = audit.data
    return None if data is None else data.undecided / sum(data.ranks.values())


def _gap(audit: Audit) -> float | None:
    return None if audit.data is None or audit.data.gaps is None else audit.data.gaps.median


def _balanced(audit: Audit) -> float | None:
    return audit.balanced.cost if audit.balanced.converged else None


def _saved(audit: Audit) -> float | None:
    """The share of the cost that balancing saves."""
    cost, least = audit.model.cost, _balanced(audit)
    return None if least is None or cost == 0 else max(0.0, 1 - least / cost)


def _imbalance(audit: Audit) -> float | None:
    return max((one.imbalance for one in audit.layers if one.imbalance is not None), default=None)


def _excess(audit: Audit) -> float | None:
    """‖θ‖² − kL of a chain, with the k of the audit."""
    model = audit.model
    return None if model.slope is None else model.cost - audit.rank * model.depth


def _value(i: int, audit: Audit) -> float | None:
    """The median of s_{i+1}(Jf(x)) over the data."""
    data = audit.data
    if data is None or i >= len(data.singular_values):
        return None
    return data.singular_values[i].median


def _index_rank(audit: Audit) -> float | None:
    found = None if audit.data is None else audit.data.index_rank
    return None if found is None else found.rank


def _index_text(audit: Audit) -> str:
    data = audit.data
    return "" if data is None or data.index_rank is None else data.index_rank.text


def _dead(audit: Audit) -> float | None:
    counts = [one.dead for one in audit.layers if one.dead is not None]
    return sum(counts) if counts else None


#: By name, in the order of tables. A new figure is a row here; texts, pages and JSON follow.
FIGURES: Mapping[str, Figure] = {
    "cost": Figure("cost ‖θ‖²", "cost", lambda audit: audit.model.cost),
    "cost_per_layer": Figure("cost per layer ‖θ‖²/L", "a layer", lambda audit: audit.ceiling),
    "rank": Figure(
        "rank k of Jf at most points",
        "rank",
        lambda audit: audit.rank,
        "whole",
        lambda audit: audit.rank_text,
        "rank k of most layers",
    ),
    "undecided": Figure("points of undecided rank", "undec.", _undecided, "share"),
    "gap": Figure("gap s_k/s_(k+1), median", "gap", _gap),
    "excess": Figure("excess ‖θ‖² − kL", "excess", _excess),
    "least_cost": Figure(
        "least cost by the Jacobians",
        "least",
        lambda audit: None if audit.data is None else audit.data.least_cost,
    ),
    "balanced": Figure("cost after balancing", "balanced", _balanced),
    "saved": Figure("saved by balancing", "saved", _saved, "share"),
    "imbalance": Figure("largest imbalance", "imbal", _imbalance),
    **{
        f"s_{i + 1}": Figure(f"s_{i + 1} of Jf, median", f"s_{i + 1}", partial(_value, i))
        for i in range(VALUES)
    },
    "index_rank": Figure(
        "rank of mean JᵀJ",
        "index",
        _index_rank,
        "whole",
        _index_text,
    ),
    "dead": Figure("dead neurons", "dead", _dead, "whole"),
}
