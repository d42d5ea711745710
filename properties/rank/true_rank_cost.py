"""Prop. 5/11 of `rank`: the cost of fitting data of a function of bottleneck rank k."""

import torch

from rankcheck import Erratum, construction, eq, networks, paper, tolerances, witnesses
from rankcheck.instances import STEEPEST, Source, box, factorisation, instances, max_form, points_in

from ._two_layers import two_layers


@instances
def data_of_true_rank(source: Source):
    """f* = h ∘ g through R^k, N data points in a box, a ridge λ and two depths."""
    h, g = factorisation(source)
    low, high = box(source, g.widths[0])
    lower, _ = networks.interval_bounds(g, low, high)
    data = points_in(source, low, high, source.integer(1, 6))
    least = h.depth + g.depth
    depths = (least + source.integer(0, 8), least + source.integer(0, 30))
    return h, g, lower, data, source.tensor(low=0.125, high=2.0), depths


@instances
def data_below_the_bound(source: Source):
    """The same with a lower bound of 1 or more, which g need not reach at the data."""
    h, g, lower, data, ridge, depths = data_of_true_rank()(source)
    below = torch.relu(g(data).amin(-2)) + 1
    return h, g, torch.maximum(lower, below), data, ridge, (depths[0] + 1, depths[1] + 1)


def by_depth(h, g, depth, lower):
    """The network with weights that grow with the depth, so that its constant depends on it."""
    net = witnesses.identity_layers(h, g, depth, lower)
    return net.with_parameters([w * (1 + depth / 64) for w in net.weights], net.biases)


@construction(
    "rank.true-rank-cost",
    paper("rank", "Prop. 5/11"),
    instances=data_of_true_rank(),
    needs={"g is at least its lower bound at the data": data_below_the_bound()},
    mutants={"weights that grow with the depth": {"witness": by_depth}},
    witness=witnesses.identity_layers,
    errata=Erratum(
        printed=r"networks of depth $\lceil \log_2 d_{in} + 1 \rceil + 1$ (resp. $\lceil \log_2 k "
        r"+ 1 \rceil + 1$) […] using Corollary 1",
        right=r"$\lceil \log_2(d_{in} + 1) \rceil + 1$ and $\lceil \log_2(k + 1) \rceil + 1$, as "
        "in Corollary 1.",
        survives="Prop. 11, also with the printed depths: they are at least those of the corollary, which has "
        "a network of every larger depth.",
        weight="misprint",
        place="proof of Prop. 11",
    ),
)
def test_true_rank_cost(h, g, lower, data, ridge, depths, *, witness=witnesses.identity_layers):
    r"""Any number of data of a function of rank k are fitted at cost k + C/L per layer.

    The network of rank.identity-layers for $f^* = h \circ g$ fits every data set $(x_i, f^*(x_i))$
    exactly, so its loss with ridge $\lambda$ is
    $\frac1N \sum_i \|f(x_i) - y_i\|^2 + \frac{\lambda}{L} \|\theta\|^2 = \lambda (k + C/L)$, with the
    same $C$ at every depth and for every data set.
    """
    h_moved, g_moved = witnesses.translate(h, g, lower)
    k = g.widths[-1]
    constant = h_moved.cost() + g_moved.cost() - (h.depth + g.depth) * k
    targets = h(g(data))
    relations = []
    for name, depth in zip(("first", "second"), depths, strict=True):
        net = witness(h, g, depth, lower)
        errors = net(data) - targets
        scale = tolerances.network_scale(net, data)
        size = (scale * scale).sum(-1).mean(-1)
        loss = (errors * errors).sum(-1).mean(-1) + ridge * net.cost() / depth
        relations += [
            eq(errors, 0, scale=scale, label=f"the fit at the {name} depth"),
            eq(
                loss,
                ridge * (k + constant / depth),
                scale=ridge * (net.cost() / depth + k) + size * 2.0**-50,
                label=f"the loss at the {name} depth",
            ),
        ]
    return tuple(relations)


@instances
def compositions(source: Source):
    """g of d ≤ 4 and h of k ≤ 4 variables, a slope, a box with data, and two numbers of layers."""
    d, k = source.integer(1, 4), source.integer(1, 4)
    g = max_form(source, d, outputs=k, terms=source.integer(1, 2), pieces=d + 1)
    outputs, terms = source.integer(1, 2), source.integer(1, 2)
    h = max_form(source, k, outputs=outputs, terms=terms, pieces=k + 1)
    low, high = box(source, d)
    data = points_in(source, low, high, source.integer(1, 4))
    slope = source.tensor(low=-STEEPEST, high=STEEPEST)
    return h, g, slope, (low, high), data, (source.integer(0, 4), source.integer(5, 24))


@instances
def data_outside(source: Source):
    """The same with data far outside the box."""
    h, g, slope, (low, high), data, extra = compositions()(source)
    return h, g, slope, (low, high), low.unsqueeze(-2) + 64 * (data + 1 - low.unsqueeze(-2)), extra


def not_translated(h, g, depth, lower):
    """The network without the shift into the positive orthant."""
    return witnesses.identity_layers(h, g, depth, torch.zeros_like(lower))


@construction(
    "rank.true-rank-cost-at-depth-six",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 8"),
    instances=compositions(),
    needs={"the data lie in Ω": data_outside()},
    mutants={
        "trees of maxima of two": {"maximum": witnesses.binary_tree},
        "no translation": {"witness": not_translated},
        "weights that grow with the depth": {"witness": by_depth},
    },
    witness=witnesses.identity_layers,
    effort=0.1,
)
def test_true_rank_cost_at_depth_six(
    h, g, slope, box, data, extra, *, maximum=two_layers, witness=witnesses.identity_layers
):
    r"""Data of a function of rank k are fitted at every depth from 6 on, at cost k + C/L per layer.

    Let $f^* = h \circ g$ through $\mathbb R^k$, with $g$ of $d$ variables and $h$ of $k$ as in
    rank.piecewise-linear-depth-three, and $\Omega$ a box. Both are networks of depth three and of any slope
    $a \in (-1, 1)$, so with identity layers in between $f^*$ is on $\Omega$ a network of every depth
    $L \ge 6$ with $\|\theta\|^2 / L = k + C/L$, where $C$ depends neither on $L$ nor on the data. This
    is Prop. 5/11 of `rank`; its proof takes
    $L > \lceil \log_2(d+1) \rceil + \lceil \log_2(k+1) \rceil + 2$.

    Checked for $d \le 4$ and $k \le 4$, at two depths. For all $d$ and $k$ it rests on the page. So
    does this: $f^*$ itself is a network of depths 3, 4 and 5, so that with a larger $C$ the proposition
    holds from $L = 3$ on.
    """
    first, last = (
        witnesses.leaky_representation(
            witnesses.max_network(form, max(3, len(largest.matrices)), maximum=largest), slope
        )
        for form in (g, h)
        for largest in [maximum(form.gradients.shape[-2])]
    )
    lower, _ = networks.interval_bounds(witnesses.max_network(g), *box)
    k, least = first.widths[-1], first.depth + last.depth
    constant = sum(net.cost() for net in witnesses.translate(last, first, lower)) - 6 * k
    relations = [eq(least, 6, label="the least depth")]
    for name, more in zip(("first", "second"), extra, strict=True):
        net = witness(last, first, least + more, lower)
        relations += [
            eq(
                net(data),
                h(g(data)),
                scale=tolerances.network_scale(net, data),
                label=f"the fit at the {name} depth",
            ),
            eq(net.cost(), k * net.depth + constant, label=f"the cost at the {name} depth"),
        ]
    return tuple(relations)
