r"""What follows from the figures of an audit, in sentences.

Nothing is said that does not follow. A bound at one depth is a bound at this depth: the rank of a
function is bounded by ‖θ‖²/L in the limit of infinite depth only, but at depth L, with c = ‖θ‖²/L,

.. math:: s_k(Jf(x)) \le (c/k)^{L/2} \quad\text{for every x (rank.small-second-singular-value),}

and every network of depth L with the same function costs at least
:math:`L \max_x \|Jf(x)\|_{S^{2/L}}^{2/L}` (rank.jacobian-bounds-cost).
"""

from __future__ import annotations

import math

from rankcheck.audit.advice import (
    FREE,
    WORTH,
    carried,
    carrying,
    many,
    names,
    number,
    percent,
    quoted,
    steps,
)
from rankcheck.audit.ranks import GAP, NEAR
from rankcheck.audit.result import Audit, LayerFacts

__all__ = ["in_words"]


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
