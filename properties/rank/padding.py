"""Remark 2 and the proof of Thm 4 of `rank`: wider networks compute the same at the same cost."""

import torch

from rankcheck import construction, eq, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, network_at_points


@instances
def networks_and_widths(source: Source):
    """A network, larger hidden widths, and a point where the network is differentiable."""
    net, x = network_at_points(source, depth=(2, 5))
    return net, [n + source.integer(0, 3) for n in net.widths[1:-1]], x


@instances
def networks_and_one_unit_less(source: Source):
    """The same with hidden widths that are smaller by one, in a control."""
    net, x = network_at_points(source, depth=(2, 4), width=(2, 4))
    return net, [n - 1 for n in net.widths[1:-1]], x


def pad_or_cut(net, hidden):
    """The padded network; units beyond a smaller width are left out."""
    most = [max(n, m) for n, m in zip(hidden, net.widths[1:-1], strict=True)]
    wide = witnesses.pad(net, most)
    ends = (net.widths[0], *hidden, net.widths[-1])
    weights = [w[..., :n, :m] for w, n, m in zip(wide.weights, ends[1:], ends[:-1], strict=True)]
    return wide.with_parameters(
        weights, [b[..., :n] for b, n in zip(wide.biases, ends[1:], strict=True)]
    )


def copies(net, hidden):
    """A network whose added units are copies of the first unit of their layer."""
    padded = witnesses.pad(net, hidden)
    weights, biases = [], []
    for w, b, n in zip(padded.weights, padded.biases, net.widths[1:], strict=True):
        unit = torch.arange(b.shape[-1], device=b.device)
        added = unit >= n
        weights.append(torch.where(added.unsqueeze(-1), w[..., :1, :], w))
        biases.append(torch.where(added, b[..., :1], b))
    return padded.with_parameters(weights, biases)


@construction(
    "rank.padding",
    paper("rank", "Remark 2, proof of Thm 4"),
    instances=networks_and_widths(),
    needs={"no hidden width is smaller": networks_and_one_unit_less()},
    mutants={"copies of a unit for zero units": {"witness": copies}},
    witness=witnesses.pad,
    audit="left out: a construction: zero units keep function and cost",
)
def test_padding(net, hidden, x, *, witness=pad_or_cut):
    r"""A network is one of any larger hidden widths, at the same cost.

    For every network of widths $n$ and all $n' \ge n$ with $n'_0 = n_0$, $n'_L = n_L$ there is a
    network of widths $n'$ with the same function and the same $\|\theta\|^2$: the added units have
    zero weights and zero bias. So the least cost of a function, over networks of given widths, does
    not rise with a hidden width, and a result about networks of widths $n^*$ with a constant $C$
    holds for all larger widths with the same $C$.
    """
    wide = witness(net, hidden)
    widths = zip(wide.widths[1:-1], hidden, strict=True)
    return (
        eq(wide(x), net(x), scale=tolerances.network_scale(net, x), label="the function"),
        eq(wide.cost(), net.cost(), label="the cost"),
        eq(wide.jacobian(x), net.jacobian(x), error=net.jacobian_noise(x)[..., None, None],
           label="the Jacobian"),
        *(eq(got, stated, label=f"width {layer}") for layer, (got, stated) in enumerate(widths, 1)),
    )  # fmt: skip
