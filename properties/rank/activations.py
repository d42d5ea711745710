"""§2 and Remark 1 of `rank`: homogeneous activations, and networks of absolute values."""

import torch

from rankcheck import Network, bound, eq, identity, leq, networks, paper, tolerances, witnesses
from rankcheck.instances import STEEPEST, Source, instances, network


@instances
def homogeneous_activations(source: Source):
    """Any slopes alpha and beta, |alpha| moved away from |beta| by 1 if they are equal; a point."""
    alpha, beta, x = source.tensor(), source.tensor(), source.tensor()
    equal = (alpha.abs() - beta.abs()).abs() < 2.0**-16  # where |a| < 1 is a matter of rounding
    away = torch.where(alpha < 0, alpha - 1, alpha + 1)
    return torch.where(equal, away, alpha), beta, x


@instances
def even_and_odd_activations(source: Source):
    """|alpha| = |beta|: multiples of the absolute value, which the statement excludes."""
    alpha, x = source.tensor(low=0.5, high=2.0), source.tensor(low=-4.0, high=-0.5)
    return alpha, -alpha, x


def right_side_steeper(alpha, beta):
    """The form for |alpha| > |beta| in all cases: b = |alpha|, a = beta/alpha."""
    one = torch.ones_like(alpha)
    slope = beta / torch.where(alpha == 0, one, alpha)
    return witnesses.HomogeneousForm(slope, torch.where(alpha < 0, -one, one), alpha.abs())


def wrong_side(alpha, beta):
    """The form with the sign of the inner factor lost."""
    form = witnesses.homogeneous_form(alpha, beta)
    return form._replace(factor=form.factor.abs())


@identity(
    "rank.homogeneous-activation",
    paper("rank", "§2"),
    instances=homogeneous_activations(),
    needs={"|alpha| differs from |beta|": even_and_odd_activations()},
    mutants={
        "the inner factor without its sign": {"form": wrong_side},
        "the right side taken for the steeper one": {"form": right_side_steeper},
    },
    witness=witnesses.homogeneous_form,
)
def test_homogeneous_activation(alpha, beta, x, *, form=witnesses.homogeneous_form):
    r"""Every homogeneous activation with unequal slopes is a rescaled $\sigma_a$ with $|a| < 1$.

    $\sigma(x) = \alpha x$ for $x \ge 0$ and $\beta x$ for $x < 0$, with $|\alpha| \ne |\beta|$,
    equals $c\,\sigma_a(b x)$ for some $c = \pm 1$, $b \in \mathbb R$ and $a \in (-1, 1)$.

    One of the slopes may be zero. Where $|\alpha| = |\beta|$ (the identity, the absolute value, zero)
    there is no such form.
    """
    a, c, b = form(alpha, beta)
    value = torch.where(x >= 0, alpha * x, beta * x)
    return (
        eq(value, c * networks.leaky(b * x, a), label="the function"),
        eq(c.abs(), 1, label="c = ±1"),
        eq((a.abs() < 1).long(), 1, label="|a| < 1"),
    )


@instances
def absolute_value_networks(source: Source):
    """Networks of depth ≥ 2 with σ = |·|, a point and a large factor t."""
    net = network(source, depth=(2, 5), slopes="relu")
    x = source.tensor(net.widths[0])
    t = 2.0 ** source.integer(0, 10)
    return Network.unchecked_slope(net.weights, net.biases, -1.0), x, t


@instances
def leaky_networks(source: Source):
    """The same with a slope in (−1, 1) and small biases."""
    net, x, t = absolute_value_networks()(source)
    slope = source.tensor(low=-STEEPEST, high=STEEPEST)
    return Network(net.weights, [b / 64 for b in net.biases], slope), x, t


@instances
def offsets(source: Source):
    """One hidden unit |t x + b| with t|x| ≥ |b|: the difference is 2|b|."""
    b = source.tensor(1, low=-2.0, high=2.0)
    one = torch.ones_like(b[:, None])
    net = Network.unchecked_slope((one, one), (b, 0 * b), -1.0)
    return net, source.tensor(1, low=2.0, high=8.0), 1.0


@bound(
    "rank.absolute-value-networks",
    paper("rank", "Remark 1"),
    instances=absolute_value_networks(),
    tight=offsets(),
    needs={"|a| = 1": leaky_networks()},
    audit="left out: it is about networks for the absolute value",
)
def test_absolute_value_networks(net, x, t):
    r"""Networks of absolute values are even up to a constant.

    With $\sigma = |\cdot|$ and $L \ge 2$:
    $|f(tx) - f(-tx)| \le 2\,|W_L| \cdots |W_2|\,|b_1|$, entry by entry, for every $t$. So
    $\sup_t \|f(tx) - f(-tx)\| < \infty$, and such networks cannot represent every piecewise-linear
    function.

    The proof: $||u + b| - |u - b|| \le 2|b|$ in the first layer, and $||u| - |v|| \le |u - v|$ in
    the layers behind it.
    """
    bound = 2 * net.biases[0].abs()
    for w in net.weights[1:]:
        bound = w.abs() @ bound
    return leq((net(t * x) - net(-t * x)).abs(), bound, scale=tolerances.network_scale(net, t * x))
