"""Proposition 9/18 of `bottleneck`, first half: the mixed derivative of the tangent kernel."""

from fractions import Fraction

from rankcheck import Erratum, bound, leq, paper, refuted
from rankcheck.instances.networks import balanced_linear_networks, networks_at_points
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import frobenius_squared, operator_norm, power
from rankcheck.networks import Network
from rankcheck.networks.tangent_kernel import ntk_mixed_derivative


@instances
def leaky_chains(source: Source):
    """x ↦ a^{L−1} x, all weights one, at x < 0, with slopes between 1/8 and 1/2."""
    depth = source.integer(2, 5)
    slope = source.tensor(low=0.125, high=0.5)
    x = source.tensor(1, low=-4.0, high=-0.5)
    weight = x.new_ones((*source.batch, 1, 1))
    return Network.linear((weight,) * depth, slope), x


def norms(net, x):
    """‖∂²_xy Θ(x, x)‖_op, L‖Jf(x)‖_op^{2 − 2/L}, and where Jf(x) ≠ 0."""
    L, J = net.depth, net.jacobian(x)
    size = L * power(operator_norm(J), Fraction(2 * L - 2, L))
    return operator_norm(ntk_mixed_derivative(net, x)), size, frobenius_squared(J) > 0


@bound(
    "bottleneck.ntk-derivative",
    paper("bottleneck", "Prop. 9/18 (corrected)"),
    instances=networks_at_points(slopes="relu"),
    tight=balanced_linear_networks(slopes="relu", equal=True),
    needs={"ReLU": leaky_chains()},
    mutants={"2L, as printed": {"factor": 2}},
)
def test_ntk_derivative(net, x, *, factor=1):
    r"""A large Jacobian makes the mixed second derivative of the tangent kernel large.

    For ReLU networks $\|\partial^2_{xy} \Theta(x, x)\|_{op} \ge L\,\|Jf(x)\|_{op}^{2 - 2/L}$, with
    $\Theta$ over the weights and the derivative as a $d_{in}d_{out} \times d_{in}d_{out}$ matrix.

    ReLU is needed: the proof uses $D_\ell^2 = D_\ell$, and the control, a chain of leaky units on
    their negative side, breaks the bound.
    """
    derivative, size, somewhere = norms(net, x)
    return leq(factor * size, derivative, where=somewhere)


@refuted(
    "bottleneck.ntk-derivative-as-printed",
    paper("bottleneck", "Prop. 9/18"),
    instances=networks_at_points(depth=(1, 3), width=(1, 3), slopes="relu"),
    errata=Erratum(
        printed="TODO",
        right="Print has 2L‖Jf‖^{2−2/L} for the derivative in x and y. Right is L‖Jf‖^{2−2/L}: the factor 2 "
        "belongs to the second derivative of Θ(γ(t), γ(t)) along a segment, which the second half of the "
        "proposition uses.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="bottleneck.ntk-derivative",
)
def test_ntk_derivative_as_printed(net, x):
    r"""The bound on the mixed derivative of the tangent kernel, with a factor of two.

    $\|\partial^2_{xy} \Theta(x, x)\|_{op} \ge 2L\,\|Jf(x)\|_{op}^{2 - 2/L}$ for every point $x$.

    Tested on ReLU networks, for which the bound without the factor is true.
    """
    derivative, size, somewhere = norms(net, x)
    return leq(2 * size, derivative, where=somewhere)


@refuted(
    "bottleneck.ntk-derivative-leaky",
    paper("bottleneck", "Prop. 9/18"),
    instances=networks_at_points(depth=(1, 3), width=(1, 3)),
    errata=Erratum(
        printed="TODO",
        right="Print allows every slope, but the proof uses D_ℓ² = D_ℓ, which is true for ReLU alone. For "
        "a = 1/2, L = 2, unit weights and x < 0 the left side is 1/2, and L‖Jf‖^{2−2/L} is 1, even "
        "without the printed factor 2.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="bottleneck.ntk-derivative",
)
def test_ntk_derivative_leaky(net, x):
    r"""The bound on the mixed derivative of the tangent kernel, for every slope.

    $\|\partial^2_{xy} \Theta(x, x)\|_{op} \ge L\,\|Jf(x)\|_{op}^{2 - 2/L}$ for every slope
    $a \in (-1, 1)$.
    """
    derivative, size, somewhere = norms(net, x)
    return leq(size, derivative, where=somewhere)
