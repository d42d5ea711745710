"""Proof of Corollary 17 of `bottleneck`: one layer, and the sum over the activations."""

from fractions import Fraction

import torch

from rankcheck import Erratum, Need, Network, bound, leq, linalg, networks, paper, step
from rankcheck.instances import (
    Source,
    balanced_networks_with_inputs,
    instances,
    networks_with_inputs,
    orthogonal,
)

from ._activations import capped, divisor, rotations
from ._bottlenecks import following_value, with_bias


def extended_activations(net, X):
    """(α_{ℓ−1}(X); 1) for ℓ = 1..L, the points as rows."""
    return [torch.hstack((a, torch.ones_like(a[:, :1]))) for a in net.activations(X)]


@instances
def centred_points(source: Source):
    """One layer at four points with (X; 1)(X; 1)ᵀ = 4I: three rows of a Hadamard matrix, rotated."""
    n = source.integer(1, 3)
    rows = ((1, 1, -1, -1), (1, -1, 1, -1), (1, -1, -1, 1))[:n]
    Q = orthogonal(source, n)
    w, b = source.tensor(source.integer(1, 4), n), source.tensor(1)
    return Network((w,), (b.expand(len(w)),)), Q.new_tensor(rows).mT @ Q


@bound(
    "bottleneck.preactivation-singular-values",
    paper("bottleneck", "proof of Cor. 17 (with biases)"),
    instances=networks_with_inputs(depth=(1, 3), differentiable=False),
    tight=centred_points(),
    mutants={
        "the biases left out": {"matrix": lambda w, b: w},
        "the next singular value of the weights": {"further": 1},
    },
    audit="on data; spectra",
)
def test_preactivation_singular_values(net, X, *, matrix=with_bias, further=0):
    r"""The singular values of the pre-activations are at most those of the weights, times a norm.

    For every layer $\ell$ and every $i$
    $$s_i(\tilde\alpha_\ell(X)) \le
      s_i\bigl((W_\ell\ b_\ell)\bigr)\, \bigl\|(\alpha_{\ell-1}(X); 1)\bigr\|_{op},$$
    because $\tilde\alpha_\ell(X) = (W_\ell\ b_\ell)(\alpha_{\ell-1}(X); 1)$. In Corollary 17 $i = k + 1$,
    with $1/\sqrt N$ on both sides.

    For all $i$ together there is equality if the rows of $(\alpha_{\ell-1}(X); 1)$ are orthogonal and of
    one length, as for centred data.
    """
    extended, features = extended_activations(net, X), net.preactivations(X)
    relations = []
    for w, b, a, z in zip(net.weights, net.biases, extended, features, strict=True):
        s, norm = linalg.singular_values(z), linalg.operator_norm(a)
        # Zeros follow the singular values of the weights, which may be fewer.
        above = torch.hstack((linalg.singular_values(matrix(w, b)), 0 * s))[further:][: len(s)]
        size = linalg.frobenius_squared(with_bias(w, b)).sqrt() * norm
        relations.append((s, above * norm, size.expand(s.shape)))
    left, right, size = map(torch.hstack, zip(*relations, strict=True))
    return leq(left, right, scale=size)


@instances
def offset_lines(source: Source):
    """x ↦ (±x, β) from R to R², at two points."""
    Q, beta = orthogonal(source, 1), source.tensor(1)
    weight, bias = torch.vstack((Q, 0 * Q)), torch.hstack((0 * beta, beta))
    return Network((weight,), (bias,)), source.tensor(2, 1)


@step(
    "bottleneck.preactivations-without-biases",
    paper("bottleneck", "proof of Cor. 17"),
    instances=offset_lines(),
    errata=Erratum(
        printed=r"Since $\tilde\alpha_\ell(X) = W_\ell \alpha_{\ell-1}(X)$ we know that "
        r"$s_{k+1}(\frac{1}{\sqrt{N}} \tilde\alpha_\ell(X)) \le s_{k+1}(W_\ell) "
        r"\|\frac{1}{\sqrt{N}} \alpha_{\ell-1}(X)\|_{op}$",
        right=r"$s_{k+1}(\tilde\alpha_\ell(X)) \le s_{k+1}((W_\ell\ b_\ell)) "
        r"\|(\alpha_{\ell-1}(X); 1)\|_{op}$, as by section 2 $\tilde\alpha_\ell = W_\ell "
        r"\alpha_{\ell-1} + b_\ell$; and the activations are summed with a constant feature.",
        survives="Corollary 8/17 with a kernel of weights and biases, and for networks without biases.",
        weight="step",
    ),
    readings={
        "for networks with biases, as section 2 defines them": "tested.",
        r"for networks without biases, as $\tilde\alpha_\ell(X) = W_\ell \alpha_{\ell-1}(X)$ has "
        "it": "then the line is right, and so is the "
        "corollary for such networks. Section 2 has biases, and the balance that the corollary asks for counts "
        "them.",
        "a bias as the weight of a constant feature": r"then $W_\ell$ and $\alpha_{\ell-1}$ both "
        "have one more column, which is the repair; Theorem 16, which is used next, bounds "
        r"$\alpha_{\ell-1}$ without it.",
    },
    result="stands: bottleneck.low-dimensional-features, if the tangent kernel counts the biases",
    corrected_by="bottleneck.preactivation-singular-values",
)
def test_preactivations_without_biases(net, X):
    r"""The singular values of the pre-activations are at most those of W alone, times a norm.

    $s_{k+1}(\tilde\alpha_\ell(X)) \le s_{k+1}(W_\ell)\, \|\alpha_{\ell-1}(X)\|_{op}$ in every layer, with
    $k = \operatorname{rank} Jf(x_i)$ at all points.

    Tested on maps $x \mapsto (\pm x, \beta)$ of one layer, where $k = 1$ and $s_2(W_1) = 0$.
    """
    k = linalg.rank(net.jacobian(X))[0]
    left = following_value(net(X), k)
    return leq(left, following_value(net.weights[0], k) * linalg.operator_norm(X))


