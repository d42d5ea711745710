r"""What to do about a network first, in sentences: the most useful one comes first.

Every figure is the audit's own, and nothing is said that does not follow from them: what is saved
is a difference of two costs that were computed, and what a neuron does is said of the data alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankcheck.audit.ranks import GAP, NEAR
from rankcheck.audit.result import Audit, LayerFacts

__all__ = [
    "FREE",
    "WORTH",
    "advice",
    "carried",
    "carrying",
    "many",
    "names",
    "number",
    "percent",
    "quoted",
    "steps",
]

#: A saving of a smaller share of the cost is no reason to do anything.
FREE = 0.01
#: One of a smaller share is given as this.
WORTH = 1e-3
#: Singular values that fall by this factor have a step, though a rank is not clear there.
STEP = 3.0
#: So many names are written out.
NAMES = 4


def advice(audit: Audit) -> tuple[str, ...]:
    """What to do first; empty if nothing that was measured asks for it."""
    if audit.model.cost == 0:
        return ()
    return (
        *_failing(audit),
        *_unclear(audit),
        *_balance(audit),
        *_dead(audit),
        *_straight(audit),
        *_crowded(audit),
        *_carrying(audit),
    )


def _failing(audit: Audit) -> list[str]:
    """That the network was misread, most likely: then nothing else counts."""
    failing = [one.claim for one in audit.theorems if one.finding == "fails"]
    if not failing:
        return []
    return [
        f"{many(len(failing), 'theorem')} fail{'s' if len(failing) == 1 else ''} "
        f"({', '.join(failing)}). They are proved, so the file was misread or rankcheck has a bug: "
        "look at how it was read before anything else."
    ]


def steps(audit: Audit) -> bool:
    """Whether the singular values fall by `STEP` behind the rank, at most points or layers.

    A step that is there grows while a network is trained on with weight decay, and decides the
    rank; a spectrum that falls evenly has no rank to be decided.
    """
    if audit.data is None:
        unclear = [one.rank.gap or 0.0 for one in audit.layers if not one.rank.separated]
        return 2 * sum(gap >= STEP for gap in unclear) >= len(unclear)
    return audit.data.gaps is not None and audit.data.gaps.median >= STEP


def _unclear(audit: Audit) -> list[str]:
    """That the rank is undecided, where training on would decide it."""
    if audit.rank_is_clear or not steps(audit):
        return []
    data = audit.data
    if data is None:
        undecided = sum(not layer.rank.separated for layer in audit.layers)
        where = f"in {undecided} of {many(len(audit.layers), 'layer')} s_k of the weights"
    else:
        where = f"at {data.undecided} of {many(data.points, 'point')} s_k of Jf(x)"
    return [
        f"The rank {audit.rank_text} is undecided: {where} is less than {GAP:g} times the next "
        f"one. But it is {STEP:g} times the next one or more at most of them: a step like this "
        "grows with longer training and more weight decay."
    ]


def _balance(audit: Audit) -> list[str]:
    """How much of the norm rescaling neurons saves."""
    balanced, cost = audit.balanced, audit.model.cost
    saved = 1 - balanced.cost / cost
    if not balanced.converged or saved < FREE:
        return []
    change = balanced.change
    seen = (
        "" if change is None else f" (on the data its outputs change by {change:.0e}, relatively)"
    )
    less = f"at a cost of {number(balanced.cost)} instead of {number(cost)}"
    return [
        f"{percent(saved)} of the norm ‖θ‖² is free: rescaled neurons "
        f"(`rankcheck.networks.balance_neurons`) have the same function {less}{seen}."
    ]


def _dead(audit: Audit) -> list[str]:
    """The neurons that never fire on the data."""
    data, hidden = audit.data, _hidden(audit)
    dead = sum(layer.dead or 0 for layer in hidden)
    if data is None or not dead:
        return []
    where = f"on the data (behind {names([layer for layer in hidden if layer.dead])})"
    fire = f"never fire{'s' if dead == 1 else ''} {where}"
    them = "it" if dead == 1 else "them"
    values = "the same values at these points; elsewhere the values may differ"
    if data.dead_cost is None:
        return []
    width = sum(layer.shape[0] for layer in hidden)
    share = data.dead_cost / audit.model.cost
    less = f"costs {number(data.dead_cost)} less ({percent(share)}) and"
    if share < WORTH:
        less = f"costs less, by under {percent(WORTH)}, and"
    return [
        f"{dead} of {many(width, 'hidden neuron')} {fire}. Without {them} the network {less} has "
        f"{values}."
    ]


def _straight(audit: Audit) -> list[str]:
    """The layers behind which no neuron bends on the data."""
    hidden = _hidden(audit)
    straight = [(i, layer) for i, layer in enumerate(hidden, 1) if layer.bent == 0]
    if not straight:
        return []
    if len(straight) == len(hidden):
        return [
            "No hidden neuron has both signs on the data, so there the network is a single affine "
            "map: the nonlinearity is not used."
        ]
    numbers = runs([i for i, _ in straight])
    one = len(straight) == 1
    return [
        f"Behind {'layer' if one else 'layers'} {numbers} ({names([two for _, two in straight])}) "
        f"no neuron has both signs on the data, so there {'it' if one else 'each of them'} is one "
        "affine map with the next layer."
    ]


def _crowded(audit: Audit) -> list[str]:
    """The layers with more linear neurons than inputs, some of which are combinations of others."""
    found = [
        (i, layer, (layer.linear or 0) - layer.shape[1])
        for i, layer in enumerate(_hidden(audit), 1)
        if layer.bent and (layer.linear or 0) > layer.shape[1]
    ]
    if not found:
        return []
    more = sum(number for _, _, number in found)
    where = names([layer for _, layer, _ in found])
    return [
        f"Behind layer{'s' * (len(found) > 1)} {runs([i for i, _, _ in found])} ({where}) more "
        f"neurons are linear on the data than there are inputs: at least {more} of them "
        f"{'is a combination' if more == 1 else 'are combinations'} of others."
    ]


def carrying(audit: Audit) -> list[tuple[int, LayerFacts, float]]:
    """The layers that do little but carry k directions on, by their numbers, with distances."""
    k = audit.rank
    known = [(i, one, one.distance) for i, one in enumerate(audit.layers, 1)]
    return [(i, one, d) for i, one, d in known if k and d is not None and d <= k * NEAR**2]


def carried(audit: Audit, near: Sequence[tuple[int, LayerFacts, float]]) -> str:
    """That these layers carry the signal on, and what that costs."""
    cost = sum(layer.weights + layer.bias for _, layer, _ in near)
    distances = [d for _, _, d in near]
    one = len(near) == 1
    return (
        f"Layer{'' if one else 's'} {runs([i for i, _, _ in near])} "
        f"({names([layer for _, layer, _ in near])}) do{'es' if one else ''} little but carry "
        f"{many(audit.rank, 'direction')} on, at {percent(cost / audit.model.cost)} of the cost: "
        f"the squared distances to partial isometries of rank {audit.rank} are "
        f"{number(min(distances))} to {number(max(distances))}."
    )


def _carrying(audit: Audit) -> list[str]:
    """The layers that only carry the signal."""
    near = carrying(audit)
    if not near or not audit.rank_is_clear or len(audit.layers) == 1:
        return []
    return [f"{carried(audit, near)} A shallower network may do."]


def _hidden(audit: Audit) -> Sequence[LayerFacts]:
    """The layers with neurons behind them: all but the last one."""
    return audit.layers[:-1]


# Numbers and names of layers


def number(value: float) -> str:
    """Four digits; whole numbers below a million have all of theirs."""
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e6 else f"{value:.4g}"


def percent(share: float) -> str:
    """A share with three digits: `16.2 %`."""
    return f"{100 * share:.3g} %"


def many(count: int, what: str, several: str = "") -> str:
    """`1 layer`, `2 layers`; or with a plural of its own."""
    return f"{count} {what if count == 1 else several or f'{what}s'}"


def quoted(layer: LayerFacts) -> str:
    """The name of a layer."""
    return f"“{layer.name}”"


def names(layers: Sequence[LayerFacts]) -> str:
    """The names of layers; of many the first ones."""
    written = [quoted(layer) for layer in layers]
    more = f" and {len(written) - NAMES} more" if len(written) > NAMES else ""
    return ", ".join(written[:NAMES]) + more


def runs(numbers: Sequence[int]) -> str:
    """Increasing numbers as ranges.

    >>> runs([1, 3, 4, 5, 7, 8])
    '1, 3–5, 7, 8'
    """
    parts: list[list[int]] = []
    for one in numbers:
        if parts and parts[-1][-1] == one - 1:
            parts[-1].append(one)
        else:
            parts.append([one])
    short = [one for run in parts for one in ([run] if len(run) > 2 else [[n] for n in run])]
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in short)
