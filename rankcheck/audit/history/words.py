"""What is to be seen in a history, in sentences. Nothing is said that its figures do not say."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rankcheck.audit.history.result import Checkpoint

__all__ = ["in_words", "place_of"]

#: A change of the cost by a smaller share is none.
WORTH = 0.01
#: So many ranks are listed one after the other.
RANKS = 6


def place_of(one: Checkpoint, unit: str) -> str:
    """A checkpoint as sentences name it: its step, else its name."""
    return f"“{one.name}”" if one.step is None else f"{unit} {one.step}"


def in_words(checkpoints: Sequence[Checkpoint], unit: str = "step") -> tuple[str, ...]:
    """Sentences about checkpoints in their order; none of fewer than two.

    Args:
        unit: what their steps are.
    """
    if len(checkpoints) < 2:
        return ()
    return (*_cost(checkpoints, unit), *_rank(checkpoints, unit), *_last(checkpoints[-1]))


def _cost(many: Sequence[Checkpoint], unit: str) -> list[str]:
    costs = [one["cost"] or 0.0 for one in many]
    first, last, least = costs[0], costs[-1], min(costs)
    way = f"From {place_of(many[0], unit)} to {place_of(many[-1], unit)}"
    if abs(last - first) <= WORTH * max(first, last):
        said = f"{way} the cost stays near {last:.4g}"
    else:
        said = (
            f"{way} the cost {'falls' if last < first else 'rises'} from {first:.4g} to {last:.4g}"
        )
    if least < (1 - WORTH) * min(first, last):
        said += f"; it is least, {least:.4g}, at {place_of(many[costs.index(least)], unit)}"
    return [f"{said}."]


def _rank(many: Sequence[Checkpoint], unit: str) -> list[str]:
    """The ranks one after the other, or since when the last one is there."""
    where = "of Jf at most points" if many[-1].points is not None else "of most layers"
    texts = [one.ranks["rank"] for one in many]
    runs = [(text, len(list(run))) for text, run in groupby(texts)]
    unclear = any("?" in text for text in texts)
    note = " (? where the gap does not separate it)" if unclear else ""
    if len(runs) == 1:
        return [f"The rank {where} is {texts[0]} at every checkpoint{note}."]
    since = place_of(many[-runs[-1][1]], unit)
    if len(runs) <= RANKS:
        way = ", then ".join(text for text, _ in runs)
        return [f"The rank {where} is {way}; the last one since {since}{note}."]
    ranks = [one["rank"] or 0 for one in many]
    return [
        f"The rank {where} changes {len(runs) - 1} times between {min(ranks):.0f} and "
        f"{max(ranks):.0f}, and is {texts[-1]} since {since}{note}."
    ]


def _last(one: Checkpoint) -> list[str]:
    """What the last checkpoint costs beyond what is necessary."""
    said = []
    saved, cost, least = one["saved"], one["cost"] or 0.0, one["least_cost"]
    if saved is not None and saved >= WORTH:
        said.append(
            f"At the last one, balancing its neurons would save {100 * saved:.3g} % of the cost."
        )
    if least:
        said.append(
            f"The last one costs {cost / least:.3g} times what its largest Jacobian on the data "
            "makes necessary for a chain of its depth."
        )
    return said
