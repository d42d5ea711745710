"""Section 4 of `bottleneck`: the Hessian of the loss and the tangent kernel."""

from rankcheck import Need, eq, identity, linalg, networks, paper, tolerances
from rankcheck.instances import Source, instances, networks_with_inputs


@instances
def networks_with_residuals(source: Source, *, depth=(1, 2), kinds=(0, 1)):
    """A network, points, and the residuals there: 0 if the kind is 0, drawn if it is 1."""
    net, X = networks_with_inputs(depth=depth, width=(1, 2), points=(1, 2))(source)
    drawn, shape = source.choice(kinds), (len(X), net.widths[-1])
    return net, X, source.tensor(*shape) if drawn else X.new_zeros(shape)


@identity(
    "bottleneck.hessian-at-interpolation",
    paper("bottleneck", "§4"),
    instances=networks_with_residuals(),
    needs={
        "f_θ fits all points": Need(
            networks_with_residuals(depth=(2, 2), kinds=(1,)), {"everywhere": True}
        )
    },
    mutants={
        "the loss without the half": {"half": 1},
        "Θ over the weights alone": {"biases": False},
    },
    witness=networks.loss_hessian,
    effort=0.2,
    audit="left out: it takes the residuals of a loss; an audit has none",
)
def test_hessian_at_interpolation(net, X, residuals, *, half=2, everywhere=False, biases=True):
    r"""At an interpolating function the Hessian of the loss has the norm of the tangent kernel.

    For the loss $\frac1{2N} \sum_i \|f_\theta(x_i) - y_i\|^2$ with Hessian $H$ in all parameters, and
    $\Theta$ over all parameters: $\|H\|_{op} = \frac1N \|\Theta(X, X)\|_{op}$ where
    $f_\theta(x_i) = y_i$ for all $i$; and $\operatorname{tr} H = \frac1N \operatorname{tr} \Theta(X, X)$
    there.

    Print does not say whether the loss has the factor $\frac12$; without it both sides differ by a
    factor of two. The second equation is true for all $y_i$, since $f$ is affine in each single
    parameter, and is checked for all. $H$ is computed by difference quotients of the loss, which are
    exact where no step changes the activation pattern; other instances do not count.
    """
    hessian, inside = networks.loss_hessian(net, X, residuals)
    kernel = networks.gram(net, X, biases=biases) * 2 / (half * len(X))
    fits = (residuals == 0).all() | everywhere
    traces = [hessian.trace(), kernel.trace()]
    # A loss of the size of the residuals, or of a difference of values, is divided by the square
    # of the step.
    values = (tolerances.network_scale(net, X) + residuals.abs()).sum()
    step = float(networks.HESSIAN_STEP**2)
    error = 2.0**-46 / step * (1 + values) * (1 + values + traces[1].abs())
    norms = [linalg.operator_norm(M) for M in (hessian, kernel)]
    return (
        eq(*norms, where=inside & fits, error=error, label="the norm"),
        eq(*traces, where=inside, error=error, label="the trace"),
    )
