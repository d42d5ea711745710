r"""What follows from the figures of an audit, in sentences.

Nothing is said that does not follow. A bound at one depth is a bound at this depth: the rank of a
function is bounded by ‖θ‖²/L in the limit of infinite depth only, but at depth L, with c = ‖θ‖²/L,

.. math:: s_k(Jf(x)) \le (c/k)^{L/2} \quad\text{for every x (rank.small-second-singular-value),}

and every network of depth L with the same function costs at least
:math:`L \max_x \|Jf(x)\|_{S^{2/L}}^{2/L}` (rank.jacobian-bounds-cost).
"""

from __future__ import annotations

import math

from rankcheck.audit.ranks import GAP, NEAR
from rankcheck.audit.result import Audit, LayerFacts

__all__ = ["in_words"]

#: A saving of a smaller share of the cost is not worth a sentence of its own.
WORTH = 1e-3
#: So many names are written out.
NAMES = 4


def in_words(audit: Audit) -> tuple[str, ...]:
    """Sentences about an audit, the most general first."""
    if audit.model.cost == 0:
        return ("All parameters are 0, so the network is 0 everywhere.", *_unsaid(audit))
    return (
        *_unclear(audit),
        *_spending(audit),
        *_rank(audit),
        *_ceiling(audit),
        *_least(audit),
        *_keeping(audit),
        *_structure(audit),
        *_balance(audit),
        *_neurons(audit),
        *_unsaid(audit),
    )


def _unclear(audit: Audit) -> list[str]:
    """That the rank is undecided, which everything else rests on."""
    data = audit.data
    if audit.rank_is_clear:
        return []
    then = (
        "another tolerance may give another one. Training longer or with more weight decay is what "
        "usually decides it; until then look at the gaps"
    )
    if data is None:
        number = sum(not layer.rank.separated for layer in audit.layers)
        return [
            f"The rank {audit.rank_text} is undecided: in {number} of "
            f"{_many(len(audit.layers), 'layer')} s_k of the weights is less than {GAP:g} times "
            f"the next one, and {then}."
        ]
    median = "" if data.gaps is None else f" (median {data.gaps.median:.3g})"
    return [
        f"The rank {audit.rank_text} is undecided: at {data.undecided} of "
        f"{_many(data.points, 'point')} s_k of Jf(x) is less than {GAP:g} times the next one, and "
        f"{then}{median}."
    ]


def _spending(audit: Audit) -> list[str]:
    """On what the norm is spent: weights and biases, and which layers."""
    cost, layers = audit.model.cost, audit.layers
    biases = sum(layer.bias for layer in layers)
    sentences = [
        f"The network has {_many(len(layers), 'layer')} and costs ‖θ‖² = {_n(cost)}: "
        f"{_percent(1 - biases / cost)} for the weights, {_percent(biases / cost)} for the biases."
    ]
    if len(layers) > 1:
        dear = max(layers, key=_cost)
        cheap = min(layers, key=_cost)
        if _cost(dear) <= 1.1 * _cost(cheap):
            sentences.append(
                f"Its layers cost nearly the same, {_n(_cost(cheap))} to {_n(_cost(dear))} each."
            )
        else:
            sentences.append(
                f"Layer {_quoted(dear)} costs most, {_n(_cost(dear))} "
                f"({_percent(_cost(dear) / cost)}), and {_quoted(cheap)} least, "
                f"{_n(_cost(cheap))}."
            )
    return sentences


def _rank(audit: Audit) -> list[str]:
    """The rank that most points have, and the cost beyond it."""
    data, k, depth = audit.data, audit.rank, audit.model.depth
    if data is None:
        return []
    sentences = [
        f"Jf(x) has numerical rank {audit.rank_text} at {data.ranks.get(k, 0)} of "
        f"{_many(data.points, 'point')}: so many of its singular values are "
        f"above {data.tolerance:g} times the largest."
    ]
    for bound in data.bounds:
        if bound.rank == k and k > 0 and bound.logs is not None:
            sign = "" if bound.excess >= 0 else ", less than nothing because its layers are small"
            sentences.append(
                f"A rank of {k} in {_many(depth, 'layer')} accounts for kL = {k * depth} of the "
                f"cost. The rest is {_n(bound.excess)}{sign}; it is no less than "
                f"2 log|Jf(x)| = {_n(bound.logs)}, taken over {_many(k, 'singular value')} at the "
                "point where that is largest."
            )
    return sentences


def _ceiling(audit: Audit) -> list[str]:
    """The cost per layer, and what it says at this depth."""
    ceiling, depth = audit.ceiling, audit.model.depth
    largest = min(audit.model.widths)
    first = f"The cost per layer is ‖θ‖²/L = {_n(ceiling)}"
    k = math.floor(ceiling) + 1
    if k > largest:
        return [f"{first}; no rank here exceeds {largest}, the smallest width, so it bounds none."]
    most = _n((ceiling / k) ** (depth / 2))
    return [
        f"{first}. So no Jacobian of the network, on the data or elsewhere, has a singular value "
        f"number {k} above ({_n(ceiling)}/{k})^(L/2) = {most}. It bounds ranks in the limit of "
        f"infinite depth only: a function that networks of all depths compute at no more than this "
        f"cost per layer has Jacobians of rank no more than {math.floor(ceiling)}."
    ]


