"""Proof of Theorem 16 of `bottleneck`: in a balanced network the norms of the layers grow."""

from fractions import Fraction

import torch

from rankcheck import Erratum, bound, leq, paper, refuted
from rankcheck.instances.balanced import balanced_networks_at_points
from rankcheck.instances.networks import balanced_linear_networks, networks_at_points
from rankcheck.linalg import frobenius_squared, schatten_power
from rankcheck.witnesses.projections import (
    bottleneck,
    log_determinant_of_rank,
    surviving_jacobians,
)


def growth_of_first_layers(net, x, at):
    """|Jα̃_ℓ(x) P|_+^{2/k} for ℓ = 1..L, shape (*B, L)."""
    maps = surviving_jacobians(net, x, at.rank)
    logs = torch.stack([log_determinant_of_rank(M, at.rank) for M in maps], -1)
    return (logs * 2 / at.count.unsqueeze(-1)).exp()


def steps(net, x):
    """ℓ = 1..L, to be combined with arrays (*B, L)."""
    return torch.arange(1, net.depth + 1, device=x.device)


@bound(
    "bottleneck.growing-norms",
    paper("bottleneck", "proof of Thm 16 (corrected)"),
    instances=balanced_networks_at_points(depth=(2, 4), constructions=("exact", "rescaled")),
    tight=balanced_linear_networks(depth=(2, 6), equal=True),
    needs={"balanced parameters": networks_at_points(depth=(2, 4), width=(1, 3))},
    effort=0.5,
)
def test_growing_norms(net, x):
    r"""In a balanced network the norms grow, so the first layers are below the mean.

    For balanced parameters $\|W_{\ell+1}\|_F^2 \ge \|W_\ell\|_F^2$, so that
    $\frac1\ell \sum_{j \le \ell} \|W_j\|_F^2 \le \frac1L \|\theta\|^2$. With
    $k = \operatorname{rank} Jf(x) \ge 1$, $c_1 = \|\theta\|^2 - kL$ and $P$ the projection onto the row
    space of $Jf(x)$,

    $$|J\tilde\alpha_\ell(x) P|_+^{2/(k\ell)} \le \frac1{k\ell} \sum_{j \le \ell} \|W_j\|_F^2
      \le 1 + \frac{c_1}{kL}.$$
    """
    at = bottleneck(net, x)
    some, k, layers = at.rank > 0, at.count.unsqueeze(-1), steps(net, x)
    norms = torch.stack([frobenius_squared(w) for w in net.weights], -1)
    means = norms.cumsum(-1) / layers
    mean = (net.cost() / net.depth).unsqueeze(-1)
    growth = growth_of_first_layers(net, x, at)
    error = 2**10 * growth * at.error.unsqueeze(-1)
    powers = (means / k) ** layers
    return (
        leq(norms[..., :-1], norms[..., 1:], label="the layers"),
        leq(means, mean, label="their means"),
        leq(growth, powers, where=some, error=error, label="the Jacobian of the first layers"),
    )


@refuted(
    "bottleneck.growing-norms-as-printed",
    paper("bottleneck", "proof of Thm 16"),
    instances=balanced_networks_at_points(constructions=("exact",)),
    errata=Erratum(
        printed="TODO",
        right="Print has the Schatten exponent 2/L. For the first ℓ layers it is 2/ℓ.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="bottleneck.growing-norms",
)
def test_growing_norms_as_printed(net, x):
    r"""The growth of the first ℓ layers is bounded by a Schatten sum of exponent 2/L.

    For balanced parameters and $k = \operatorname{rank} Jf(x) \ge 1$, on the row space of $Jf(x)$,
    $|J\tilde\alpha_\ell(x)|_+^{2/(k\ell)} \le \frac1k \|J\tilde\alpha_\ell(x)\|_{S^{2/L}}^{2/L}$ for every
    $\ell \le L$.
    """
    at = bottleneck(net, x)
    k, L = at.count.unsqueeze(-1), net.depth
    maps = surviving_jacobians(net, x, at.rank)
    powers = torch.stack([schatten_power(M, Fraction(2, L)) for M in maps], -1)
    logs = torch.stack([log_determinant_of_rank(M, at.rank) for M in maps], -1)
    growth = (logs * 2 / (k * steps(net, x))).exp()
    return leq(growth, powers / k, where=at.rank > 0)


@refuted(
    "bottleneck.growing-norms-exponent-as-printed",
    paper("bottleneck", "proof of Thm 16"),
    instances=balanced_networks_at_points(constructions=("exact",)),
    errata=Erratum(
        printed="TODO",
        right="Print has (1 + c_1/L)^ℓ. Right is (1 + c_1/(kL))^ℓ, which is at most e^{(ℓ/L) c_1/k}.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="bottleneck.growing-norms",
)
def test_growing_norms_exponent_as_printed(net, x):
    r"""The growth of the first layers is bounded by powers of 1 + c_1/L.

    For balanced parameters, $k = \operatorname{rank} Jf(x) \ge 1$ and $c_1 = \|\theta\|^2 - kL$, on the
    row space of $Jf(x)$: $|J\tilde\alpha_\ell(x)|_+^{2/k} \le (1 + c_1/L)^\ell \le e^{(\ell/L)(c_1/k)}$
    for every $\ell \le L$.
    """
    at = bottleneck(net, x)
    some, layers = at.rank > 0, steps(net, x)
    middle = (1 + at.excess / net.depth).unsqueeze(-1) ** layers
    exponent = (at.excess / at.count / net.depth).unsqueeze(-1) * layers
    return (
        leq(growth_of_first_layers(net, x, at), middle, where=some, label="the first layers"),
        leq(middle, exponent.exp(), where=some, label="the exponential"),
    )
