"""Background, slides A of `linear`: universal approximation by width and by depth, and the
separation of depths."""

from fractions import Fraction

import torch

from rankcheck import Network, bound, cited, leq, linalg, paper
from rankcheck.instances import Source, away_from_zero, instances, network, positive


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
    """The midpoints of 6m intervals that divide [−1, 1], of shape (6m, 1) behind the batch axes."""
    count = 3 * source.integer(1, 4)
    odd = 2 * torch.arange(-count, count, dtype=torch.float64, device=like.device) + 1
    return ((0 * like + odd) / (2 * count)).unsqueeze(-1)


@instances
def narrow_networks(source: Source):
    """A ReLU network of width one with any number of layers, and the points."""
    net = network(source, depth=(1, 5), width=(1, 1), inputs=1, outputs=1, slopes="relu")
    return net, midpoints(source, net.biases[0])


@instances
def best_narrow_networks(source: Source):
    """x ↦ max(±x, 1/3), in two layers or more, and the points."""
    t, w = positive(source, 1, low=0.5, high=2.0), away_from_zero(source, 1).sign()
    zero = 0 * t
    first = (t * w).unsqueeze(-1)
    weights = [first, (1 / t).unsqueeze(-1)]
    biases = [-t / 3, zero + linalg.scalar(Fraction(1, 3), t)]
    for _ in range(source.integer(0, 3)):
        # A layer more, before the last one: the identity on values ≥ 0.
        weights.insert(1, (zero + 1).unsqueeze(-1))
        biases.insert(1, zero)
    return Network(tuple(weights), tuple(biases), 0), midpoints(source, t)


@instances
def absolute_values(source: Source):
    """A network of width two for (1 + t)|x|, and the points."""
    t = source.tensor(1, 1, low=-0.25, high=0.25)
    one, zero = torch.ones_like(t), torch.zeros_like(t)
    weights = (torch.cat((one, -one), -2), torch.cat((one + t, one + t), -1))
    biases = (torch.cat((zero, zero), -2).squeeze(-1), zero.squeeze(-1))
    return Network(weights, biases, 0), midpoints(source, t[..., 0])


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
    distance = (net(x) - x.abs()).abs().squeeze(-1).sum(-1) * 2 / x.shape[-2]
    return leq(more, 3 * distance)
