"""Section 4 of `bottleneck`: the trace and the norm of the tangent kernel, also from the value alone."""

from fractions import Fraction

import torch

from rankcheck import Erratum, bound, eq, identity, leq, linalg, networks, paper, tolerances
from rankcheck.instances import (
    Source,
    instances,
    networks_at_points,
    networks_with_inputs,
    orthogonal,
    signs,
)

from ._slopes import least_slope

#: The step of a difference quotient in one parameter.
STEP = 2.0**-20


def perturbed(net, biases):
    """The networks with one parameter moved by STEP: the weights, then if asked for the biases."""
    parameters = [*net.weights, *net.biases]
    for index in range(len(parameters) if biases else net.depth):
        array = parameters[index]
        for unit in torch.eye(array.numel(), dtype=torch.float64, device=array.device):
            moved = [*parameters]
            moved[index] = array + STEP * unit.reshape(array.shape)
            yield net.with_parameters(moved[: net.depth], moved[net.depth :])


def squared_sensitivities(net, x, biases):
    """Σ ‖∂f/∂θ‖² over the parameters by difference quotients, and whether these are exact."""
    value, patterns = net(x), net.pattern(x)
    total, inside = 0 * value.sum(), torch.ones((), dtype=torch.bool, device=x.device)
    for other in perturbed(net, biases):
        total = total + ((other(x) - value) / STEP).square().sum()
        for here, there in zip(patterns, other.pattern(x), strict=True):
            inside = inside & (here == there).all()
    return total, inside


@identity(
    "bottleneck.ntk-trace",
    paper("bottleneck", "§4, proof of Thm 16"),
    instances=networks_at_points(depth=(1, 3), width=(1, 3)),
    mutants={"the biases left out": {"with_biases": False}},
    errata=(
        Erratum(
            printed=r"$\operatorname{Tr}[\Theta^{(L)}(x, x)] = \sum_\ell \|\alpha_{\ell-1}(x)\|^2 "
            r"\|J(\tilde\alpha_\ell \to f_\theta)(x)\|_F^2$, for parameters $\theta = (W_1, b_1, "
            r"\ldots, W_L, b_L)$",
            right="This is the trace of the kernel of the weights alone. If the biases count as "
            r"parameters, $\|\alpha_{\ell-1}\|^2 + 1$ takes the place of $\|\alpha_{\ell-1}\|^2$.",
            survives="Theorem 7/16, as the terms left out are not negative. Corollary 8/17 needs the kernel of "
            "all parameters where there are biases (bottleneck.low-dimensional-features).",
            place="proof of Thm 16 and App. C",
        ),
        Erratum(
            printed=r"$\operatorname{Tr}[\Theta^{(L)}(x, x)] = \sum_\ell "
            r"\|\alpha_{\ell-1}(x)\|_2^2 \|J(\tilde\alpha_\ell \to \alpha_L)(x)\|_F^2$",
            right=r"$J(\tilde\alpha_\ell \to f_\theta)(x)$, as later in the proof: the function "
            r"of a network is $\tilde\alpha_L$, without an activation.",
            survives="Theorem 7/16.",
            place="proof of Thm 16",
        ),
    ),
    witness=networks.ntk_trace,
    effort=0.5,
    audit="left out: it checks a function of rankcheck, on any network",
)
def test_ntk_trace(net, x, *, with_biases=True):
    r"""The trace of the tangent kernel, layer by layer.

    $\operatorname{tr} \Theta(x, x) = \sum_\ell \|\alpha_{\ell-1}(x)\|^2\,
    \|J(\tilde\alpha_\ell \to f)(x)\|_F^2$ over the weights, and with $\|\alpha_{\ell-1}\|^2 + 1$ in place of
    $\|\alpha_{\ell-1}\|^2$ over weights and biases.

    Compared with $\sum_\theta \|\partial f/\partial\theta\|^2$ by difference quotients. As $f$ is affine in
    each single parameter, they are exact where the step does not change the activation pattern.
    """
    relations = []
    rounding = (tolerances.network_scale(net, x) / STEP).sum() * 2.0**-44
    for label, biases in (("weights", False), ("weights and biases", True)):
        sensitivities, inside = squared_sensitivities(net, x, biases)
        trace = networks.ntk_trace(net, x, biases and with_biases)
        error = rounding * (1 + trace.abs())
        relations.append(eq(trace, sensitivities, where=inside, error=error, label=label))
    return tuple(relations)