def _least(audit: Audit) -> list[str]:
    """How far from the least cost it is."""
    cost, least = audit.model.cost, None if audit.data is None else audit.data.least_cost
    if not least:
        return []
    first = (
        f"Every network of this depth with the same function costs at least {_n(least)}, because "
        "of its largest Jacobian on the data."
    )
    if cost <= least * (1 + WORTH):
        return [
            f"{first} This one costs no more than {_percent(max(0.0, cost / least - 1))} above."
        ]
    return [
        f"{first} This one costs {_n(cost)}, {cost / least:.3g} times as much; whether there is a "
        "cheaper one is not decided by this bound."
    ]


def _keeping(audit: Audit) -> list[str]:
    """Which layers do nothing but carry k directions on."""
    k = audit.rank
    if k == 0:
        return []
    known = [(layer.distance, layer) for layer in audit.layers if layer.distance is not None]
    near = [(d, layer) for d, layer in known if d <= k * NEAR**2]
    if not known:
        return []
    total = len(audit.layers)
    if not near:
        d, layer = min(known, key=lambda pair: pair[0])
        return [
            f"No layer is near a partial isometry of rank {k}: the nearest is {_quoted(layer)}, "
            f"at a squared distance of {_n(d)}."
        ]
    distances = [d for d, _ in near]
    names = _names([layer for _, layer in near])
    first = (
        f"{len(near)} of {_many(total, 'layer')} ({names}) do little "
        f"but carry {_many(k, 'direction')} on: their weights are at squared distances of "
        f"{_n(min(distances))} to {_n(max(distances))} from partial isometries of rank {k}."
    )
    far = [(d, layer) for d, layer in known if d > k * NEAR**2]
    if far:
        d, layer = max(far, key=lambda pair: pair[0])
        first += f" Farthest from one is {_quoted(layer)}, at {_n(d)}."
    return [first]


def _structure(audit: Audit) -> list[str]:
    """Whether the singular values of the weights are near 1 and near 0."""
    k, layers = audit.rank, audit.layers
    if audit.data is None or k == 0 or len(layers) == 1:
        return []
    number = sum(_is_bottleneck(layer, k) for layer in layers)
    what = (
        f"exactly {_many(k, 'singular value')} within {NEAR:g} of 1 and all others no more than "
        f"{NEAR:g}"
    )
    if 2 * number >= len(layers):
        return [
            f"The bottleneck structure is there in {number} of {len(layers)} layers: they have "
            f"{what}."
        ]
    if number:
        return [
            f"The bottleneck structure is there in {number} of {len(layers)} layers only, those "
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
        return [f"Rescaling single neurons would save less than {_percent(WORTH)} of the cost."]
    change = balanced.change
    seen = "" if change is None else f" (on the data it changes by {change:.0e}, relatively)"
    return [
        f"Rescaling single neurons lowers the cost to {_n(balanced.cost)}, by {_percent(saved)}, "
        f"and does not change the function{seen}."
    ]


def _neurons(audit: Audit) -> list[str]:
    """What the hidden neurons do on the data."""
    data = audit.data
    hidden = audit.layers[:-1]
    if data is None or not hidden:
        return []
    sentences = []
    number = sum(layer.shape[0] for layer in hidden)
    dead = sum(layer.dead or 0 for layer in hidden)
    if dead and data.dead_cost is not None:
        share = data.dead_cost / audit.model.cost
        less = f"{_n(data.dead_cost)} less ({_percent(share)})"
        if share < WORTH:
            less = f"less, by under {_percent(WORTH)},"
        sentences.append(
            f"{dead} of {_many(number, 'hidden neuron')} are never above 0 on the data. Without "
            f"them the network would cost {less} and have the same values at these points; "
            "elsewhere the values may differ."
        )
    if all(layer.bent == 0 for layer in hidden):
        sentences.append(
            "No hidden neuron has both signs on the data, so there the network is a single affine "
            "map."
        )
    return sentences


def _unsaid(audit: Audit) -> list[str]:
    """What cannot be said."""
    sentences = []
    data = audit.data
    if audit.model.slope == 1:
        sentences.append("The activation is the identity, so the network is an affine map.")
    if data is None:
        sentences.append(
            f"There are no data, so nothing is said of Jacobians, kernels and neurons; k = "
            f"{audit.rank_text} is the numerical rank that most weights have."
        )
    elif data.undecided and audit.rank_is_clear:
        sentences.append(
            f"At {data.undecided} of {_many(data.points, 'point')} the rank of Jf(x) is not clear: "
            f"s_k is less than {GAP:g} times the next one, and another tolerance may give another "
            "k."
        )
    unclear = [layer for layer in audit.layers if not layer.rank.separated]
    if unclear and (data is not None or audit.rank_is_clear):
        sentences.append(
            f"The rank of the weights of {len(unclear)} of {_many(len(audit.layers), 'layer')} "
            f"({_names(unclear)}) is not clear: s_k is less than {GAP:g} times the next one."
        )
    if data is not None and data.kinks:
        sentences.append(
            f"At {_many(data.kinks, 'point')} a hidden neuron is exactly at its kink. There f need "
            "not be differentiable, and the Jacobian is that with derivative 1 at the kink."
        )
    return sentences


# Text


def _cost(layer: LayerFacts) -> float:
    return layer.weights + layer.bias


def _n(value: float) -> str:
    return f"{value:.4g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _quoted(layer: LayerFacts) -> str:
    return f"“{layer.name}”"


def _names(layers: list[LayerFacts]) -> str:
    names = [_quoted(layer) for layer in layers]
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return ", ".join(names[:NAMES]) + more
