"""Made-up histories and comparisons: curves with gaps and undecided ranks, odd names."""

from __future__ import annotations

from dataclasses import replace

from rankcheck.audit.history.figures import FIGURES
from rankcheck.audit.history.result import (
    Checkpoint,
    Comparison,
    Difference,
    History,
    Moved,
    Skipped,
)
from rankcheck.audit.history.words import in_words
from rankcheck.audit.result import GUESSED


def checkpoint(step: int, *, data: bool = True, **changes) -> Checkpoint:
    """A checkpoint whose cost falls with its step, and whose rank becomes clear."""
    cost = 20.0 + 3000 / (step + 100)
    rank = 4 if step < 300 else 2
    figures: dict[str, float | None] = {
        "cost": cost,
        "cost_per_layer": cost / 8,
        "rank": rank,
        "excess": cost - 8 * rank,
        "balanced": 0.9 * cost,
        "saved": 0.1,
        "imbalance": 0.5,
    }
    if data:
        figures |= {
            "undecided": 1.0 if step < 300 else 0.0,
            "gap": 3.0 if step < 300 else 80.0,
            "least_cost": 18.0,
            "s_1": 2.0,
            "s_2": 1.0,
            "s_3": 0.5 if step < 300 else 0.001,
            "index_rank": 3,
            "dead": 7,
        }
    whole = Checkpoint(
        name=f"step_{step}.pt",
        figures={name: figures.get(name) for name in FIGURES},
        ranks={"rank": f"{rank}?" if step < 300 else f"{rank}"}
        | ({"index_rank": "3"} if data else {}),
        source="state dict",
        kind="depth 8, widths 10 → 20 (7 times) → 5, slope 0",
        inputs=10,
        outputs=5,
        written=1.7e9 + step,
        step=step,
        points=240 if data else None,
    )
    return replace(whole, **changes)


def history(steps=(0, 100, 200, 300, 400, 500), *, data: bool = True, **changes) -> History:
    """A training; of these steps, with or without data."""
    checkpoints = tuple(checkpoint(step, data=data) for step in steps)
    whole = History(
        name="run",
        checkpoints=checkpoints,
        said="by the number behind “step” in the names",
        skipped=(Skipped("optimizer.pt", "'state' is of the type dict; it must be a tensor"),),
        words=in_words(checkpoints),
        seconds=3.25,
        versions={"rankcheck": "0.15", "torch": "2.9"},
    )
    return replace(whole, **changes)


def assumed(found: History) -> History:
    """The same history of networks whose activations were assumed."""
    guessed = (replace(one, headline=GUESSED, is_assumed=True) for one in found.checkpoints)
    return replace(found, checkpoints=tuple(guessed))


def comparison(**changes) -> Comparison:
    """Two checkpoints of the training."""
    whole = Comparison(
        old=checkpoint(200),
        new=checkpoint(500),
        difference=Difference(240, 0.75, 0.25, 17, 0.125, 3),
        moved=(Moved("layers.2", 0.5, 2.0, 1.5), Moved("layers.0", None, 0.0, 1.0)),
        notes=("The networks are of two kinds: one; two.",),
        seconds=1.5,
        versions={"rankcheck": "0.15"},
    )
    return replace(whole, **changes)


def odd(text: str) -> tuple[History, Comparison]:
    """A history and a comparison all of whose texts are the given one."""
    one = replace(checkpoint(0), name=text, source=text, kind=text, step=None, assumed=(text,))
    found = History(
        text, (one, one), text, "step", (Skipped(text, text),), (text,), (text,), 1.0, {text: text}
    )
    both = comparison(
        old=one,
        new=replace(one, headline=text),
        moved=(Moved(text, 1.0, 1.0, 1.0),),
        notes=(text,),
        versions={text: text},
    )
    return found, both
