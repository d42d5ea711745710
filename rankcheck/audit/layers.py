"""What is measured of an affine map: singular values, rank, balance, its neurons on the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from rankcheck.audit.model import Model
from rankcheck.audit.points import Seen
from rankcheck.audit.ranks import rank_facts, ranks_and_gaps
from rankcheck.audit.result import LayerFacts, most_common
from rankcheck.linalg import frobenius_squared
from rankcheck.networks import Network, neuron_imbalances
from rankcheck.witnesses.projections import isometry_distance

__all__ = ["measure_layers", "relative_imbalances"]


def relative_imbalances(net: Network) -> list[Tensor]:
    """|in − out| / (in + out) of the hidden neurons, shapes (n_ℓ), for ℓ = 1..L−1.

    `in` is ‖W_{ℓ,i·}‖² + b_{ℓ,i}², and `out` is ‖W_{ℓ+1,·i}‖². 0 where both vanish.
    """
    shares = []
    for difference, after in zip(neuron_imbalances(net), net.weights[1:], strict=True):
        total = difference + 2 * (after * after).sum(-2)
        shares.append((difference.abs() / torch.where(total > 0, total, 1.0)).clamp(max=1.0))
    return shares


def measure_layers(
    model: Model,
    spectra: Sequence[Tensor],
    *,
    rank: int | None = None,
    seen: Seen | None = None,
) -> list[LayerFacts]:
    """The facts of each layer.

    Args:
        spectra: the singular values of W_1, ..., W_L.
        rank: k of the audit; by default the rank that most layers have.
        seen: what was measured at the points of the data, if there are any.
    """
    net = model.net
    ranks = []
    for w, s in zip(net.weights, spectra, strict=True):
        count, gap = ranks_and_gaps(w, s)
        ranks.append(rank_facts(int(count), float(gap)))
    k = most_common(Counter(each.rank for each in ranks)) if rank is None else rank
    imbalances = [*(float(each.max()) for each in relative_imbalances(net)), None]
    neurons: list[tuple[int | None, ...]] = [(None,) * 3] * net.depth
    if seen is not None:
        pairs = zip(seen.above, seen.below, strict=True)
        counted = [(~above, ~below, above & below) for above, below in pairs]
        neurons[:-1] = [tuple(int(each.sum()) for each in some) for some in counted]
    return [
        LayerFacts(
            name=model.names[index],
            shape=(w.shape[0], w.shape[1]),
            weights=float(frobenius_squared(w)),
            bias=float((b * b).sum()),
            singular_values=tuple(s.tolist()),
            rank=ranks[index],
            distance=float(isometry_distance(s, torch.tensor(k))) if k <= len(s) else None,
            imbalance=imbalances[index],
            dead=neurons[index][0],
            linear=neurons[index][1],
            bent=neurons[index][2],
        )
        for index, (w, b, s) in enumerate(zip(net.weights, net.biases, spectra, strict=True))
    ]
