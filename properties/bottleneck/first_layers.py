"""Proofs of Theorems 16 and 19 of `bottleneck`: the first and last layers, their norms and slopes."""

from fractions import Fraction

import torch

from rankcheck import Erratum, balls, bound, leq, linalg, paper, step, witnesses
from rankcheck.instances import (
    balanced_linear_networks,
    balanced_networks_at_points,
    networks_at_points,
)

from ._steep_chains import steep_chains


def schatten_power_of_rank(A, k, q):
    """‖A‖_{S^q}^q for A of rank k up to rounding."""
    if balls.is_ball(A):
        return linalg.schatten_power(A, q)
    s = linalg.singular_values(A)
    counted = torch.arange(len(s), device=s.device) < k
    return torch.where(counted, linalg.power(torch.where(counted, s, 1.0), q), 0.0).sum()


def layers_and_norms(net):
    """ℓ and ‖W_ℓ‖_F² for ℓ = 1..L."""
    norms = torch.stack([linalg.frobenius_squared(W) for W in net.weights])
    return torch.arange(1, net.depth + 1, device=norms.device), norms


@bound(
    "bottleneck.growing-norms",
    paper("bottleneck", "proof of Thm 16 (corrected)"),
    instances=balanced_networks_at_points(depth=(2, 4), constructions=("exact", "rescaled")),
    tight=balanced_linear_networks(depth=(2, 6), equal=True, scale=(1.0, 1.0 + 2**-12)),
    needs={"balanced parameters": networks_at_points(depth=(2, 4), width=(1, 3))},
    mutants={
        "1 + c_1/L, as printed": {"dimensions": torch.ones_like},
        "the Schatten exponent 2/L, as printed": {"order": lambda layer, depth: depth},
    },
    errata=(
        Erratum(
            printed=r"$|J\tilde\alpha_\ell(x)|_+^{2/k\ell} \le 1/k "
            r"\|J\tilde\alpha_\ell(x)\|_{2/L}^{2/L} \le (\|W_1\|^2 + \cdots + "
            r"\|W_\ell\|^2)/(k\ell)$",
            right=r"The Schatten exponent of the first $\ell$ layers is $2/\ell$, not $2/L$.",
            survives="Theorem 16.",
        ),
        Erratum(
            printed=r"$k |Jf_\theta(x)|_+^{2/k} / (1 + c_1/L)^\ell \ge k |Jf_\theta(x)|_+^{2/k} "
            r"e^{-(\ell/L)(c_1/k)}$",
            right="$1 + c_1/(kL)$, as in the line before. With $1 + c_1/L$ the inequality fails "
            r"for $c_1 > 0$ and $k \ge 2$.",
            survives="Theorem 16.",
        ),
    ),
    effort=0.5,
    audit="at points: |a| ≤ 1, balanced, L ≥ 2, rank ≥ 1; ranks, heavy",
)
def test_growing_norms(net, x, *, dimensions=lambda k: k, order=lambda layer, depth: layer):
    r"""In a balanced network the norms grow, so the first layers are below the mean.

    For balanced parameters $\|W_{\ell+1}\|_F^2 \ge \|W_\ell\|_F^2$, so that
    $\frac1\ell \sum_{j \le \ell} \|W_j\|_F^2 \le \frac1L \|\theta\|^2$. With
    $k = \operatorname{rank} Jf(x) \ge 1$, $c_1 = \|\theta\|^2 - kL$, $P$ the projection onto the row
    space of $Jf(x)$ and $A_\ell = J\tilde\alpha_\ell(x) P$,

    $$|A_\ell|_+^{2/(k\ell)} \le \frac1k \|A_\ell\|_{S^{2/\ell}}^{2/\ell}
      \le \frac1{k\ell} \sum_{j \le \ell} \|W_j\|_F^2 \le 1 + \frac{c_1}{kL} \le e^{c_1/(kL)}.$$

    Print has $J\tilde\alpha_\ell(x)$ without $P$; see bottleneck.growing-norms-as-printed.
    """
    at = witnesses.bottleneck(net, x)
    k, some, error = at.count, at.rank > 0, 2**10 * at.error
    layers, norms = layers_and_norms(net)
    means = norms.cumsum(0) / layers
    maps = witnesses.surviving_jacobians(net, x, at.rank)
    logs = torch.stack([witnesses.log_determinant_of_rank(A, at.rank) for A in maps])
    growth = (logs * 2 / k).exp()
    orders = [Fraction(2, order(layer, net.depth)) for layer in range(1, net.depth + 1)]
    powers = zip(maps, orders, strict=True)
    sums = torch.stack([schatten_power_of_rank(A, at.rank, q) for A, q in powers])
    larger = (sums / k) ** layers
    average = 1 + at.excess / (dimensions(k) * net.depth)
    most = (at.excess / (k * net.depth)).exp()
    return (
        leq(norms[:-1], norms[1:], label="the layers"),
        leq(means, net.cost() / net.depth, label="their means"),
        leq(growth, larger, where=some, error=error * growth, label="the singular values"),
        leq(sums, means, where=some, error=error * sums, label="the first layers"),
        leq(average, most, where=some, label="the exponential"),
    )


