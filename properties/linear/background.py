"""Background (slides A) and effect of weight decay (slides B) of `linear`."""

from fractions import Fraction

import torch

from rankcheck import Network, bound, cited, costs, eq, identity, leq, linalg, paper, tolerances
from rankcheck.instances import Source, away_from_zero, breakpoints, instances, network, positive


@cited(
    "linear.universal-approximation-by-width",
    paper("linear", "slides A, Universal Approximation Theorem for Wide Networks (Pinkus 1999)"),
    reason="a theorem about every continuous function, quoted from a survey; for Lipschitz functions "
    "of one variable separation.lipschitz-approximator has a width and a network",
)
def test_universal_approximation_by_width():
    r"""Wide networks with one hidden layer approximate every continuous function.

    For a continuous activation that is no polynomial, the functions $\sum_k a_k \sigma(w_k \cdot x +
    b_k)$ are dense in $C(\mathbb R^n)$, uniformly on compact sets. The slides say “nonlinear
    activation functions”.
    """


@cited(
    "linear.universal-approximation-by-depth",
    paper("linear", "slides A, Universal Approximation Theorem for Deep Networks (Lu et al. 2017)"),
    reason="a theorem about every integrable function, without a depth or a construction in the "
    "slides; linear.narrow-networks checks the converse at n = 1",
)
def test_universal_approximation_by_depth():
    r"""Deep ReLU networks of width n + 4 approximate every integrable function of n variables.

    For every Lebesgue-integrable $f: \mathbb R^n \to \mathbb R$ and $\varepsilon > 0$ there is a ReLU
    network of width at most $n + 4$ with $\int |f - F| < \varepsilon$. With width at most $n$ this is
    false.
    """


@cited(
    "linear.depth-separation",
    paper("linear", "slides A, Depth Separation Analysis (Daniely; Vardi & Shamir; Safran et al.)"),
    reason="results of other papers; that of Daniely is the document `separation`, whose claims check "
    "its bounds for depths two and three",
)
def test_depth_separation():
    r"""Some functions need exponential width at a smaller depth, and oscillate.

    There are functions that networks of one depth represent efficiently, and shallower ones only
    with a width that is exponential in the number of inputs. Such functions are often highly
    oscillatory: the results do not hold for functions with a bounded Lipschitz constant (Safran,
    Eldan and Shamir 2019).
    """


def midpoints(source: Source, like):
    """The midpoints of 6m intervals that divide [−1, 1], of shape (6m, 1)."""
    count = 3 * source.integer(1, 4)
    odd = 2 * like.new_ones(2 * count, 1).cumsum(0) - 2 * count - 1
    return odd / (2 * count)


@instances
def narrow_networks(source: Source):
    """A ReLU network of width one with any number of layers, and the points."""
    net = network(source, depth=(1, 5), width=(1, 1), inputs=1, outputs=1, slopes="relu")
    return net, midpoints(source, net.biases[0])


@instances
def best_narrow_networks(source: Source):
    """x ↦ max(±x, 1/3), in two layers or more, and the points."""
    t, w = positive(source, 1, low=0.5, high=2.0), away_from_zero(source, 1).sign()
    # The layers between the two are the identity on values ≥ 0.
    more = source.integer(0, 3)
    weights = (t * w, *[torch.ones_like(t)] * more, 1 / t)
    biases = (-t / 3, *[0 * t] * more, linalg.constant(Fraction(1, 3), t))
    return Network([W.unsqueeze(-1) for W in weights], biases), midpoints(source, t)


@instances
def absolute_values(source: Source):
    """A network of width two for (1 + t)|x|, and the points."""
    t = source.tensor(1, 1, low=-0.25, high=0.25)
    one = torch.ones_like(t)
    weights = (torch.cat((one, -one)), torch.cat((one + t, one + t), -1))
    return Network.linear(weights), midpoints(source, t)


@bound(
    "linear.narrow-networks",
    paper("linear", "slides A, “If width ≤ n, this is no longer true”, for n = 1"),
    instances=narrow_networks(),
    tight=best_narrow_networks(),
    needs={"the width is one": absolute_values()},
    mutants={"2 % more than 1/3": {"more": 1.02}},
    audit="left out: it is about networks of width one, and their distance to |x|",
)
def test_narrow_networks(net, x, *, more=1.0):
    r"""No ReLU network of width one, of any depth, is near the absolute value.

    $\int_{-1}^1 \bigl|F(x) - |x|\bigr|\,dx \ge \frac13$ for every ReLU network $F: \mathbb R \to
    \mathbb R$ all of whose layers have one unit, with equality for $\max(\pm x, \frac13)$.

    Such an $F$ is monotone. If it increases, let $\psi = 1$ on $[-1, -\frac13)$, $-1$ on $(-\frac13,
    \frac13)$, and 0 beyond: $\int F\psi \le 0$, so the integral is at least $\int (|x| - F)\psi \ge
    \int |x|\psi = \frac13$.

    Checked for the sum over the midpoints of $6m$ intervals, for which the same proof gives the same
    bound. For $n > 1$ see linear.universal-approximation-by-depth.
    """
    distance = 2 * (net(x) - x.abs()).abs().mean()
    return leq(more, 3 * distance)