@instances
def rotations_of_copies(source: Source):
    """Balanced rotations Q', tI, tQ of R^k with 1 ≤ t < 1 + 2^-12, at copies of one point."""
    n, layers, number = source.integer(1, 3), source.integer(1, 6), source.integer(1, 3)
    net, x = rotations(source, n, [source.tensor(1, 1, low=1.0, high=1.0 + 2.0**-12)] * layers)
    return net, torch.stack([x] * number)


@instances
def small_rotations(source: Source):
    """The same with 1/2 ≤ t ≤ 5/8 and at least three layers: c_1 < 0."""
    n, layers = source.integer(1, 3), source.integer(3, 6)
    scales = [source.tensor(1, 1, low=0.5, high=0.625)] * layers
    net, x = rotations(source, n, scales, out=False)
    return net, x[None]


@instances
def unbalanced_rotations(source: Source):
    """x ↦ (t Q x)/t in two layers, 1 < t² < 5/4, at one point with Qx > 0."""
    n = source.integer(1, 3)
    t = 1 + source.tensor(1, 1, low=2.0**-4, high=2.0**-3)
    net, x = rotations(source, n, (t, 1 / t), out=False)
    return net, x[None]


@bound(
    "bottleneck.extended-activations",
    paper("bottleneck", "Thm 7/16 and the proof of Cor. 17 (with biases)"),
    instances=balanced_networks_with_inputs(constructions=("exact", "rescaled")),
    tight=rotations_of_copies(),
    needs={
        "balanced parameters": unbalanced_rotations(),
        "max(1, e^{c_1/k})": Need(small_rotations(), {"growth": torch.exp}),
    },
    mutants={
        "the constant feature counted 1.02 times": {"constant": Fraction(51, 50)},
        "k 2 % larger": {"ranks": Fraction(51, 50)},
    },
    effort=0.6,
    audit="on data: |a| ≤ 1, balanced, rank ≥ 1; ranks",
)
def test_extended_activations(net, X, *, growth=capped, constant=1, ranks=1):
    r"""A bounded tangent kernel bounds the activations with a constant feature, over all layers.

    For balanced parameters, points $x_1, \dots, x_N$, $k_i = \operatorname{rank} Jf(x_i) \ge 1$ and
    $c_1(k) = \|\theta\|^2 - kL$, with $\Theta$ over weights and biases,

    $$\sum_{\ell=1}^L \Bigl\|\tfrac1{\sqrt N} (\alpha_{\ell-1}(X); 1)\Bigr\|_{op}^2 \le
      \sum_{\ell=1}^L \Bigl\|\tfrac1{\sqrt N} (\alpha_{\ell-1}(X); 1)\Bigr\|_F^2 \le
      \frac1N \sum_{i=1}^N \frac{\operatorname{tr} \Theta(x_i, x_i) \max(1, e^{c_1(k_i)/k_i})}
                                {k_i\, |Jf(x_i)|_+^{2/k_i}} .$$

    Proof: at one point $\operatorname{tr} \Theta = \sum_\ell (\|\alpha_{\ell-1}\|^2 + 1)
    \|J(\tilde\alpha_\ell \to f)\|_F^2$, and each last factor is at least
    $k |Jf|_+^{2/k} / \max(1, e^{c_1/k})$ (bottleneck.bounded-activations, "each layer"). Both are
    equalities for isometries at copies of one point.
    """
    J, noise = net.jacobian(X), net.jacobian_noise(X)
    k, logs = linalg.rank(J, noise), linalg.log_pseudo_determinant(J, noise)
    size = divisor(net, k, logs, growth) * linalg.scalar(ranks, X)
    most = (networks.ntk_trace(net, X, True) / size).mean()
    extended = extended_activations(net, X)
    squares = sum(map(linalg.frobenius_squared, extended)) / len(X)
    squares = squares + (linalg.scalar(constant, X) - 1) * net.depth
    norms = sum(linalg.operator_norm(a) ** 2 for a in extended) / len(X)
    return (
        leq(norms, squares, label="the operator norm"),
        leq(squares, most, where=(k > 0).all(), label="the norm"),
    )
