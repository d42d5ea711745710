r"""What to do about a network first, in sentences: the most useful one comes first.

Every figure is the audit's own, and nothing is said that does not follow from them: what is saved
is a difference of two costs that were computed, and what a neuron does is said of the data alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankcheck.audit.part_facts import LayerFacts
from rankcheck.audit.phrases import many, names, number, percent, runs
from rankcheck.audit.ranks import GAP, NEAR
from rankcheck.audit.result import Audit

__all__ = ["FREE", "WORTH", "advice", "carried", "carrying"]

#: A saving of a smaller share of the cost is no reason to do anything.
FREE = 0.01
#: One of a smaller share is given as this.
WORTH = 1e-3


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


def _unclear(audit: Audit) -> list[str]:
    """That the rank is undecided, which much else rests on."""
    data = audit.data
    if audit.rank_is_clear:
        return []
    then = (
        "another tolerance may give another one. Training longer or with more weight decay is what "
        "usually decides it; until then look at the gaps"
    )
    if data is None:
        undecided = sum(not layer.rank.separated for layer in audit.layers)
        return [
            f"The rank {audit.rank_text} is undecided: in {undecided} of "
            f"{many(len(audit.layers), 'layer')} s_k of the weights is less than {GAP:g} times "
            f"the next one, and {then}."
        ]
    median = "" if data.gaps is None else f" (median {data.gaps.median:.3g})"
    return [
        f"The rank {audit.rank_text} is undecided: at {data.undecided} of "
        f"{many(data.taken, 'point')} s_k of Jf(x) is less than {GAP:g} times the next one, and "
        f"{then}{median}."
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
        f"{percent(saved)} of the norm ‖θ‖² is free: `--balanced FILE` (in Python "
        f"`balanced_parameters`) gives the same function {less}{seen}."
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
    if not audit.model.is_chain:
        if any(name.startswith("Leaky") for name in audit.model.activations):
            return []  # negative neurons do something
        return [
            f"{many(dead, 'hidden neuron or channel', 'hidden neurons or channels')} {fire}: "
            f"without {them} the network has {values}."
        ]
    if data.dead_cost is None:
        return []
    width = sum(layer.shape[0] for layer in hidden)
    share = data.dead_cost / audit.model.cost
    less = f"costs {number(data.dead_cost)} less ({percent(share)}) and"
    if share < WORTH:
        less = f"costs less, by under {percent(WORTH)}, and"
    return [
        f"{dead} of {many(width, 'hidden neuron')} {fire}: `--prune FILE` (in Python "
        f"`prune`) leaves {them} out. Without {them} the network {less} has {values}."
    ]


def _straight(audit: Audit) -> list[str]:
    """The layers behind which no neuron bends on the data."""
    hidden = _hidden(audit)
    straight = [(i, layer) for i, layer in enumerate(hidden, 1) if layer.bent == 0]
    if not straight or not audit.model.is_chain:
        return []
    if len(straight) == len(hidden):
        return [
            "No hidden neuron has both signs on the data, so there the network is a single affine "
            "map: the nonlinearity is not used. `--prune FILE` joins its layers where that is "
            "smaller."
        ]
    numbers = runs([i for i, _ in straight])
    one = len(straight) == 1
    return [
        f"Behind {'layer' if one else 'layers'} {numbers} ({names([two for _, two in straight])}) "
        f"no neuron has both signs on the data, so there {'it' if one else 'each of them'} is one "
        "affine map with the next layer: `--prune FILE` joins the two where that is smaller."
    ]


def _crowded(audit: Audit) -> list[str]:
    """The layers with more linear neurons than inputs, some of which are combinations of others."""
    if not audit.model.is_chain:
        return []
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
        f"{'is a combination' if more == 1 else 'are combinations'} of others, and `--prune FILE` "
        "folds them into these."
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
    if not near or not audit.model.is_chain or not audit.rank_is_clear or len(audit.layers) == 1:
        return []
    return [f"{carried(audit, near)} A shallower network may do."]


def _hidden(audit: Audit) -> Sequence[LayerFacts]:
    """The layers with neurons behind them: all but the last one; of a graph, those that say so."""
    if audit.model.is_chain:
        return audit.layers[:-1]
    return [layer for layer in audit.layers if layer.bent is not None]