@step(
    "bottleneck.growing-norms-as-printed",
    paper("bottleneck", "proof of Thm 16"),
    instances=balanced_networks_at_points(constructions=("exact",)),
    errata=Erratum(
        printed=r"$\|J(\tilde\alpha_\ell \to f_\theta)(x) P_\ell\|_F^2 \ge k |J(\tilde\alpha_\ell "
        r"\to f_\theta)(x) P_\ell|_+^{2/k} = k "
        r"\frac{|Jf_\theta(x)|_+^{2/k}}{|J\tilde\alpha(x)|_+^{2/k}}$, for $P_\ell$ the orthogonal "
        r"projection to the image $\operatorname{Im} J\tilde\alpha_\ell(x)$; and "
        r"$|J\tilde\alpha_\ell(x)|_+^{2/k\ell} \le \frac{\|W_1\|^2 + \cdots + "
        r"\|W_\ell\|^2}{k\ell}$",
        right=r"$\|J(\tilde\alpha_\ell \to f_\theta)(x) P_\ell\|_F^2 \ge k "
        r"\frac{|Jf_\theta(x)|_+^{2/k}}{|J\tilde\alpha_\ell(x) P|_+^{2/k}}$ and "
        r"$|J\tilde\alpha_\ell(x) P|_+^{2/k\ell} \le \frac{\|W_1\|^2 + \cdots + "
        r"\|W_\ell\|^2}{k\ell}$, where $P$ is the projection onto the row space of $Jf(x)$, with "
        r"$J\tilde\alpha_\ell(x)P$ in place of $J\tilde\alpha_\ell(x)$ throughout. "
        r"$J\tilde\alpha_\ell(x)$ may have a larger rank than $Jf(x)$, and then neither printed "
        "line holds.",
        survives="Theorem 7/16, with the same constant.",
        weight="step",
    ),
    readings={
        r"$J\alpha_\ell$, after the activation, for $J\tilde\alpha_\ell$": r"$W_1 = \operatorname{diag}(2, 1/2)$, "
        r"$W_2 = (2, 1/2)$ without biases, with both units active: $4.25 \ge 16.0625 / 1$ is "
        "claimed",
        r"$J\tilde\alpha_\ell$ on the row space of $Jf$, where it has rank $k$": "that is the corrected "
        r"statement; print projects to $\operatorname{Im} J\tilde\alpha_\ell(x)$, and divides by "
        "the pseudo-determinant of all of it",
    },
    result=r"stands: with $J\tilde\alpha_\ell(x)P$ both lines hold, and the rest of the proof is "
    "as printed (bottleneck.growing-norms, bottleneck.bounded-activations).",
    corrected_by="bottleneck.growing-norms",
)
def test_growing_norms_as_printed(net, x):
    r"""The pseudo-determinant of Jf is a product, whatever the ranks of the factors.

    For balanced parameters, $k = \operatorname{rank} Jf(x) \ge 1$, $\ell \le L$, and $P_\ell$ the
    projection onto the image of $J\tilde\alpha_\ell(x)$:
    $k\,|Jf(x)|_+^{2/k} \le |J\tilde\alpha_\ell(x)|_+^{2/k}
    \|J(\tilde\alpha_\ell \to f)(x) P_\ell\|_F^2$, and
    $|J\tilde\alpha_\ell(x)|_+^{2/(k\ell)} \le \frac1{k\ell} \sum_{j \le \ell} \|W_j\|_F^2$.
    """
    at, parts = witnesses.bottleneck(net, x), net.at(x)
    some, k = at.rank > 0, at.count
    layers, norms = layers_and_norms(net)
    maps = [W @ inner for W, inner in zip(net.weights, parts.inner_jacobians, strict=True)]
    pairs = zip(parts.outer_jacobians, maps, strict=True)
    outer = torch.stack(
        [linalg.frobenius_squared(G @ linalg.range_projection(A)) for G, A in pairs]
    )
    growth = (torch.stack([linalg.log_pseudo_determinant(A) for A in maps]) * 2 / k).exp()
    size = k * (at.log_determinant * 2 / k).exp()
    powers = (norms.cumsum(0) / (layers * k)) ** layers
    return (
        leq(size, growth * outer, where=some, label="the quotient"),
        leq(growth, powers, where=some, label="the first layers"),
    )


