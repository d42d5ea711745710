"""Section 4 of `bottleneck`: the trace and the norm of the tangent kernel."""

import torch

from rankcheck import Erratum, bound, eq, identity, leq, linalg, networks, paper, tolerances
from rankcheck.instances import (
    Source,
    instances,
    networks_at_points,
    networks_with_inputs,
    orthogonal,
)

#: The step of a difference quotient in one parameter.
STEP = 2.0**-20


def perturbed(net, biases):
    """The networks with one parameter moved by STEP: the weights, then if asked for the biases."""
    groups = (net.weights, net.biases) if biases else (net.weights,)
    for kind, arrays in enumerate(groups):
        for index, array in enumerate(arrays):
            for entry in range(array[(0,) * len(net.batch)].numel()):
                unit = torch.zeros(array.shape[len(net.batch) :], dtype=torch.float64)
                unit.view(-1)[entry] = STEP
                moved = list(arrays)
                moved[index] = array + unit.to(array.device)
                parts = [net.weights, net.biases]
                parts[kind] = moved
                yield net.with_parameters(*parts)


def squared_sensitivities(net, x, biases):
    """Σ ‖∂f/∂θ‖² over the parameters by difference quotients, and where these are exact."""
    value, patterns = net(x), net.pattern(x)
    total = value.new_zeros(net.batch)
    inside = torch.ones(net.batch, dtype=torch.bool, device=x.device)
    for other in perturbed(net, biases):
        quotient = (other(x) - value) / STEP
        total = total + (quotient * quotient).sum(-1)
        for here, there in zip(patterns, other.pattern(x), strict=True):
            inside = inside & (here == there).all(-1)
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
    for biases in (False, True):
        sensitivities, inside = squared_sensitivities(net, x, biases)
        trace = networks.ntk_trace(net, x, biases and with_biases)
        rounding = (tolerances.network_scale(net, x) / STEP).sum(-1) * (1 + trace.abs())
        relations.append(
            eq(
                trace,
                sensitivities,
                where=inside,
                error=rounding * 2.0**-44,
                label="weights and biases" if biases else "weights",
            )
        )
    return tuple(relations)


@instances
def isotropic_kernels(source: Source):
    """f(x) = x on N ≤ d orthogonal points of one length r: Θ(X, X) = r² I."""
    d = source.integer(1, 3)
    count = source.integer(1, d)
    points = source.tensor(1, 1) * orthogonal(source, d)[..., :count, :]
    return networks.Network.linear(
        (linalg.eye(d, like=points).expand((*source.batch, d, d)),)
    ), points


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
    kernel = networks.gram(net, points)
    trace = torch.diagonal(kernel, dim1=-2, dim2=-1).sum(-1)
    outputs = net.widths[-1]
    return leq(
        trace * outputs**left / points.shape[-2], linalg.operator_norm(kernel) * outputs**right
    )
