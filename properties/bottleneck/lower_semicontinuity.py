"""Appendix D.2 of `bottleneck`: limits of networks are networks, and the cost is semi-continuous."""

from fractions import Fraction

import torch

from rankcheck import Network, bound, cited, leq, linalg, paper
from rankcheck.instances import Source, instances, network, positive


@instances
def two_networks(source: Source):
    """Two networks of one depth and slope, the second at any distance from the first, and x.

    Half of the time the second has fewer hidden units; these are zero rows and columns.
    """
    net = network(source, depth=(1, 4), width=(1, 3))
    near = source.choice((1.0, 2.0**-8))
    other = [W + near * source.tensor(*W.shape, low=-1.0, high=1.0) for W in net.weights]
    biases = [b + near * source.tensor(len(b), low=-1.0, high=1.0) for b in net.biases]
    if source.choice(("same", "fewer")) == "fewer":
        hidden = [source.integer(1, n) for n in net.widths[1:-1]]
        widths = [net.widths[0], *hidden, net.widths[-1]]
        used = [torch.arange(n) < m for n, m in zip(net.widths, widths, strict=True)]
        other = [
            torch.where(after[:, None] & before, W, 0)
            for W, after, before in zip(other, used[1:], used[:-1], strict=True)
        ]
        biases = [torch.where(after, b, 0) for b, after in zip(biases, used[1:], strict=True)]
    return net, net.with_parameters(other, biases), source.tensor(net.widths[0])


@instances
def growing_scalars(source: Source):
    """Networks of one unit a layer with positive parameters, the first with the larger ones."""
    L = source.integer(1, 4)
    small = [positive(source, 2) for _ in range(L)]
    large = [p + positive(source, 2) for p in small]

    def scalars(parts):
        return Network([p[:1, None] for p in parts], [p[1:] for p in parts])

    return scalars(large), scalars(small), positive(source, 1)


@instances
def steep_pairs(source: Source):
    """The same with slope 3, at −x: the units are on their steep side."""
    larger, smaller, x = growing_scalars()(source)
    source.require(larger.depth > 1, "there is a hidden layer")
    pair = [
        Network.unchecked_slope(net.weights, [0 * b for b in net.biases], 3.0)
        for net in (larger, smaller)
    ]
    return *pair, -x


@bound(
    "bottleneck.lower-semicontinuity",
    paper("bottleneck", "App. D.2"),
    instances=two_networks(),
    tight=growing_scalars(),
    needs={"the slope lies in [-1, 1]": steep_pairs()},
    mutants={
        "the first layer left out": {"start": 1},
        "a bound 2 % lower": {"weight": Fraction(49, 50)},
    },
    audit="left out: it compares two networks",
)
def test_lower_semicontinuity(net, other, x, *, start=0, weight=1):
    r"""At bounded widths a limit of networks of bounded cost is a network of no larger cost.

    For networks $\theta$, $\theta'$ of one depth and slope, at every $x$, where units that one of them lacks
    are zero rows and columns,
    $$\|f_\theta(x) - f_{\theta'}(x)\| \le \sum_{\ell=1}^L \Bigl( \prod_{j > \ell} \|W'_j\|_F \Bigr)
      \bigl( \|W_\ell - W'_\ell\|_F \|\alpha_{\ell-1}(x)\| + \|b_\ell - b'_\ell\| \bigr).$$

    So let $f_i \to f_0$ on $\Omega$, with networks of bounded widths and bounded costs. A subsequence of
    the parameters converges, to $\theta_0$ say; then $f_{\theta_0} = f_0$, and
    $R(f_0; \Omega, L) \le \|\theta_0\|^2 \le \liminf R(f_i; \Omega, L)$: the cost is lower
    semi-continuous where a width suffices, as for finite $\Omega$ ($N(N+1)$, Remark 1). The limit
    is not checked. For infinite $\Omega$ and unbounded widths print gives no proof, and there is
    none here.
    """
    total, product = 0 * net.cost(), 1 + 0 * net.cost()
    activations = net.activations(x)
    for index in reversed(range(start, net.depth)):
        W, b = net.weights[index], net.biases[index]
        step = length(W - other.weights[index]) * length(activations[index])
        total = total + product * (step + length(b - other.biases[index]))
        product = product * length(other.weights[index])
    return leq(length(net(x) - other(x)), total * linalg.scalar(weight, total), scale=1 + total)


def length(array):
    """The root of the sum of the squares of all entries."""
    return linalg.power((array * array).sum(), Fraction(1, 2))


@cited(
    "bottleneck.least-cost-is-attained",
    paper("bottleneck", "§2.1, the representation cost"),
    reason="open: a minimum over networks of any finite widths, which cannot be computed. Among networks of bounded "
    "widths it is attained if any equals f, since parameters of bounded norm have a convergent subsequence "
    "(bottleneck.lower-semicontinuity), and on finite domains widths of N(N + 1) are enough (Remark 1). On infinite "
    "domains print gives no bound of the widths beyond depth one, and there is none here. What is claimed of R "
    "here holds for the infimum as well",
)
def test_least_cost_is_attained():
    r"""The least cost of a function at a given depth is attained by a network of finite widths.

    $R(f; \Omega, L) = \min \{\|\theta\|^2 : f_\theta = f \text{ on } \Omega\}$, over networks of depth $L$ and any finite
    widths, for every finite piecewise linear $f$ that has one.
    """


@cited(
    "bottleneck.limit-of-the-parts",
    paper("bottleneck", "§3.3, the limit of the parts"),
    reason="open: in R(α̃_ℓ; ℓ) the map and the depth change together. That the corrections of f are at most the "
    "sums is Theorem 3.1 for the limit (bottleneck.composition-without-positivity). That they are at least the "
    "sums needs liminf (R(α̃_ℓ; ℓ) − kℓ) ≥ R^(1)(α̃_p), and of the upper part likewise: a lower "
    "semi-continuity that is uniform in the depth, where a bound of each width gives it at each depth alone "
    "(bottleneck.lower-semicontinuity). It holds where the Jacobians of α̃_ℓ converge with rank k and "
    "R^(1)(α̃_p) = 2 log|Jα̃_p(x)|_+ at some x (bottleneck.regularity-bound), as for linear maps "
    "(bottleneck.shares-of-the-first-correction)",
)
def test_limit_of_the_parts():
    r"""The limits of hidden representations split both corrections.

    If $\tilde\alpha_{\ell_L} \to \tilde\alpha_p$ along optimal networks, $\ell_L/L \to p \in (0, 1)$, then
    $R^{(0)}(f) = R^{(0)}(\tilde\alpha_p) = R^{(0)}(\sigma(\tilde\alpha_p) \to f)$ and
    $R^{(1)}(f) = R^{(1)}(\tilde\alpha_p) + R^{(1)}(\sigma(\tilde\alpha_p) \to f)$.
    """