@bound(
    "bottleneck.hidden-lipschitz",
    paper("bottleneck", "proof of Thm 19"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(width=(1, 1), scale=(1.0 + 2**-23, 1.0 + 2**-21)),
    needs={"|a| <= 1": steep_chains()},
    mutants={"2.04 times the logarithm": {"logs": Fraction(51, 25)}},
    audit="at points: |a| ≤ 1",
)
def test_hidden_lipschitz(net, x, *, logs=2):
    r"""The cost of the first layers bounds the Jacobian of their map.

    For every $\ell$, with $\theta^{(i:j)}$ the parameters of the layers $i, \dots, j$:
    $\|J\tilde\alpha_\ell(x)\|_{op} \le e^{(\|\theta^{(1:\ell)}\|^2 - \ell)/2}$ and
    $\|J(\alpha_\ell \to f)(x)\|_{op} \le e^{(\|\theta^{(\ell+1:L)}\|^2 - (L - \ell))/2}$.

    Both follow from $\|W\|_{op}^2 \le \|W\|_F^2 \le e^{\|W\|_F^2 - 1}$, and are sharp at unit weights.
    They hold with the Frobenius norm on the left, which is what is checked, in the form
    $2 \log \|A\|_F \le \|\theta\|^2 - \ell$ where $A \ne 0$. As they hold at every $x$, the exponentials
    are Lipschitz constants.
    """
    partial = net.partial_jacobians(x)
    beyond = torch.stack(net.layer_costs()) - 1
    first = [W @ inner for W, inner in zip(net.weights, partial.inner, strict=True)]
    last = [outer @ W for W, outer in zip(net.weights, partial.outer, strict=True)]
    relations = []
    for maps, excess, label in (
        (first, beyond.cumsum(0), "the first layers"),
        (last, beyond.flip(0).cumsum(0).flip(0), "the last layers"),
    ):
        squares = torch.stack([linalg.frobenius_squared(A) for A in maps])
        left = torch.where(squares > 0, squares, 1).log() * linalg.scalar(Fraction(logs) / 2, x)
        size = net.cost() + net.depth
        relations.append(leq(left, excess, where=squares > 0, scale=size, label=label))
    return tuple(relations)
