r"""Rescaling a network without changing its function, and the cheapest network among those.

The activation is homogeneous, so multiplying the incoming weights and the bias of a hidden neuron
by t > 0, and its outgoing weights by 1/t, keeps f. The cost is a sum of exponentials in the log t,
strictly convex once dead neurons are removed, so it has one minimum. There

* neuron by neuron, ‖W_{ℓ,i·}‖² + b_{ℓ,i}² = ‖W_{ℓ+1,·i}‖² (`rank` Remark 6);
* with one factor a layer, ‖W_ℓ‖_F² + ‖b_ℓ‖² = ‖W_{ℓ+1}‖_F² for ℓ < L (`rank` Prop. 12).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from rankcheck.balls import as_batch, balls, is_ball
from rankcheck.theory.linalg import Array, Number, frobenius_squared
from rankcheck.theory.networks.network import Network
from rankcheck.theory.networks.proved_balancing import proved_log_scales
from rankcheck.theory.scalars import scalar

TOLERANCE = 1e-13
"""Sweeps stop when |in − out| ≤ TOLERANCE·(in + out) at every neuron (or layer)."""


def layer_rescaling(net: Network, alphas: Sequence[Number | Array]) -> Network:
    """W_ℓ → α_ℓ W_ℓ, b_ℓ → α_1···α_ℓ b_ℓ for α_1..α_L > 0, numbers or arrays (*B): computes Πα·f.

    Exact on balls. Raises ValueError unless there is one α for each layer.
    """
    if len(alphas) != net.depth:
        raise ValueError(
            f"received {len(alphas)} factors for {net.depth} layers; each layer takes one"
        )
    weights, biases = [], []
    product = net.weights[0].new_ones(net.batch)
    for w, b, alpha in zip(net.weights, net.biases, alphas, strict=True):
        one = w.new_ones(net.batch)
        factor = one * (scalar(alpha, w) if isinstance(alpha, Number) else alpha)
        product = product * factor
        weights.append(w * factor[..., None, None])
        biases.append(b * product[..., None])
    return net.with_parameters(weights, biases)


def layer_imbalances(net: Network) -> Array:
    """‖W_ℓ‖_F² + ‖b_ℓ‖² − ‖W_{ℓ+1}‖_F² for ℓ = 1..L−1, shape (*B, L − 1)."""
    costs = net.layer_costs()[:-1]
    rest = [c - frobenius_squared(w) for c, w in zip(costs, net.weights[1:], strict=True)]
    return torch.stack(rest, -1) if rest else net.weights[0].new_zeros((*net.batch, 0))


def neuron_imbalances(net: Network) -> tuple[Array, ...]:
    """‖W_{ℓ,i·}‖² + b_{ℓ,i}² − ‖W_{ℓ+1,·i}‖², shapes (*B, n_ℓ), for ℓ = 1..L−1."""
    return tuple(
        (w * w).sum(-1) + b * b - (v * v).sum(-2)
        for w, b, v in zip(net.weights[:-1], net.biases[:-1], net.weights[1:], strict=True)
    )


def balance_layers(net: Network) -> Network:
    """The cheapest network among the :func:`layer_rescaling` with Πα = 1, which have the same f.

    If a layer is dead (its weights and biases, or the next weights, all vanish) no α attains the
    infimum of the cost, and the limit is returned, in which these arrays are zero. On balls the
    scales are enclosed.

    Raises:
        Undecided: on balls, where it is open which layers are dead, or the enclosure fails.
    """
    # One factor a layer: the same problem for a network of width 1 with these squares.
    w = [frobenius_squared(v)[..., None, None] for v in net.weights]
    b = [(c * c).sum(-1)[..., None] for c in net.biases]
    return _balanced(net, w, b)


def balance_neurons(net: Network) -> Network:
    """The cheapest network with the same f that rescaling single neurons can reach.

    A dead neuron (all incoming weights and the bias, or all outgoing weights, vanish) has no
    cheapest scale; all its weights and its bias are set to zero, their limit. The result satisfies
    |in − out| ≤ TOLERANCE·(in + out) at every neuron, so it is balanced layer by layer as well.
    Gradients are those of the exact minimiser. On balls the scales, which are irrational, are
    enclosed, and no neuron is out of balance by more than the radii.

    Raises:
        Undecided: on balls, where it is open which neurons are dead, or the enclosure fails.
    """
    return _balanced(net, [w * w for w in net.weights], [b * b for b in net.biases])


def _balanced(net: Network, w: list[Array], b: list[Array]) -> Network:
    """The network at the minimiser for these squared weights and biases."""
    if not is_ball(w[0]):
        log_scales = as_batch(_balancing_scales, *w, *b)
        return _scaled(net, log_scales, [u == -math.inf for u in log_scales])
    alive = _alive(w, b)
    dead = [~a for a in alive]
    if len(w) <= 2:
        return _scaled(net, [_only_log_scale(w, b, a) for a in alive[: len(w) - 1]], dead)
    guess = _balancing_scales(*(balls(x).midpoints() for x in (*w, *b)))
    return _scaled(net, proved_log_scales(w, b, alive, guess), dead)


def _only_log_scale(w: list[Array], b: list[Array], alive: Tensor) -> Array:
    """The minimiser for the neurons of a single hidden layer, which do not depend on one another:
    the fourth root of what leaves a neuron over what enters it.
    """
    enter, leave = w[0].sum(-1) + b[0], w[1].sum(-2)
    ratio = torch.where(alive, leave, 1.0) / torch.where(alive, enter, 1.0)
    return ratio.log() / 4


def _scaled(net: Network, log_scales: Sequence[Array], dead_neurons: list[Tensor]) -> Network:
    """Incoming weights and bias of neuron (ℓ, i) times e^u, outgoing times e^{−u}; 0 if dead."""
    weights, biases = list(net.weights), list(net.biases)
    for i, (u, dead) in enumerate(zip(log_scales, dead_neurons, strict=True)):
        safe = torch.where(dead, 0.0, u)
        enter, leave = torch.where(dead, 0.0, safe.exp()), torch.where(dead, 0.0, (-safe).exp())
        weights[i] = weights[i] * enter.unsqueeze(-1)
        biases[i] = biases[i] * enter
        weights[i + 1] = weights[i + 1] * leave.unsqueeze(-2)
    return net.with_parameters(weights, biases)


def _balancing_scales(*squares: Tensor) -> tuple[Tensor, ...]:
    """The minimiser u of Σ w_{ℓ,ij} e^{2(u_{ℓ,i} − u_{ℓ−1,j})} + Σ b_{ℓ,i} e^{2u_{ℓ,i}}, u_L = 0.

    The arguments, w before b, are squared weights and biases ≥ 0; −∞ marks dead neurons. Each sweep
    over the layers balances each neuron given its neighbours. At the minimum half of a neuron's
    Hessian row belongs to the layer before (or to the bias) and half to the layer after, so
    Jacobi's iteration is a random walk on 0..L that stops at the ends. Its spectral radius is at
    most cos(π/L) for all weights, and the over-relaxation factor below is optimal for that bound.
    """
    w, b = list(squares[: len(squares) // 2]), list(squares[len(squares) // 2 :])
    hidden = len(w) - 1
    with torch.no_grad():
        alive = _alive(w, b)
        M, c = _masked(w, b, alive)
        u = [torch.zeros_like(x) for x in c[:-1]]
        best = 2 / (1 + math.sin(math.pi / len(w)))
        for sweep in range(200 * len(w)):
            worst = 0.0
            for i in range(hidden):
                enter, leave = M[i].sum(-1) + c[i], M[i + 1].sum(-2)
                enter, leave = (torch.where(alive[i], x, 1.0) for x in (enter, leave))
                imbalance = ((enter - leave).abs() / (enter + leave)).amax()
                worst = max(worst, float(imbalance))
                step = (leave / enter).log() / 4 * (1 if sweep < len(w) else best)
                u[i] = u[i] + step
                factor = (2 * step).exp()
                M[i], c[i] = M[i] * factor.unsqueeze(-1), c[i] * factor
                M[i + 1] = M[i + 1] / factor.unsqueeze(-2)
            if worst <= TOLERANCE:
                break
        else:
            raise ArithmeticError(
                f"balancing did not converge: the relative imbalance is still {worst:.1e}"
            )
    if hidden and any(x.requires_grad for x in (*w, *b)):
        correction = _implicit_step(*_masked(w, b, alive), u, alive)
        u = [x + d for x, d in zip(u, correction, strict=True)]
    return tuple(torch.where(a, x, -math.inf) for a, x in zip(alive, u, strict=True))


def _alive(w: list[Tensor], b: list[Tensor]) -> list[Tensor]:
    """Hidden neurons with an input and an output; removing dead neurons may make others dead."""
    alive: list[Tensor] = []
    for i in range(len(w) - 1):
        enter = w[i] if i == 0 else w[i] * alive[-1].unsqueeze(-2)
        alive.append(enter.sum(-1) + b[i] > 0)
    for i in reversed(range(len(w) - 1)):
        leave = w[i + 1] if i == len(w) - 2 else w[i + 1] * alive[i + 1].unsqueeze(-1)
        alive[i] = alive[i] & (leave.sum(-2) > 0)
    return alive


def _masked(
    w: list[Tensor], b: list[Tensor], alive: list[Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    w, b = list(w), list(b)
    for i, a in enumerate(alive):
        w[i], b[i] = w[i] * a.unsqueeze(-1), b[i] * a
        w[i + 1] = w[i + 1] * a.unsqueeze(-2)
    return w, b


def _implicit_step(
    w: list[Tensor], b: list[Tensor], u: list[Tensor], alive: list[Tensor]
) -> list[Tensor]:
    """One Newton step from the minimiser u: its value is zero, its gradient is du/d(w, b)."""
    M = [x.clone() for x in w]
    c = list(b)
    for i, x in enumerate(u):
        factor = (2 * x).exp()
        M[i], c[i] = M[i] * factor.unsqueeze(-1), c[i] * factor
        M[i + 1] = M[i + 1] / factor.unsqueeze(-2)
    enter = [M[i].sum(-1) + c[i] for i in range(len(u))]
    leave = [M[i + 1].sum(-2) for i in range(len(u))]
    # A quarter of the Hessian: in + out on the diagonal, minus the weights between two layers.
    diagonal = torch.cat(
        [torch.where(a, p + q, 1.0) for a, p, q in zip(alive, enter, leave, strict=True)], -1
    )
    widths = [x.shape[-1] for x in u]
    H = torch.diag_embed(diagonal.detach())
    start = 0
    for i in range(len(u) - 1):
        here = slice(start, start + widths[i])
        there = slice(start + widths[i], start + widths[i] + widths[i + 1])
        H[..., there, here] = -M[i + 1].detach()
        H[..., here, there] = -M[i + 1].detach().mT
        start += widths[i]
    slope = torch.cat(leave, -1) - torch.cat(enter, -1)
    step = torch.linalg.solve(H, slope.unsqueeze(-1)).squeeze(-1) / 2
    return list(step.split(widths, -1))
