"""Section 4 of `bottleneck`: at rank two a tangent kernel of the order log L, at a cost of 2L + O(log L)."""

from fractions import Fraction

import torch

from rankcheck import construction, eq, leq, linalg, networks, paper, witnesses
from rankcheck.instances import Source, instances


@instances
def sawtooth_codes(source: Source):
    """n, a number of identity layers, and for each of the 2^(n+2) pieces of [0, 1] a point on it."""
    n, between = source.integer(0, 3), source.integer(0, 4)
    pieces = 2 ** (n + 2)
    inside = source.tensor(pieces, low=0.125, high=0.875)
    t = (torch.arange(pieces, device=inside.device) + inside) / pieces
    return n, between, t.unsqueeze(-1)


def read_by_q_alone(net):
    """The same function, without the term that is zero on the path."""
    last = net.weights[-1]
    first = torch.arange(last.shape[-1], device=last.device) == 0
    weights = (*net.weights[:-1], torch.where(first, last, 0 * last))
    return net.with_parameters(weights, net.biases)


def without_a_shift(net):
    """The wave by which it is read is not a quarter of a period late."""
    index = len(net.weights) - 4
    while net.weights[index].shape[-1] != 2:
        index -= 1
    b = net.biases[index]
    third = torch.arange(b.shape[-1], device=b.device) == 2
    return net.with_parameters(
        net.weights,
        (*net.biases[:index], torch.where(third, 0 * b, b), *net.biases[index + 1 :]),
    )


@construction(
    "bottleneck.ntk-with-two-units",
    paper("rankcheck", "docs/proofs/ntk-with-two-units.md, Theorem 1"),
    instances=sawtooth_codes(),
    mutants={
        "read by q alone": {"change": read_by_q_alone},
        "read by a wave that is not shifted": {"change": without_a_shift},
        "a layer adds 2 % less": {"share": Fraction(49, 50)},
    },
    loose={
        "a layer is small": "t² + p² is 2 at t = 1 alone, where p has a kink",
        "the trace": "the bounds of the outer layers are added, with all units at their largest",
        "the cost": "rounded",
    },
    witness=witnesses.sawtooth_code,
    effort=0.4,
)
def test_ntk_with_two_units(n, between, t, *, change=lambda net: net, share=1):
    r"""With two units in most layers the identity of [0, 1] has a tangent kernel of the order log L.

    For all $n \ge 0$ and $L \ge 2n + 5$ there is a ReLU network of depth $L$ with $f(t) = t$ on
    $[0, 1]$, which has two units in $L - 2n - 5$ of its layers,

    $$\|\theta\|^2 \le 2L + 80n + 110, \qquad
      \Theta(t, t) \le 3 \cdot 4^{-n} (L - 2n - 5) + 5n + 90,$$

    with $\Theta$ over weights and biases, at all $t$ where the network is differentiable (all but
    finitely many). With $n = \lceil \frac12 \log_2 L \rceil$ the kernel is $O(\log L)$ and the cost
    $2L + O(\log L)$. And for $\|\theta\|^2 \le 2L + c_1$ the largest kernel on $[0, 1]$, divided by $L$, can be
    less than $C e^{-c_1/58}$ for large $L$: no bound $\Theta \ge cL$ holds at rank 2 with a constant that
    does not depend on $c_1$; at rank 1 it is bottleneck.ntk-linear-in-depth.

    The point is carried beside a sawtooth of itself, by which the last layers read it. A layer in
    between adds $(t^2 + p^2 + 1) 4^{-n}$, with p the sawtooth. Proof: docs/proofs/ntk-with-two-units.md.
    """
    batch, depth = tuple(t.shape[:-2]), witnesses.outer_layers(n) + between
    net = change(witnesses.sawtooth_code(n, depth, t, batch))
    deeper = change(witnesses.sawtooth_code(n, depth + 1, t, batch))
    trace = networks.ntk_trace(net, t, biases=True)
    added = networks.ntk_trace(deeper, t, biases=True) - trace
    code = net.activations(t)[n + 1]
    layer = ((code * code).sum(-1) + 1) / 4**n
    most = linalg.scalar(Fraction(3 * between, 4**n) + 5 * n + 90, trace)
    return (
        eq(net(t), t, label="the function"),
        eq(added, layer * linalg.scalar(share, layer), scale=trace, label="a layer"),
        leq(layer, linalg.scalar(Fraction(3, 4**n), layer), label="a layer is small"),
        leq(trace, most, label="the trace"),
        leq(net.cost(), 2 * depth + 80 * n + 110, label="the cost"),
    )
