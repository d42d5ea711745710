"""Theorem 7/16 of `bottleneck`: a bounded tangent kernel bounds most activations."""

from fractions import Fraction

import torch

from rankcheck import Erratum, Need, Network, bound, leq, linalg, networks, paper, witnesses
from rankcheck.instances import (
    Source,
    balanced_networks_at_points,
    balanced_networks_with_inputs,
    instances,
    orthogonal,
)

from ._capped import capped


@instances
def multiples_of_rotations(source: Source, *, scale, depth=(1, 6)):
    """W_1 = tQ, W_ℓ = tI, W_L = tQ' with t in `scale`, at a point with Qx > 0."""
    n, layers = source.integer(1, 3), source.integer(*depth)
    t = source.tensor(1, 1, low=scale[0], high=scale[1])
    first, last = orthogonal(source, n), orthogonal(source, n)
    identity = linalg.eye(n, like=t).expand(first.shape)
    factors = [identity] * layers
    factors[0] = first
    factors[-1] = last @ factors[-1]
    weights = [t * factor for factor in factors]
    y = source.tensor(n, low=0.5, high=4.0)
    return Network.linear(weights), (first.mT @ y.unsqueeze(-1)).squeeze(-1)


@instances
def unbalanced_rotations(source: Source):
    """x ↦ Q_2 (t Q_1 x) / t in two layers, 1 < t² < 5/4, at a point with Q_1 x > 0."""
    n = source.integer(1, 3)
    t = 1 + source.tensor(1, 1, low=2.0**-4, high=2.0**-3)
    first, second = orthogonal(source, n), orthogonal(source, n)
    y = source.tensor(n, low=0.5, high=4.0)
    weights = (t * first, second / t)
    return Network.linear(weights), (first.mT @ y.unsqueeze(-1)).squeeze(-1)


@bound(
    "bottleneck.bounded-activations",
    paper("bottleneck", "Thm 7/16"),
    instances=balanced_networks_at_points(constructions=("exact", "rescaled")),
    tight=multiples_of_rotations(scale=(1.0, 1.0 + 2**-12)),
    needs={
        "balanced parameters": unbalanced_rotations(),
        "max(1, e^{c_1/k})": Need(
            multiples_of_rotations(scale=(0.5, 0.625), depth=(3, 6)), {"growth": torch.exp}
        ),
    },
    mutants={
        "half of the trace, as for N = 2 in print": {"number": 2},
        "exponent 2.04/k of the pseudo-determinant": {"exponent": Fraction(51, 25)},
    },
    errata=Erratum(
        printed=r"if $1/N \operatorname{Tr}[\Theta^{(L)}(x, x)] \le cL$, then $\sum_\ell "
        r"\|\alpha_{\ell-1}(x)\|_2^2 \le \ldots$",
        right=r"$\operatorname{Tr}[\Theta^{(L)}(x, x)] \le cL$, as in Theorem 7: there is one "
        "point, and $N$ is not defined.",
        survives="Theorem 7/16.",
        place="Thm 16",
    ),
    effort=0.6,
    audit="at points: |a| ≤ 1, balanced, rank ≥ 1; ranks",
)
def test_bounded_activations(net, x, *, growth=capped, number=1, exponent=2):
    r"""A bounded tangent kernel bounds the activations of almost all layers.

    For balanced parameters, $k = \operatorname{rank} Jf(x) \ge 1$, $c_1 = \|\theta\|^2 - kL$ and
    $c = \operatorname{tr} \Theta(x, x)/L$ with $\Theta$ over the weights alone:

    $$\sum_{\ell=1}^L \|\alpha_{\ell-1}(x)\|^2 \le
      \frac{c \max(1, e^{c_1/k})}{k\,|Jf(x)|_+^{2/k}}\, L,$$

    and for every $p \in (0, 1)$ at least $(1-p)L$ layers have
    $\|\alpha_{\ell-1}(x)\|^2 \le c \max(1, e^{c_1/k}) / (p\,k\,|Jf(x)|_+^{2/k})$. The second is checked
    for all $p$ together: the $m$-th largest of the $L$ squares is at most $1/m$ of the right side of
    the first.

    Also checked is the bound in each layer, whose sum is the first:
    $\|J(\tilde\alpha_\ell \to f)(x)\|_F^2 \ge k\,|Jf(x)|_+^{2/k} (1 + c_1/(kL))^{-\ell}$.
    """
    at = witnesses.bottleneck(net, x)
    some, k = at.rank > 0, at.count
    exponent = Fraction(exponent)
    size = k * (at.log_determinant * exponent.numerator / exponent.denominator / k).exp()
    trace = networks.ntk_trace(net, x) / number
    energies = torch.stack([(a * a).sum(-1) for a in net.activations(x)], -1)
    ranked = torch.sort(energies, -1, descending=True).values
    places = torch.arange(1, net.depth + 1, device=x.device)
    outer = torch.stack([linalg.frobenius_squared(g) for g in net.at(x).outer_jacobians], -1)
    mean = (net.cost() / (k * net.depth)).unsqueeze(-1)
    below = size / growth(at.excess / k)
    return (
        leq(energies.sum(-1) * below, trace, where=some, label="the sum"),
        leq(
            ranked * places * below.unsqueeze(-1),
            trace.unsqueeze(-1),
            where=some,
            label="most layers",
        ),
        leq(size.unsqueeze(-1), outer * mean**places, where=some, label="each layer"),
    )