@instances
def isotropic_kernels(source: Source):
    """f(x) = x on N ≤ d orthogonal points of one length r: Θ(X, X) = r² I."""
    d = source.integer(1, 3)
    count = source.integer(1, d)
    points = source.tensor(1, 1) * orthogonal(source, d)[:count]
    return networks.Network.linear((linalg.eye(d, like=points),)), points


@bound(
    "bottleneck.ntk-operator-norm",
    paper("bottleneck", "§4"),
    instances=networks_with_inputs(depth=(1, 3), width=(1, 3), points=(1, 3)),
    tight=isotropic_kernels(),
    mutants={"d_out on the other side, as printed": {"left": 1, "right": 0}},
    errata=Erratum(
        printed=r"$1/N \|\Theta^{(L)}(X, X)\|_{op} \le cL$ (which implies $d_{out} "
        r"\operatorname{Tr} \Theta^{(L)}(X, X) \le cL$)",
        right=r"$d_{out}$ belongs on the other side, and $\Theta(X, X)$ has $N d_{out}$ rows: it "
        r"implies $1/N \operatorname{Tr} \Theta(X, X) \le N d_{out} c L$. With one $c$ for both "
        r"sides, and also with $1/N$ before the trace, the line fails for $\Theta = I_2$ at one "
        "point. With another constant, for fixed $N$ and $d_{out}$, it is true.",
        survives="The boundedness of the activations, which needs the trace to be of order $L$ "
        "only.",
    ),
    audit="on data; points × outputs",
)
def test_ntk_operator_norm(net, points, *, left=0, right=1):
    r"""A fact on matrices: the mean trace of the tangent kernel is at most d_out times its norm.

    $\frac1N \operatorname{tr} \Theta(X, X) \le d_{out}\,\|\Theta(X, X)\|_{op}$ for $N$ points, with
    $\Theta$ over the weights: the matrix has $N d_{out}$ eigenvalues. Of networks only the
    number of rows enters.
    """
    kernel, outputs = networks.gram(net, points), net.widths[-1]
    mean = kernel.diagonal().sum() / len(points)
    return leq(mean * outputs**left, linalg.operator_norm(kernel) * outputs**right)


@instances
def chains_with_signs(source: Source, *, points=None, outputs=(1, 1)):
    """x ↦ one unit, weights of size t, outputs ±√n_L t times it, so that all layers add as much.

    The units are active, or all on the negative side of a slope with |a| between 1/8 and 1/2. With
    points, these are on one ray.
    """
    depth, n, k = source.integer(2, 6), source.integer(1, 3), source.integer(*outputs)
    side = source.choice((0, 1, -1))
    slope = source.tensor(low=0.125, high=0.5) * side
    t = source.tensor(1, 1, low=0.5, high=2.0)
    along = orthogonal(source, n)[:, :1]
    into = t * along.mT * (1 if side == 0 else -1)
    turn = -1 if side < 0 else 1
    out = turn * t * signs(source, k, 1)
    net = networks.Network.linear((into, *[turn * t] * (depth - 2), out), slope)
    x = source.tensor(points or 1, 1, low=0.25, high=4.0) * along.mT
    return net, x if points else x[0]


def from_the_values(net, x, outputs=1, of_slope=2):
    """L m^{2 − 2/L} n_L^{1/L} ‖x‖^{2/L} ‖f(x)‖^{2 − 2/L}, at a point x or at each of several."""
    L, value = net.depth, net(x)
    slopes = linalg.power(least_slope(net, x), Fraction(of_slope * (L - 1), L))
    count = linalg.power(linalg.scalar(net.widths[-1], value), Fraction(outputs) / L)
    rest = linalg.power(x.square().sum(-1), Fraction(1, L))
    return L * slopes * count * rest * linalg.power(value.square().sum(-1), Fraction(L - 1, L))


