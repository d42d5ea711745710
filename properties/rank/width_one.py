"""End of the proof of Prop. 9 of `rank`: the bound of the cost that it uses needs width."""

from itertools import pairwise

import torch

from rankcheck import Network, bound, leq, paper, witnesses
from rankcheck.instances import STEEPEST, Source, instances, positive


def narrow(source: Source, *, width: int = 1, low: float = 0.0):
    """A network from R to R with so many units in each hidden layer, and a slope in [low, 15/16]."""
    depth = source.integer(1, 6)
    widths = (1, *([width] * (depth - 1)), 1)
    weights = [source.tensor(n, m) for m, n in pairwise(widths)]
    biases = [source.tensor(n) for n in widths[1:]]
    return Network(weights, biases, source.tensor(low=low, high=STEEPEST))


def three_points(source: Source):
    """x_1 < x_2 < x_3 and a height h > 0."""
    steps = positive(source, 2, low=0.25)
    x = torch.cat((0 * steps[..., :1], steps.cumsum(-1)), -1) + source.tensor(1)
    return x.unsqueeze(-1), positive(source, low=0.25)


@instances
def narrow_networks(source: Source):
    """A network of hidden width one with a slope ≥ 0, three points, and a height."""
    x, height = three_points(source)
    return narrow(source), x, height


@instances
def best_fits(source: Source):
    """h/2 − relu(h/2 − (h/2)(x − x_1)/(x_2 − x_1)) for ReLU: the values 0, h/2, h/2."""
    x, height = three_points(source)
    start, rise = x[..., 0, :], (x[..., 1, :] - x[..., 0, :])
    w = (height / 2).unsqueeze(-1) / rise
    weights = (-w.unsqueeze(-1), 0 * w.unsqueeze(-1) - 1)
    return Network(weights, (w * (start + rise), (height / 2).unsqueeze(-1))), x, height


@instances
def three_units(source: Source):
    """The interpolant, of width three."""
    x, height = three_points(source)
    y = torch.stack((0 * height, height, 0 * height), -1).unsqueeze(-1)
    return witnesses.rank_one_interpolant(x, y).network(), x, height


@instances
def folded_units(source: Source):
    """−|x − x_2| nearly: one unit of slope −15/16, scaled to h at x_2 and 0 at x_1; x_2 − x_1 = x_3 − x_2."""
    x, height = three_points(source)
    middle, step = x[..., 1, :], x[..., 1, :] - x[..., 0, :]
    x = torch.stack((middle - step, middle, middle + step), -2)
    one = torch.ones_like(middle).unsqueeze(-1)
    scale = (height.unsqueeze(-1) / step).unsqueeze(-1)
    return Network((one, -scale), (-middle, height.unsqueeze(-1)), -STEEPEST), x, height


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
    values = net(x)[..., 0]
    targets = torch.stack((0 * height, height, 0 * height), -1)
    errors = values - targets
    size = (values * values).sum(-1) + height * height
    return leq(factor * height * height / 2, (errors * errors).sum(-1), scale=size)
