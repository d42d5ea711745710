r"""What to do about a network first, and what follows from the figures of its audit, in sentences.

Every figure is the audit's own, and nothing is said that does not follow: what is saved is a
difference of two costs that were computed, and what a neuron does is said of the data alone. A
bound at one depth is a bound at this depth: the rank of a function is bounded by ‖θ‖²/L in the
limit of infinite depth only, but at depth L, with c = ‖θ‖²/L,

.. math:: s_k(Jf(x)) \le (c/k)^{L/2} \quad\text{for every x (rank.small-second-singular-value),}

and every network of depth L with the same function costs at least
:math:`L \max_x \|Jf(x)\|_{S^{2/L}}^{2/L}` (rank.jacobian-bounds-cost).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankcheck.audit.ranks import GAP, NEAR
from rankcheck.audit.result import Audit, LayerFacts

__all__ = ["FREE", "STEP", "first", "in_words", "runs"]

#: A saving of a smaller share of the cost is no reason to do anything.
FREE = 0.01
#: One of a smaller share is given as this.
WORTH = 1e-3
#: Singular values that fall by this factor have a step, though a rank is not clear there.
STEP = 3.0
#: So many names are written out.
NAMES = 4


# What to do first


def first(audit: Audit) -> tuple[str, ...]:
    """What to do first; empty if nothing that was measured asks for it."""
    if audit.model.cost == 0:
        return ()
    return (
        *_failing(audit),
        *_unclear(audit),
        *_free(audit),
        *_dead(audit),
        *_straight(audit),
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


def _free(audit: Audit) -> list[str]:
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
        f"{percent(saved)} of the norm ‖θ‖² is free: `rankcheck.networks.balance_neurons` "
        f"gives the same function {less}{seen}."
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


# What follows


def in_words(audit: Audit) -> tuple[str, ...]:
    """Sentences about an audit, the most general first."""
    if audit.model.cost == 0:
        return ("All parameters are 0, so the network is 0 everywhere.", *_unsaid(audit))
    return (
        *_spending(audit),
        *_rank(audit),
        *_ceiling(audit),
        *_least(audit),
        *_keeping(audit),
        *_structure(audit),
        *_balance(audit),
        *_unsaid(audit),
    )


def _spending(audit: Audit) -> list[str]:
    """On what the norm is spent: weights and biases, and which layers."""
    cost, layers = audit.model.cost, audit.layers
    biases = sum(layer.bias for layer in layers)
    sentences = [
        f"The network has {many(len(layers), 'layer')} and costs ‖θ‖² = {number(cost)}: "
        f"{percent(1 - biases / cost)} for the weights, {percent(biases / cost)} for the biases."
    ]
    if len(layers) > 1:
        dear = max(layers, key=_cost)
        cheap = min(layers, key=_cost)
        if _cost(dear) <= 1.1 * _cost(cheap):
            sentences.append(
                f"Its layers cost nearly the same, {number(_cost(cheap))} to "
                f"{number(_cost(dear))} each."
            )
        else:
            sentences.append(
                f"Layer {quoted(dear)} costs most, {number(_cost(dear))} "
                f"({percent(_cost(dear) / cost)}), and {quoted(cheap)} least, "
                f"{number(_cost(cheap))}."
            )
    return sentences


def _rank(audit: Audit) -> list[str]:
    """The rank that most points have, and the cost beyond it."""
    data, k, depth = audit.data, audit.rank, audit.model.depth
    if data is None:
        return []
    sentences = [
        f"Jf(x) has numerical rank {audit.rank_text} at {data.ranks.get(k, 0)} of "
        f"{many(data.points, 'point')}: so many of its singular values are "
        f"above {data.tolerance:g} times the largest."
    ]
    for bound in data.bounds:
        if bound.rank == k and k > 0 and bound.logs is not None:
            sign = "" if bound.excess >= 0 else ", less than nothing because its layers are small"
            sentences.append(
                f"A rank of {k} in {many(depth, 'layer')} accounts for kL = {k * depth} of the "
                f"cost. The rest is {number(bound.excess)}{sign}; it is no less than "
                f"2 log|Jf(x)| = {number(bound.logs)}, taken over "
                f"{many(k, 'singular value')} at the point where that is largest."
            )
    return sentences


def _ceiling(audit: Audit) -> list[str]:
    """The cost per layer, and what it says at this depth."""
    ceiling, depth = audit.ceiling, audit.model.depth
    largest = min(audit.model.widths)
    first = f"The cost per layer is ‖θ‖²/L = {number(ceiling)}"
    k = math.floor(ceiling) + 1
    if k > largest:
        return [f"{first}; no rank here exceeds {largest}, the smallest width, so it bounds none."]
    most = number((ceiling / k) ** (depth / 2))
    return [
        f"{first}. So no Jacobian of the network, on the data or elsewhere, has a singular value "
        f"number {k} above ({number(ceiling)}/{k})^(L/2) = {most}. It bounds ranks in the limit of "
        f"infinite depth only: a function that networks of all depths compute at no more than this "
        f"cost per layer has Jacobians of rank no more than {math.floor(ceiling)}."
    ]


def _least(audit: Audit) -> list[str]:
    """How far from the least cost it is."""
    cost, least = audit.model.cost, None if audit.data is None else audit.data.least_cost
    if not least:
        return []
    first = (
        f"Every network of this depth with the same function costs at least {number(least)}, "
        "because of its largest Jacobian on the data."
    )
    if cost <= least * (1 + WORTH):
        return [f"{first} This one costs no more than {percent(max(0.0, cost / least - 1))} above."]
    return [
        f"{first} This one costs {number(cost)}, {cost / least:.3g} times as much; whether there "
        "is a cheaper one is not decided by this bound."
    ]


def _keeping(audit: Audit) -> list[str]:
    """Which layers do nothing but carry k directions on, and which least of all."""
    k = audit.rank
    known = [(layer.distance, layer) for layer in audit.layers if layer.distance is not None]
    if k == 0 or not known:
        return []
    near = carrying(audit)
    if not near:
        d, layer = min(known, key=lambda pair: pair[0])
        return [
            f"No layer is near a partial isometry of rank {k}: the nearest is {quoted(layer)}, "
            f"at a squared distance of {number(d)}."
        ]
    sentences = [] if audit.rank_is_clear else [carried(audit, near)]
    d, layer = max(known, key=lambda pair: pair[0])
    if d > k * NEAR**2:
        sentences.append(
            f"Farthest from a partial isometry of rank {k} is {quoted(layer)}, at a squared "
            f"distance of {number(d)}."
        )
    return sentences


def _structure(audit: Audit) -> list[str]:
    """Whether the singular values of the weights are near 1 and near 0."""
    k, layers = audit.rank, audit.layers
    if audit.data is None or k == 0 or len(layers) == 1:
        return []
    count = sum(_is_bottleneck(layer, k) for layer in layers)
    what = (
        f"exactly {many(k, 'singular value')} within {NEAR:g} of 1 and all others no more than "
        f"{NEAR:g}"
    )
    if 2 * count >= len(layers):
        return [
            f"The bottleneck structure is there in {count} of {len(layers)} layers: they have "
            f"{what}."
        ]
    if count:
        return [
            f"The bottleneck structure is there in {count} of {len(layers)} layers only, those "
            f"that have {what}."
        ]
    return [f"The bottleneck structure is not there: no layer has {what}."]


def _is_bottleneck(layer: LayerFacts, k: int) -> bool:
    rest = layer.singular_values[k:]
    return layer.near_one == k and all(s <= NEAR for s in rest)


def _balance(audit: Audit) -> list[str]:
    """What rescaling single neurons saves."""
    balanced, cost = audit.balanced, audit.model.cost
    if audit.model.depth == 1:
        return []
    if not balanced.converged:
        return ["How much rescaling neurons would save is not known: the iteration did not end."]
    saved = 1 - balanced.cost / cost
    if saved < WORTH:
        return [f"Rescaling single neurons would save less than {percent(WORTH)} of the cost."]
    if saved >= FREE:  # then it is what to do first
        return []
    return [
        f"Rescaling single neurons lowers the cost to {number(balanced.cost)}, by "
        f"{percent(saved)}, and does not change the function."
    ]


def _unsaid(audit: Audit) -> list[str]:
    """What cannot be said."""
    sentences = []
    data = audit.data
    if audit.model.slope == 1:
        sentences.append("The activation is the identity, so the network is an affine map.")
    if data is None:
        sentences.append(
            f"k = {audit.rank_text} is the numerical rank that most weights have, as there are no "
            "data."
        )
    elif data.undecided and (audit.rank_is_clear or not steps(audit)):
        falls = "" if steps(audit) else "the singular values fall without a step there, "
        sentences.append(
            f"At {data.undecided} of {many(data.points, 'point')} the rank of Jf(x) is not clear: "
            f"s_k is less than {GAP:g} times the next one, {falls}and another tolerance may give "
            "another k."
        )
    unclear = [layer for layer in audit.layers if not layer.rank.separated]
    if unclear and (data is not None or audit.rank_is_clear):
        sentences.append(
            f"The rank of the weights of {len(unclear)} of {many(len(audit.layers), 'layer')} "
            f"({names(unclear)}) is not clear: s_k is less than {GAP:g} times the next one."
        )
    if data is not None and data.kinks:
        sentences.append(
            f"At {many(data.kinks, 'point')} a hidden neuron is exactly at its kink. There f need "
            "not be differentiable, and the Jacobian is that with derivative 1 at the kink."
        )
    return sentences


def _cost(layer: LayerFacts) -> float:
    return layer.weights + layer.bias


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