@bound(
    "bottleneck.ntk-trace-from-the-value",
    paper("rankcheck", "docs/proofs/ntk-trace.md, Theorem 1"),
    instances=networks_at_points(biases=False),
    tight=chains_with_signs(outputs=(1, 3)),
    needs={"no biases": networks_at_points(depth=(2, 3), width=(1, 2))},
    mutants={
        "the outputs to the power 1.04/L": {"outputs": Fraction(26, 25)},
        "the slope to the power 1.96 - 1.96/L": {"of_slope": Fraction(49, 25)},
    },
    audit="left out: it is about networks without biases",
)
def test_ntk_trace_from_the_value(net, x, *, outputs=1, of_slope=2):
    r"""Without biases the tangent kernel is large where the point and the value are.

    For a network of depth $L$ without biases, $\Theta$ over the weights, and $m = |a|$ for
    $a \ne 0$, $m = 1$ for ReLU:

    $$\operatorname{tr} \Theta(x, x) \ge L\,m^{2 - 2/L}\,n_L^{1/L}\,\|x\|^{2/L} \|f(x)\|^{2 - 2/L},$$

    and along the value $f(x)^\top \Theta(x, x) f(x) \ge
    L\,m^{2 - 2/L}\,\|x\|^{2/L} \|f(x)\|^{4 - 2/L}$, hence a bound of $\|\Theta(x, x)\|_{op}$ without
    $n_L^{1/L}$. So a network of large depth cannot learn a function with a kernel $\Theta \ll L$,
    whatever the norm of its parameters, unless it uses biases (bottleneck.ntk-below-linear).
    Equality: chains of one unit, at every depth and slope.

    Proof: docs/proofs/ntk-trace.md.
    """
    kernel, value = networks.ntk(net, x, x), net(x)
    square = value @ value
    single = linalg.power(linalg.scalar(net.widths[-1], square), -Fraction(outputs) / net.depth)
    size = from_the_values(net, x, outputs, of_slope)
    return (
        leq(size, kernel.diagonal().sum(), label="the trace"),
        leq(size * single * square, value @ kernel @ value, label="along the value"),
    )


@bound(
    "bottleneck.flatness-without-biases",
    paper("rankcheck", "docs/proofs/ntk-trace.md, Corollary 2"),
    instances=networks_with_inputs(biases=False, slopes="relu", depth=(1, 4), points=(1, 3)),
    tight=chains_with_signs(points=2, outputs=(1, 3)),
    needs={"no biases": networks_with_inputs(depth=(2, 3), width=(1, 2), slopes="relu")},
    mutants={"the outputs to the power 1.04/L": {"outputs": Fraction(26, 25)}},
    audit="left out: it is about networks without biases",
)
def test_flatness_without_biases(net, X, *, outputs=1):
    r"""Every interpolation by a network without biases is at least as sharp as its data demand.

    Let a ReLU network of depth $L$ without biases fit $f(x_i) = y_i$ for $i \le N$, and $H$ be the
    Hessian of $\frac1{2N} \sum_i \|f_\theta(x_i) - y_i\|^2$ in the weights, with the formula for slopes
    $a \ne 0$ as in bottleneck.ntk-trace-from-the-value. Then

    $$\operatorname{tr} H = \frac1N \sum_i \operatorname{tr} \Theta(x_i, x_i) \ge
      \frac{L\,n_L^{1/L}}N \sum_{i=1}^N \|x_i\|^{2/L} \|y_i\|^{2 - 2/L}.$$

    The first equation is bottleneck.hessian-at-interpolation; the trace of the kernel is what is
    computed. No minimum is flatter, whatever its parameters; data on a ray have minima with equality.

    Proof: docs/proofs/ntk-trace.md.
    """
    return leq(from_the_values(net, X, outputs).mean(), networks.ntk_trace(net, X).mean())
