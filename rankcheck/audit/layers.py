"""What is measured of an affine map: singular values, ranks, balance, its neurons on the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from rankcheck.audit.model import Model
from rankcheck.audit.part import Job, Part, batch_size
from rankcheck.audit.ranks import NEAR, TOLERANCE, rank_facts, ranks_and_gaps
from rankcheck.audit.result import Balanced, LayerFacts, most_common
from rankcheck.linalg import frobenius_squared, rank_threshold, singular_values
from rankcheck.networks import Network, neuron_imbalances
from rankcheck.witnesses.projections import isometry_distance

__all__ = [
    "balance",
    "dead_cost",
    "effective_rank",
    "measure_layers",
    "participation",
    "relative_imbalances",
    "spectra",
    "stable_rank",
]


def stable_rank(s: Tensor) -> float:
    """‖A‖_F² / ‖A‖_op², for the singular values s of A; 0 for A = 0.

    At most the rank, and continuous. It is not the rank: a value of 2 may belong to two equal
    singular values, or to one large and a hundred small ones.
    """
    s = _scaled(s)
    return float((s * s).sum())


def effective_rank(s: Tensor) -> float:
    """exp(−Σ p_i log p_i) with p_i = s_i / Σ s, for the singular values s of A; 0 for A = 0.

    At most the rank (Roy and Vetterli, 2007). It is not the number of directions in which A does
    much: many small singular values count as much as a large one.
    """
    s = _scaled(s)
    total = float(s.sum())
    return float(torch.special.entr(s / total).sum().exp()) if total else 0.0


def participation(s: Tensor) -> float:
    """(Σ s_i²)² / Σ s_i⁴, for the singular values s of A; 0 for A = 0.

    At most the rank. It is not sensitive to small singular values: whether they vanish does not
    show.
    """
    squares = _scaled(s) ** 2
    total = float(squares.sum())
    return total * total / float((squares * squares).sum()) if total else 0.0


def _scaled(s: Tensor) -> Tensor:
    """s / s_1, so that no power overflows; 0 if s_1 = 0."""
    return s / s[0] if len(s) and s[0] > 0 else torch.zeros_like(s)


def relative_imbalances(net: Network) -> list[Tensor]:
    """|in − out| / (in + out) of the hidden neurons, shapes (n_ℓ), for ℓ = 1..L−1.

    `in` is ‖W_{ℓ,i·}‖² + b_{ℓ,i}², and `out` is ‖W_{ℓ+1,·i}‖². 0 where both vanish.
    """
    shares = []
    for difference, after in zip(neuron_imbalances(net), net.weights[1:], strict=True):
        total = difference + 2 * (after * after).sum(-2)
        shares.append((difference.abs() / torch.where(total > 0, total, 1.0)).clamp(max=1.0))
    return shares


def dead_cost(net: Network, measured: Part) -> float:
    """‖θ‖² minus that of the network without the neurons that are nowhere above 0 on the data."""
    alive = [torch.ones(net.widths[0]), *(torch.from_numpy(a).double() for a in measured.above)]
    alive.append(torch.ones(net.widths[-1]))
    lost = 0.0
    for w, b, before, after in zip(net.weights, net.biases, alive[:-1], alive[1:], strict=True):
        both = after.unsqueeze(-1) * before  # 1 where both ends are alive
        lost += float((w * w * (1 - both)).sum()) + float((b * b * (1 - after)).sum())
    return lost


def spectra(net: Network) -> list[Tensor]:
    """The singular values of W_1, ..., W_L."""
    return [singular_values(w) for w in net.weights]


def measure_layers(
    model: Model,
    *,
    rank: int | None = None,
    tolerance: float = TOLERANCE,
    values: Sequence[Tensor] | None = None,
    data: Part | None = None,
) -> list[LayerFacts]:
    """The facts of each layer.

    Args:
        rank: k of the audit; by default the rank that most layers have.
        tolerance: the share of its largest singular value up to which a singular value is zero.
        values: the `spectra` of the network, if they are known.
        data: what was measured at the points of the data, if there are any.
    """
    net = model.net
    values = spectra(net) if values is None else values
    ranks = []
    for w, s in zip(net.weights, values, strict=True):
        count, gap, threshold = ranks_and_gaps(w, s, tolerance)
        ranks.append(rank_facts(int(count), float(gap), float(threshold)))
    k = most_common(Counter(each.rank for each in ranks)) if rank is None else rank
    imbalances = relative_imbalances(net)
    measured = []
    for index, (w, b, s) in enumerate(zip(net.weights, net.biases, values, strict=True)):
        hidden = index < net.depth - 1
        facts = LayerFacts(
            name=model.names[index],
            shape=(w.shape[0], w.shape[1]),
            weights=float(frobenius_squared(w)),
            bias=float((b * b).sum()),
            singular_values=tuple(s.tolist()),
            near_one=int(((s - 1).abs() <= NEAR).sum()),
            rank=ranks[index],
            stable_rank=stable_rank(s),
            effective_rank=effective_rank(s),
            participation=participation(s),
            distance=float(isometry_distance(s, torch.tensor(k))) if k <= len(s) else None,
            imbalance=float(imbalances[index].max()) if hidden else None,
        )
        if data is not None:
            facts = _on_data(facts, data, index)
        measured.append(facts)
    return measured


def _on_data(facts: LayerFacts, data: Part, index: int) -> LayerFacts:
    second = torch.from_numpy(data.second[index]) / len(data)
    if index < len(data.above):
        above, below = data.above[index], data.below[index]
        facts = replace(
            facts,
            dead=int((~above).sum()),
            linear=int((~below).sum()),
            bent=int((above & below).sum()),
        )
    return replace(
        facts,
        energy=float(second.trace()),
        representation=tuple(_roots(second)[: len(data)].tolist()),
    )


def _roots(C: Tensor) -> Tensor:
    """The roots of the eigenvalues of a positive semidefinite C, the largest first.

    Those that are rounding, at most (8 n ε)^½ times the largest, are 0.
    """
    values = torch.linalg.eigvalsh(C).flip(-1)
    zero = rank_threshold(C, values.abs())
    return torch.where(values > zero, values, 0.0).sqrt()


def balance(model: Model, X: Tensor | None = None, *, device: str = "cpu") -> Balanced:
    """Balance the neurons, and compare the values at the points X (N, n_0)."""
    net = model.net
    try:
        other = model.balanced
    except ArithmeticError:
        return Balanced(float(net.cost()), None if X is None else 0.0, converged=False)
    change = None if X is None else _change(net, other, X, device)
    return Balanced(min(float(other.cost()), float(net.cost())), change)


def _change(net: Network, other: Network, X: Tensor, device: str) -> float:
    """max |f(x) − g(x)| / max |f(x)|, over the points and the outputs; 0 if f = g."""
    one, two = (Job(each, (), device).on_device().net for each in (net, other))
    largest = different = 0.0
    for x in X.split(batch_size(net)):
        here = one(x.to(device))
        largest = max(largest, float(here.abs().max()))
        different = max(different, float((here - two(x.to(device))).abs().max()))
    return different / largest if largest else different
