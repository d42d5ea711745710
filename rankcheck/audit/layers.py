"""What is measured of an affine map: singular values, ranks, balance, its neurons on the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from rankcheck.audit.model import Model
from rankcheck.audit.points import Seen, batch_size, on_device
from rankcheck.audit.ranks import NEAR, rank_facts, ranks_and_gaps
from rankcheck.audit.result import Balanced, LayerFacts, most_common
from rankcheck.theory.linalg import frobenius_squared, rank_threshold
from rankcheck.theory.networks import Network, neuron_imbalances
from rankcheck.theory.witnesses.projections import isometry_distance


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
    return s / s[0] if s[0] > 0 else torch.zeros_like(s)


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
    energies: list[float | None] = [None] * net.depth
    representations: list[tuple[float, ...] | None] = [None] * net.depth
    if seen is not None:
        pairs = zip(seen.above, seen.below, strict=True)
        counted = [(~above, ~below, above & below) for above, below in pairs]
        neurons[:-1] = [tuple(int(each.sum()) for each in some) for some in counted]
        points = len(seen.noise)
        means = [total / points for total in seen.second]
        energies = [float(mean.trace()) for mean in means]
        representations = [tuple(_roots(mean)[:points].tolist()) for mean in means]
    return [
        LayerFacts(
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
            imbalance=imbalances[index],
            dead=neurons[index][0],
            linear=neurons[index][1],
            bent=neurons[index][2],
            energy=energies[index],
            representation=representations[index],
        )
        for index, (w, b, s) in enumerate(zip(net.weights, net.biases, spectra, strict=True))
    ]


def _roots(C: Tensor) -> Tensor:
    """The roots of the eigenvalues of a positive semidefinite C, the largest first.

    Those that are rounding, at most (8 n ε)^½ times the largest, are 0.
    """
    values = torch.linalg.eigvalsh(C).flip(-1)
    return torch.where(values > rank_threshold(C, values.abs()), values, 0.0).sqrt()


def balance(model: Model, X: Tensor | None = None, *, device: str = "cpu") -> Balanced:
    """Balance the neurons, and compare the values at the points X (N, n_0)."""
    net = model.net
    try:
        other = model.balanced
    except ArithmeticError:
        return Balanced(float(net.cost()), None if X is None else 0.0, converged=False)
    change = None if X is None else _change(on_device(net, device), on_device(other, device), X)
    return Balanced(min(float(other.cost()), float(net.cost())), change)


def _change(net: Network, other: Network, X: Tensor) -> float:
    """max |f(x) − g(x)| / max |f(x)|, over the points and the outputs; 0 if f = g."""
    largest = different = 0.0
    for x in X.split(batch_size(net)):
        here = x.to(net.weights[0].device)
        value = net(here)
        largest = max(largest, float(value.abs().max()))
        different = max(different, float((value - other(here)).abs().max()))
    return different / largest if largest else different