@cited(
    "linear.alignment",
    paper("linear", "slides B, Effect of weight decay (Ji & Telgarsky 2018)"),
    reason="a theorem about infinite training time (Ji & Telgarsky, Gradient descent aligns the "
    "layers of deep linear networks, ICLR 2019); the layers align at a logarithmic rate, so no "
    "finite run confirms or contradicts the limit",
)
def test_alignment():
    r"""Gradient descent aligns the layers of linear networks.

    On linearly separable data, with a loss that has an exponential tail, gradient descent on a
    deep linear network makes each $W_\ell / \|W_\ell\|_F$ tend to a rank-one matrix
    $u_\ell v_\ell^\top$, with $|v_{\ell+1} \cdot u_\ell| \to 1$. Not checked.
    """


@instances
def units_in_one_variable(source: Source):
    """Units with breakpoints τ_1 < ... < τ_K: W (K × 1), b, a, c, τ."""
    K = source.integer(1, 6)
    W, a, c = away_from_zero(source, K, 1), source.tensor(K), source.tensor()
    bends = breakpoints(source, K)
    return W, -W[:, 0] * bends, a, c, bends


@instances
def units_that_bend_together(source: Source):
    """The same, and each unit once more, reflected and with −a_k: the two bends cancel."""
    W, b, a, c, bends = units_in_one_variable().build(source)
    return torch.cat((W, -W)), torch.cat((b, -b)), torch.cat((a, -a)), c, bends


@identity(
    "linear.one-dimensional-cost",
    paper("linear", "slides B, Effect of weight decay (Savarese et al. 2019)"),
    instances=units_in_one_variable(),
    needs={"the breakpoints are distinct": units_that_bend_together()},
    mutants={
        "exponent 1.02": {"exponent": Fraction(51, 50)},
        "exponent 0.98": {"exponent": Fraction(49, 50)},
    },
)
def test_one_dimensional_cost(W, b, a, c, bends, *, exponent=1):
    r"""In one variable the path norm is the total variation of the derivative.

    $\sum_k |a_k| |w_k| = \int |f''|$ for $f(x) = \sum_k a_k [w_k x + b_k]_+ + c$ with distinct
    breakpoints.

    The right side is computed twice: from the slopes of the active units beside each breakpoint,
    and from values of $f$ alone, as the jumps of its difference quotients between breakpoints.
    """
    path = linalg.power(costs.path_norm_of_units(W, a), exponent)
    net = costs.two_layer_network(W, b, a, c)
    ends = torch.cat((bends[:1] - 1, bends, bends[-1:] + 1)).unsqueeze(-1)
    lengths = ends.diff(dim=0)
    slopes = net(ends).diff(dim=0) / lengths
    variation = slopes.diff(dim=0).abs().sum()
    scale = tolerances.network_scale(net, ends).sum() / lengths.amin()
    return (
        eq(path, costs.total_variation_of_derivative(W, b, a), label="by the active units"),
        eq(path, variation, scale=scale, label="by values of f"),
    )


@cited(
    "linear.radon-total-variation",
    paper("linear", "slides B, Effect of weight decay (Ongie et al. 2019)"),
    reason="the total variation of a distribution on the hyperplanes of R^d, defined by duality; in "
    "one variable it is linear.one-dimensional-cost, and for units with distinct hyperplanes its value "
    "is the path norm, linear.path-norm-of-a-function",
)
def test_radon_total_variation():
    r"""In d variables the cost of two layers is the total variation of a Radon transform.

    Weight decay prefers functions $f: \mathbb R^d \to \mathbb R$ with a small $\|\mathcal
    R(-\Delta)^{(d+1)/2} f\|_{TV}$, $\mathcal R$ the Radon transform. For $f(x) = \sum_k a_k [w_k
    \cdot x + b_k]_+ + c$ with distinct hyperplanes it is $2(2\pi)^{d-1} \sum_k |a_k| \|w_k\|$: each
    unit contributes a point mass at its hyperplane. In one variable it is $\int |f''|$, up to a
    constant. A linear part of $f$ has no mass, but costs something.
    """
