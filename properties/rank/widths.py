"""Remark 2 and the proofs of Thm 4 and Prop. 9 of `rank`: wider networks, and those of width one."""

import torch

from rankcheck import Network, bound, cited, construction, eq, leq, paper, tolerances, witnesses
from rankcheck.instances import (
    STEEPEST,
    Source,
    instances,
    network_at_points,
    positive,
    slope_in_range,
)


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
    return wide.with_parameters(
        [w[:n, :m] for w, n, m in zip(wide.weights, ends[1:], ends[:-1], strict=True)],
        [b[:n] for b, n in zip(wide.biases, ends[1:], strict=True)],
    )


def copies(net, hidden):
    """A network whose added units are copies of the first unit of their layer."""
    padded = witnesses.pad(net, hidden)
    weights, biases = [], []
    for w, b, n in zip(padded.weights, padded.biases, net.widths[1:], strict=True):
        added = torch.arange(len(b), device=b.device) >= n
        weights.append(torch.where(added[:, None], w[0], w))
        biases.append(torch.where(added, b[0], b))
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
        eq(wide.jacobian(x), net.jacobian(x), error=net.jacobian_noise(x), label="the Jacobian"),
        *(eq(got, stated, label=f"width {layer}") for layer, (got, stated) in enumerate(widths, 1)),
    )


@cited(
    "rank.width-suffices",
    paper("rank", "Remark 2"),
    reason="a theorem about global minima, which cannot be computed here; the paper quotes it from "
    "Jacot, Golikov, Hongler & Gabriel (2022b) without a proof",
)
def test_width_suffices():
    r"""Width N(N + 1) suffices for N data points.

    The least regularised loss over networks of any widths is attained with
    $n_\ell \le N(N + 1)$ in every hidden layer, for $N$ data points.
    """


def three_points(source: Source):
    """x_1 < x_2 < x_3 and a height h > 0."""
    steps = positive(source, 2, low=0.25)
    x = torch.cat((0 * steps[:1], steps.cumsum(-1))) + source.tensor(1)
    return x[:, None], positive(source, low=0.25)


def targets(height):
    """0, h, 0."""
    return torch.stack((0 * height, height, 0 * height))


@instances
def narrow_networks(source: Source):
    """A network of hidden width one with a slope ≥ 0, three points, and a height."""
    x, height = three_points(source)
    depth = source.integer(1, 6)
    weights = [source.tensor(1, 1) for _ in range(depth)]
    biases = [source.tensor(1) for _ in range(depth)]
    return Network(weights, biases, slope_in_range(source, low=0.0)), x, height


@instances
def best_fits(source: Source):
    """h/2 − relu(h/2 − (h/2)(x − x_1)/(x_2 − x_1)) for ReLU: the values 0, h/2, h/2."""
    x, height = three_points(source)
    middle = x[1:2]
    W = height / 2 / (middle - x[:1])
    return Network((-W, 0 * W - 1), ((W * middle)[0], (height / 2).reshape(1))), x, height


@instances
def three_units(source: Source):
    """The interpolant, of width three."""
    x, height = three_points(source)
    return witnesses.rank_one_interpolant(x, targets(height)[:, None]).network(), x, height


@instances
def folded_units(source: Source):
    """−|x − x_2| nearly: one unit of slope −15/16, scaled to h at x_2 and 0 at x_1; x_2 − x_1 = x_3 − x_2."""
    x, height = three_points(source)
    middle, step = x[1], x[1:2] - x[:1]
    x = torch.cat((middle - step, x[1:2], middle + step))
    weights = torch.ones_like(step), -height / step
    return Network(weights, (-middle, height.reshape(1)), -STEEPEST), x, height


@bound(
    "rank.fits-of-width-one",
    paper("rank", "end of the proof of Prop. 9"),
    instances=narrow_networks(),
    tight=best_fits(),
    needs={"the hidden width is one": three_units(), "a ≥ 0": folded_units()},
    mutants={"1.05 h²/2": {"factor": 1.05}},
    audit="left out: it is about networks of width one and three data",
)
def test_fits_of_width_one(net, x, height, *, factor=1):
    r"""Networks of hidden width one and slope $a \ge 0$ do not fit three points that go up and down.

    For $x_1 < x_2 < x_3$ and the targets $0, h, 0$ every such network has
    $\sum_i |f(x_i) - y_i|^2 \ge h^2/2$, because $f$ is monotone; equality is attained. So for
    $\lambda < h^2/6$ the least loss over these networks exceeds $\lambda (1 + C/L)$, for every $C$ and all
    large $L$.

    Print ends the proof with the remark that nothing more is required than widths that are not zero.
    The proof begins with $\|\theta\|^2 \le L + C_N$, which is Prop. 8 and needs the width of a fit, as the
    paper says there. With width one Prop. 9 is trivially true, as print says; whether it holds for widths
    in between, at which no network fits the data at such a cost, is not known here.
    """
    values = net(x)[:, 0]
    errors = values - targets(height)
    size = values @ values + height * height
    return leq(factor * height * height / 2, errors @ errors, scale=size)
