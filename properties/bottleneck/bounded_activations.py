"""Theorem 7/16 of `bottleneck`: a bounded kernel bounds activations, by an inequality of means."""

from fractions import Fraction

import torch

from rankcheck import Erratum, Need, Network, bound, leq, linalg, networks, paper, witnesses
from rankcheck.instances import (
    Source,
    balanced_networks_at_points,
    balanced_networks_with_inputs,
    instances,
    matrices,
    positive,
    semi_orthogonal,
)

from ._activations import capped, common_rank, divisor, ranked, rotations


@instances
def scaled_partial_isometries(source: Source):
    """Matrices with k equal non-zero singular values, 1 ≤ k ≤ min(m, n)."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    k = source.integer(1, min(m, n))
    size = positive(source, 1, 1)
    return size * semi_orthogonal(source, m, k) @ semi_orthogonal(source, n, k).mT


@bound(
    "bottleneck.amgm",
    paper("bottleneck", "proof of Thm 16"),
    instances=matrices(),
    tight=scaled_partial_isometries(),
    mutants={"exponent 2.04/k": {"exponent": Fraction(51, 25)}},
)
def test_amgm(A, *, exponent=2):
    r"""The Frobenius norm of a matrix bounds its pseudo-determinant.

    $\|A\|_F^2 \ge k\,|A|_+^{2/k}$ with $k = \operatorname{rank} A \ge 1$: the arithmetic mean of the
    squares of the non-zero singular values is at least their geometric mean.
    """
    k, log_det = linalg.rank(A), linalg.log_pseudo_determinant(A)
    mean = (log_det * linalg.scalar(exponent, A) / torch.where(k > 0, k, 1)).exp()
    return leq(k * mean, linalg.frobenius_squared(A))


@instances
def multiples_of_rotations(source: Source, *, scale, depth=(1, 6)):
    """W_1 = tQ, W_ℓ = tI, W_L = tQ' with t in `scale`, at a point with Qx > 0."""
    n, layers = source.integer(1, 3), source.integer(*depth)
    t = source.tensor(1, 1, low=scale[0], high=scale[1])
    return rotations(source, n, [t] * layers)


@instances
def unbalanced_rotations(source: Source):
    """x ↦ Q_2 (t Q_1 x) / t in two layers, 1 < t² < 5/4, at a point with Q_1 x > 0."""
    n = source.integer(1, 3)
    t = 1 + source.tensor(1, 1, low=2.0**-4, high=2.0**-3)
    return rotations(source, n, (t, 1 / t))


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
    size = k * (at.log_determinant * linalg.scalar(exponent, x) / k).exp()
    trace = networks.ntk_trace(net, x) / number
    energies = torch.stack([a @ a for a in net.activations(x)])
    places = torch.arange(1, net.depth + 1, device=x.device)
    outer = torch.stack([linalg.frobenius_squared(G) for G in net.at(x).outer_jacobians])
    mean = net.cost() / (k * net.depth)
    below = size / growth(at.excess / k)
    return (
        leq(energies.sum() * below, trace, where=some, label="the sum"),
        leq(ranked(energies) * below, trace, where=some, label="most layers"),
        leq(size, outer * mean**places, where=some, label="each layer"),
    )


@instances
def rotations_of_spheres(source: Source):
    """W_1 = tQ, W_ℓ = tI, W_L = tQ' with t near 1, and N points of one length with Qx > 0."""
    net, x = multiples_of_rotations(scale=(1.0, 1.0 + 2**-12))(source)
    n, count = net.widths[0], source.integer(1, 3)
    # Permuted coordinates of Qx are positive and have the same length.
    into = net.weights[0]
    turned = torch.stack([(into @ x).roll(-j) for j in range(count)])
    return net, turned @ into / linalg.frobenius_squared(into) * n


@instances
def two_slopes(source: Source):
    """x ↦ [x]_+ − q² [−x]_+ in two layers, 0 < q ≤ 1/4, at the points 1 and −1."""
    q = source.tensor(1, 1, low=2.0**-6, high=0.25)
    one = torch.ones_like(q)
    weights = (torch.vstack((one, -q)), torch.hstack((one, -q)))
    return Network.linear(weights), torch.vstack((one, -one))


@instances
def alone(source: Source, *, networks):
    """A network and one point, as a data set of one."""
    net, x = networks(source)
    return net, x[None]


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
        "the smallest Jacobian": Need(two_slopes(), {"choose": torch.amax}),
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
def test_bounded_activations_of_data(net, X, *, choose=torch.amin, divisions=1, growth=capped):
    r"""A bounded mean trace of the tangent kernel bounds the activations of a data set.

    For balanced parameters, points $x_1, \dots, x_N$ with $\operatorname{rank} Jf(x_i) = k \ge 1$,
    $c_1 = \|\theta\|^2 - kL$ and $c = \frac1{NL} \operatorname{tr} \Theta(X, X)$, with $\Theta$ over
    the weights alone:

    $$\frac1N \sum_{\ell=1}^L \|\alpha_{\ell-1}(X)\|_F^2 \le
      \frac{c \max(1, e^{c_1/k})}{k \min_i |Jf(x_i)|_+^{2/k}}\, L,$$

    so that at least $(1-p)L$ layers have at most $1/(pL)$ of the right side, for every
    $p \in (0, 1)$; checked for all $p$ together, as in bottleneck.bounded-activations.
    """
    k, agree, logs = common_rank(net, X)
    below = divisor(net, k, choose(logs), growth)
    trace = networks.ntk_trace(net, X).sum() / len(X) ** divisions
    energies = torch.stack([linalg.frobenius_squared(a) for a in net.activations(X)]) / len(X)
    return (
        leq(energies.sum() * below, trace, where=agree, label="the sum"),
        leq(ranked(energies) * below, trace, where=agree, label="most layers"),
    )
