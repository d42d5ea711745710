"""Section 4 of `bottleneck`: the trace and the norm of the tangent kernel."""

import torch

from rankcheck import Erratum, bound, eq, identity, leq, paper, refuted
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances.networks import networks_at_points, networks_with_inputs
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import eye, operator_norm
from rankcheck.networks import Network
from rankcheck.networks.tangent_kernel import ntk, ntk_trace

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
    mutants={"the biases left out, as printed": {"with_biases": False}},
    witness=ntk_trace,
    effort=0.5,
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
        trace = ntk_trace(net, x, biases and with_biases)
        rounding = (network_scale(net, x) / STEP).sum(-1) * (1 + trace.abs())
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


@refuted(
    "bottleneck.ntk-trace-as-printed",
    paper("bottleneck", "§4, proof of Thm 16"),
    instances=networks_at_points(depth=(1, 3), width=(1, 3)),
    errata=Erratum(
        printed="TODO",
        right="Print has ‖α‖² in each layer. As θ contains the biases, it must be ‖α‖² + 1. The bound on "
        "the activations survives, since the terms left out are not negative.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="bottleneck.ntk-trace",
)
def test_ntk_trace_as_printed(net, x):
    r"""The trace of the tangent kernel of all parameters, without the terms of the biases.

    $\operatorname{tr} \Theta(x, x) = \sum_\ell \|\alpha_{\ell-1}(x)\|^2\,
    \|J(\tilde\alpha_\ell \to f)(x)\|_F^2$ for $\Theta$ over all parameters $\theta = (W, b)$.
    """
    return eq(ntk_trace(net, x, biases=True), ntk_trace(net, x, biases=False))


def gram(net, points):
    """Θ(X, X) over the weights, shape (*B, N d, N d), from its blocks."""
    N = points.shape[-2]
    rows = [
        torch.cat([ntk(net, points[..., i, :], points[..., j, :]) for j in range(N)], -1)
        for i in range(N)
    ]
    return torch.cat(rows, -2)


@instances
def isotropic_kernels(source: Source):
    """f(x) = x on one point: Θ(x, x) = ‖x‖² I."""
    d = source.integer(1, 4)
    points = source.tensor(1, d)
    identity = eye(d, like=points).expand((*source.batch, d, d))
    return Network.linear((identity,)), points


@bound(
    "bottleneck.ntk-operator-norm",
    paper("bottleneck", "§4 (corrected)"),
    instances=networks_with_inputs(depth=(1, 3), width=(1, 3), points=(1, 3)),
    tight=isotropic_kernels(),
)
def test_ntk_operator_norm(net, points):
    r"""The mean trace of the tangent kernel is at most the output dimension times its norm.

    $\frac1N \operatorname{tr} \Theta(X, X) \le d_{out}\,\|\Theta(X, X)\|_{op}$ for $N$ points.
    """
    kernel = gram(net, points)
    trace = torch.diagonal(kernel, dim1=-2, dim2=-1).sum(-1)
    return leq(trace / points.shape[-2], net.widths[-1] * operator_norm(kernel))


@refuted(
    "bottleneck.ntk-operator-norm-as-printed",
    paper("bottleneck", "§4"),
    instances=networks_with_inputs(depth=(1, 3), width=(1, 3), points=(1, 3)),
    errata=Erratum(
        printed="TODO",
        right="Print has d_out on the wrong side. Right is tr Θ(X,X)/N ≤ d_out ‖Θ(X,X)‖_op.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="bottleneck.ntk-operator-norm",
)
def test_ntk_operator_norm_as_printed(net, points):
    r"""The norm of the tangent kernel bounds its trace times the output dimension.

    $\frac1N \|\Theta(X, X)\|_{op} \le cL$ implies
    $\frac1N d_{out} \operatorname{tr} \Theta(X, X) \le cL$. Tested at the least such $c$.
    """
    kernel = gram(net, points)
    trace = torch.diagonal(kernel, dim1=-2, dim2=-1).sum(-1)
    return leq(net.widths[-1] * trace, operator_norm(kernel))
