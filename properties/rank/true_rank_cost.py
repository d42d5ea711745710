"""Prop. 5/11 of `rank`: the cost of fitting data of a function of bottleneck rank k."""

import torch

from rankcheck import Erratum, construction, eq, paper
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances.factorisations import box, factorisation
from rankcheck.instances.source import Source, instances
from rankcheck.networks.bounds import interval_bounds
from rankcheck.witnesses.identity_layers import identity_layers, translate


@instances
def data_of_true_rank(source: Source):
    """f* = h ∘ g through R^k, N data points in a box, a ridge λ and two depths."""
    h, g = factorisation(source)
    low, high = box(source, g.widths[0])
    lower, _ = interval_bounds(g, low, high)
    share = source.tensor(source.integer(1, 6), g.widths[0], low=0.0, high=1.0)
    data = low.unsqueeze(-2) + share * (high - low).unsqueeze(-2)
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
    net = identity_layers(h, g, depth, lower)
    return net.with_parameters([w * (1 + depth / 64) for w in net.weights], net.biases)


@construction(
    "rank.true-rank-cost",
    paper("rank", "Prop. 5/11"),
    instances=data_of_true_rank(),
    needs={"g is at least its lower bound at the data": data_below_the_bound()},
    mutants={"weights that grow with the depth": {"witness": by_depth}},
    witness=identity_layers,
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
def test_true_rank_cost(h, g, lower, data, ridge, depths, *, witness=identity_layers):
    r"""Any number of data of a function of rank k are fitted at cost k + C/L per layer.

    The network of rank.identity-layers for $f^* = h \circ g$ fits every data set $(x_i, f^*(x_i))$
    exactly, so its loss with ridge $\lambda$ is
    $\frac1N \sum_i \|f(x_i) - y_i\|^2 + \frac{\lambda}{L} \|\theta\|^2 = \lambda (k + C/L)$, with the
    same $C$ at every depth and for every data set.
    """
    h_moved, g_moved = translate(h, g, lower)
    k = g.widths[-1]
    constant = h_moved.cost() + g_moved.cost() - (h.depth + g.depth) * k
    targets = h(g(data))
    relations = []
    for name, depth in zip(("first", "second"), depths, strict=True):
        net = witness(h, g, depth, lower)
        errors = net(data) - targets
        scale = network_scale(net, data)
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