@instances
def rotations_of_spheres(source: Source):
    """W_1 = tQ, W_ℓ = tI, W_L = tQ' with t near 1, and N points of one length with Qx > 0."""
    net, x = multiples_of_rotations(scale=(1.0, 1.0 + 2**-12))(source)
    n, count = net.widths[0], source.integer(1, 3)
    # Permuted coordinates of Qx are positive and have the same length.
    into = net.weights[0]
    y = (into @ x.unsqueeze(-1)).squeeze(-1)
    turned = torch.stack(
        [torch.cat((y[..., j % n :], y[..., : j % n]), -1) for j in range(count)], -2
    )
    return net, turned @ into / linalg.frobenius_squared(into)[..., None, None] * n


@instances
def two_slopes(source: Source):
    """x ↦ [x]_+ − q² [−x]_+ in two layers, 0 < q ≤ 1/4, at the points 1 and −1."""
    q = source.tensor(1, 1, low=2.0**-6, high=0.25)
    one = torch.ones_like(q)
    weights = (torch.cat((one, -q), -2), torch.cat((one, -q), -1))
    return Network.linear(weights), torch.cat((one, -one), -2)


@instances
def alone(source: Source, *, networks):
    """A network and one point, as a data set of one."""
    net, x = networks(source)
    return net, x.unsqueeze(-2)


@bound(
    "bottleneck.bounded-activations-of-data",
    paper("bottleneck", "after Thm 16"),
    instances=balanced_networks_with_inputs(
        depth=(1, 3), width=(1, 3), points=(1, 3), constructions=("exact", "rescaled")
    ),
    tight=rotations_of_spheres(),
    needs={
        "balanced parameters": alone(networks=unbalanced_rotations()),
        "max(1, e^{c_1/k})": Need(
            alone(networks=multiples_of_rotations(scale=(0.5, 0.625), depth=(3, 6))),
            {"growth": torch.exp},
        ),
        "the smallest Jacobian": Need(two_slopes(), {"choose": lambda logs: logs.amax(-1)}),
    },
    mutants={"c from the trace divided by N twice": {"divisions": 2}},
    errata=Erratum(
        printed=r"$\operatorname{Tr}[\Theta^{(L)}(X, X)] \le cNL$ and thus there are at least "
        r"$(1-p)L$ layers where $1/N \|\alpha_{\ell-1}(X)\|_F^2 \le 1/p c \max\{1, e^{c_1/k}\} / "
        r"(k |Jf_\theta(x)|_+^{2/k})$",
        right=r"$x$ is not bound: it is $\min_i |Jf_\theta(x_i)|_+$, over points where "
        r"$Jf_\theta$ has rank $k$.",
        survives="The statement, and Corollary 8/17, which has the minimum.",
    ),
    effort=0.5,
    audit="on data: |a| ≤ 1, balanced, one rank; ranks",
)
def test_bounded_activations_of_data(
    net, X, *, choose=lambda logs: logs.amin(-1), divisions=1, growth=capped
):
    r"""A bounded mean trace of the tangent kernel bounds the activations of a data set.

    For balanced parameters, points $x_1, \dots, x_N$ with $\operatorname{rank} Jf(x_i) = k \ge 1$,
    $c_1 = \|\theta\|^2 - kL$ and $c = \frac1{NL} \operatorname{tr} \Theta(X, X)$, with $\Theta$ over
    the weights alone:

    $$\frac1N \sum_{\ell=1}^L \|\alpha_{\ell-1}(X)\|_F^2 \le
      \frac{c \max(1, e^{c_1/k})}{k \min_i |Jf(x_i)|_+^{2/k}}\, L,$$

    so that at least $(1-p)L$ layers have at most $1/(pL)$ of the right side, for every
    $p \in (0, 1)$; checked for all $p$ together, as in bottleneck.bounded-activations.
    """
    J, noise = net.jacobian(X), net.jacobian_noise(X)
    ranks, logs = linalg.rank(J, noise), linalg.log_pseudo_determinant(J, noise)
    k = ranks[..., 0]
    agree = (ranks == k.unsqueeze(-1)).all(-1) & (k > 0)
    excess = net.cost() - k * net.depth
    count = torch.zeros_like(excess) + torch.where(k > 0, k, 1)
    below = count * (choose(logs) * 2 / count).exp() / growth(excess / count)
    number = X.shape[-2]
    trace = networks.ntk_trace(net, X).sum(-1) / number**divisions
    energies = torch.stack([linalg.frobenius_squared(a) for a in net.activations(X)], -1) / number
    ranked = torch.sort(energies, -1, descending=True).values
    places = torch.arange(1, net.depth + 1, device=X.device)
    return (
        leq(energies.sum(-1) * below, trace, where=agree, label="the sum"),
        leq(
            ranked * places * below.unsqueeze(-1),
            trace.unsqueeze(-1),
            where=agree,
            label="most layers",
        ),
    )
