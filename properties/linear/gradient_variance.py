"""EGOP, slides B of `linear`: what the matrix C_f = E[∇f ∇fᵀ] measures."""

from fractions import Fraction

from rankcheck import costs, eq, identity, linalg, paper, tolerances
from rankcheck.instances import Source, clear_of_boundaries, instances, law, network


@instances
def functions_and_directions(source: Source):
    """A two-layer ReLU network, points inside its regions, their probabilities, a direction v."""
    net = network(source, depth=(2, 2), outputs=1, slopes="relu")
    N, D = source.integer(1, 4), net.widths[0]
    x = source.tensor(N, D)
    return clear_of_boundaries(source, net, x), x, law(source, N), source.tensor(D)


@identity(
    "linear.gradient-variance",
    paper("linear", "slides B, EGOP"),
    instances=functions_and_directions(),
    mutants={
        "exponent 2.04": {"exponent": Fraction(51, 25)},
        "exponent 1.96": {"exponent": Fraction(49, 25)},
    },
    audit="left out: an identity of the formulas: both sides are the same for every network",
)
def test_gradient_variance(net, x, p, v, *, exponent=2):
    r"""The EGOP matrix is the mean square of directional derivatives.

    $v^\top C_f v = \mathbb E[(v^\top \nabla f(X))^2]$ for every $v$.

    Checked for laws with finitely many atoms. The right side uses values of $f$ alone:
    $v^\top \nabla f(x) = (f(x + tv) - f(x))/t$ for a step $t$ so short that no unit changes sign.
    """
    C = costs.egop(net.jacobian(x).squeeze(-2), p)
    left = (v.unsqueeze(-2) @ C @ v.unsqueeze(-1)).squeeze(-1).squeeze(-1)
    z = net.preactivations(x)[0].abs()
    speed = (net.weights[0] @ v.unsqueeze(-1)).squeeze(-1).abs().unsqueeze(-2)
    t = 1 / (2 * (speed / z).sum(-1) + 1)
    ahead = x + t.unsqueeze(-1) * v.unsqueeze(-2)
    slope = (net(ahead) - net(x)).squeeze(-1) / t
    right = (p * linalg.power(slope.abs(), exponent)).sum(-1)
    size = tolerances.network_scale(net, x.abs() + v.abs().unsqueeze(-2)).squeeze(-1) / t
    rough = (net.jacobian(x).squeeze(-2).abs() @ v.abs().unsqueeze(-1)).squeeze(-1)
    return eq(left, right, scale=(p * (slope.abs() * size + rough * rough)).sum(-1))
