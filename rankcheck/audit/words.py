r"""What follows from the figures of an audit, in sentences; what asks for something comes first.

Nothing is said that does not follow: what is saved is a difference of two costs that were computed,
and what a neuron does is said of the data alone. Every network of depth L with the same function
costs at least :math:`L \max_x \|Jf(x)\|_{S^{2/L}}^{2/L}` (rank.jacobian-bounds-cost).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rankcheck.audit.ranks import GAP, NEAR
from rankcheck.audit.result import Audit, LayerFacts

#: A saving of a smaller share of the cost is no reason to do anything.
FREE = 0.01
#: Singular values that fall by this factor have a step, though a rank is not clear there.
STEP = 3.0


def in_words(audit: Audit) -> tuple[str, ...]:
    """Sentences about an audit."""
    if audit.model.cost == 0:
        return ("All parameters are 0, so the network is 0 everywhere.", *_reservations(audit))
    return (
        *_failing(audit),
        *_unclear(audit),
        *_free(audit),
        *_dead(audit),
        *_straight(audit),
        *_carrying(audit),
        *_bounds(audit),
        *_reservations(audit),
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


def _unclear(audit: Audit) -> list[str]:
    """That the rank is undecided, and whether training on would decide it.

    A step that is there grows while a network is trained on with weight decay, and decides the
    rank; a spectrum that falls evenly has no rank to be decided.
    """
    data = audit.data
    if data is None:
        gaps = [one.rank.gap or 0.0 for one in audit.layers if not one.rank.separated]
        undecided, of = len(gaps), f"{many(len(audit.layers), 'layer')} s_k of the weights"
        steps = 2 * sum(gap >= STEP for gap in gaps) >= len(gaps)
    else:
        undecided, of = data.undecided, f"{many(data.points, 'point')} s_k of Jf(x)"
        steps = data.gaps is not None and data.gaps.median >= STEP
    if not undecided:
        return []
    where = f"At {undecided} of {of} is less than {GAP:g} times the next one"
    if audit.rank_is_clear:
        return [f"{where}: there the rank is not clear."]
    if not steps:
        return [f"The rank {audit.rank_text} is undecided. {where}, and it falls without a step."]
    return [
        f"The rank {audit.rank_text} is undecided. {where}, but {STEP:g} times the next one or "
        "more at most of them: a step like this grows with longer training and more weight decay."
    ]


def _free(audit: Audit) -> list[str]:
    """How much of the norm rescaling neurons saves."""
    balanced, cost = audit.balanced.cost, audit.model.cost
    if 1 - balanced / cost < FREE:
        return []
    return [
        f"{percent(1 - balanced / cost)} of the norm ‖θ‖² is free: rescaling single neurons "
        f"(`rankcheck.networks.balance_neurons`) gives the same function at a cost of "
        f"{number(balanced)} instead of {number(cost)}."
    ]


def _dead(audit: Audit) -> list[str]:
    """The neurons that never fire on the data."""
    data, hidden = audit.data, audit.layers[:-1]
    dead = sum(layer.dead or 0 for layer in hidden)
    if data is None or data.dead_cost is None or not dead:
        return []
    layers = numbers([i for i, layer in enumerate(hidden, 1) if layer.dead])
    share = percent(data.dead_cost / audit.model.cost)
    return [
        f"{dead} of {many(sum(layer.shape[0] for layer in hidden), 'hidden neuron')} never "
        f"fire{'s' if dead == 1 else ''} on the data (behind {layers}). Without "
        f"{'it' if dead == 1 else 'them'} the network costs {number(data.dead_cost)} less "
        f"({share}) and has the same values at these points; elsewhere the values may differ."
    ]


def _straight(audit: Audit) -> list[str]:
    """The layers behind which no neuron bends on the data."""
    hidden = audit.layers[:-1]
    straight = [i for i, layer in enumerate(hidden, 1) if layer.bent == 0]
    if not straight:
        return []
    if len(straight) == len(hidden):
        return [
            "No hidden neuron has both signs on the data, so there the network is a single affine "
            "map: the nonlinearity is not used."
        ]
    return [
        f"Behind {numbers(straight)} no neuron has both signs on the data, so there "
        f"{'it' if len(straight) == 1 else 'each of them'} is one affine map with the next layer."
    ]


def _carrying(audit: Audit) -> list[str]:
    """The layers that do little but carry k directions on."""
    k, layers = audit.rank, audit.layers
    near = {
        i: one
        for i, one in enumerate(layers, 1)
        if one.distance is not None and one.distance <= k * NEAR**2
    }
    if not k or not near or len(layers) == 1:
        return []
    share = percent(sum(map(_cost, near.values())) / audit.model.cost)
    advice = " A shallower network may do." if audit.rank_is_clear else ""
    return [
        f"{numbers(list(near)).capitalize()} do{'es' if len(near) == 1 else ''} little but carry "
        f"{many(k, 'direction')} on, at {share} of the cost: within {NEAR**2 * k:.3g} of a partial "
        f"isometry of rank {k}, in squared distance.{advice}"
    ]


def _bounds(audit: Audit) -> list[str]:
    """How far the cost is from what it is at least."""
    data, cost = audit.data, audit.model.cost
    if data is None or not data.least_cost:
        return []
    return [
        f"Every network of this depth with the same function costs at least "
        f"{number(data.least_cost)}, because of its largest Jacobian on the data. This one costs "
        f"{number(cost)}, {cost / data.least_cost:.4g} times as much; whether there is a cheaper "
        "one is not decided by this bound."
    ]


def _reservations(audit: Audit) -> list[str]:
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
    elif data.kinks:
        sentences.append(
            f"At {many(data.kinks, 'point')} a hidden neuron is exactly at its kink. There f need "
            "not be differentiable, and the Jacobian is that with derivative 1 at the kink."
        )
    return sentences


def _cost(layer: LayerFacts) -> float:
    return layer.weights + layer.bias


def number(value: float) -> str:
    """Four digits; whole numbers below a million have all of theirs."""
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e6 else f"{value:.4g}"


def percent(share: float) -> str:
    """A share with three digits: `16.2 %`."""
    return f"{100 * share:.3g} %"


def many(count: int, what: str) -> str:
    """`1 layer`, `2 layers`."""
    return f"{count} {what}{'s' * (count != 1)}"


def numbers(layers: Sequence[int]) -> str:
    """Increasing numbers of layers as ranges.

    >>> numbers([2]), numbers([1, 3, 4, 5, 7, 8])
    ('layer 2', 'layers 1, 3–5, 7–8')
    """
    ends = [one for one, after in pairwise([*layers, -1]) if after != one + 1]
    starts = [one for before, one in pairwise([-1, *layers]) if one != before + 1]
    runs = zip(starts, ends, strict=True)
    text = ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs)
    return f"layer{'s' * (len(layers) > 1)} {text}"
