"""The charts of docs/gallery.md that need no search: claims evaluated at instances."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import torch

from rankcheck.catalogue.collect import project
from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.claims.claim import Claim
from rankcheck.instances.drivers import BatchSource
from rankcheck.networks.network import Network
from rankcheck.records.file import Records
from rankcheck.report.charts.picture import Picture
from rankcheck.report.charts.scales import floored, log_axis, whole_axis
from rankcheck.report.svg import TALL, Axis, Chart, Point
from rankcheck.witnesses import least_hidden_layers
from rankcheck.witnesses.switching_loops import switching_loop

__all__ = ["CHARTS", "ROOT", "file_of", "page", "saved"]

ROOT = Path(__file__).parents[2]


def kernel() -> Picture:
    """Prop. 9/18 of `bottleneck` on chains of unit weights: both sides by depth."""
    claim = _claim("bottleneck.ntk-derivative-as-printed")
    depths = range(1, 7)
    printed, found = [], []
    for depth in depths:
        one = torch.ones(1, 1, 1, dtype=torch.float64)
        net = Network.linear([one] * depth)
        relation = claim.body(net, torch.ones(1, 1, dtype=torch.float64))
        printed.append((float(depth), relation.lhs.item()))
        found.append((float(depth), relation.rhs.item()))
    chart = Chart(
        "What Prop. 9/18 of bottleneck says, and what is",
        "On chains of unit weights the printed bound is twice the depth, and the norm of the "
        "mixed derivative is the depth.",
        whole_axis(1, 6, "depth"),
        Axis(0, 13, "norm of the mixed derivative of the tangent kernel"),
        right=130,
    )
    for points, series, name in ((printed, 2, "at least 2L?"), (found, 1, "it is L")):
        chart.line(points, series, dashed=series == 2)
        chart.dots(points, series)
        chart.end_label(points[-1][1], name, series)
    return Picture("kernel", chart.title, "", chart.svg)


def star() -> Picture:
    """The cost per layer of loops around three rays, against the conjecture and the limit."""
    points = []
    for phases in range(8, 120, 3):
        loop = switching_loop(phases, torch.zeros(1, dtype=torch.float64))
        points.append((float(loop.length), loop.cost().item() / loop.length))
    below = next(length for length, cost in points if cost < 2)
    chart = Chart(
        "Cheaper than its bottleneck rank",
        f"Loops of layers around three rays cost less than 2 a layer from {below:.0f} layers on. "
        "None costs less than 3 over the cube root of 4.",
        Axis(0, 370, "layers"),
        Axis(1.85, 2.16, "cost per layer"),
        right=150,
    )
    limit = 3 / 4 ** (1 / 3)
    chart.rule(y=2.0)
    chart.rule(y=limit, series=2)
    chart.dots(points, 1, fine=True)
    chart.end_label(2.0, "conjectured", 0)
    chart.end_label(limit, "3/∛4, proved", 2)
    return Picture("star", chart.title, "", chart.svg)


def variance() -> Picture:
    """The three points of the recipe for data sets, before and after the ReLU."""
    claim = saved("recipes.md", "mine.largest-variance")
    (instance,) = re.findall(r"mine\.largest-variance .*?\n +Z = (\[\[.*?\]\])", page("recipes.md"))
    Z = torch.tensor(
        [[_number(x) for x in row.split(", ")] for row in re.findall(r"\[([^][]+)\]", instance)],
        dtype=torch.float64,
    )
    relation = claim.body(Z)
    chart = Chart(
        "A ReLU that increases a variance",
        f"Three points, and their images. The largest variance grows from "
        f"{relation.rhs.item():.3f} "
        f"to {relation.lhs.item():.3f}.",
        Axis(-0.8, 0.8, "first coordinate"),
        Axis(-0.25, 1.25, "second coordinate"),
        right=150,
    )
    points, images = Z.tolist(), torch.relu(Z).tolist()
    for (a, b), (c, d) in zip(points, images, strict=True):
        chart.line([(a, b), (c, d)], 0, dashed=True)
    chart.dots([(a, b) for a, b in points], 1)
    chart.rings([(a, b) for a, b in images], 2)
    chart.label((-0.5, 0), "Z", 1, anchor="middle", shift=(0, -TALL / 2))
    chart.label((0, 0), "after the ReLU", 2, anchor="middle", shift=(0, -TALL / 2))
    return Picture("variance", chart.title, "", chart.svg)


def steepness() -> Picture:
    """The sides of the recipe for networks along its counterexample, over the last weight."""
    claim = saved("recipes.md", "mine.steepness")
    weights = torch.linspace(-2.5, 2.5, 101, dtype=torch.float64)
    one = torch.ones(101, 1, 1, dtype=torch.float64)
    net = Network.linear([one, one, weights.reshape(-1, 1, 1)])
    relation = claim.body(net, torch.ones(101, 1, dtype=torch.float64))
    lhs, rhs = (_points(weights, side) for side in (relation.lhs, relation.rhs))
    chart = Chart(
        "Three weights against a bound",
        "A chain with the weights 1, 1 and w: its slope |w| is above the cost per layer for |w| "
        "between 1 and 2.",
        Axis(-2.5, 2.5, "w, the last of three weights"),
        Axis(0, 3, "both sides"),
        right=140,
    )
    false = [(x, a, b) for (x, a), (_, b) in zip(lhs, rhs, strict=True) if a >= b]
    for sign in (-1, 1):
        side = [one for one in false if one[0] * sign > 0]
        chart.band([(x, a) for x, a, _ in side], [(x, b) for x, _, b in side], 2)
    chart.line(lhs, 2)
    chart.line(rhs, 1)
    found = -17 / 16
    chart.dots([(found, -found)], 2, tip="the counterexample, w = -17/16")
    chart.end_label(lhs[-1][1], "the slope", 2)
    chart.end_label(rhs[-1][1], "cost / L", 1)
    return Picture("steepness", chart.title, "", chart.svg)


def volume() -> Picture:
    """Rank, volume and cost per layer of the cheapest chains of depth four."""
    false = saved("rank_and_cost.py", "mine.rank-and-cost")
    true = saved("rank_and_cost.py", "mine.rank-and-volume")
    s, depth = torch.linspace(0.15, 4, 120, dtype=torch.float64), 4
    net = Network.linear([(s ** (1 / depth)).reshape(-1, 1, 1)] * depth)
    x = torch.ones(len(s), 1, dtype=torch.float64)
    rank, right = false.body(net, x), true.body(net, x)
    chart = Chart(
        "Rank and cost per layer",
        "Chains of depth 4 with slope s: where s is less than 1 the cost per layer is less than "
        "the rank, 1. The rank and a half of the logarithm of s is below it, and touches it at 1.",
        Axis(0, 4, "slope s of a chain of depth 4"),
        Axis(0, 2.2, "per layer"),
        right=175,
    )
    for side, name, series in (
        (rank.rhs, "cost / L", 1),
        (right.lhs, "rank + ½ log s", 3),
        (rank.lhs, "rank", 2),
    ):
        points = [(a, b) for a, b in _points(s, side) if b >= 0]
        chart.line(points, series, dashed=series == 2)
        chart.end_label(points[-1][1], name, series)
    return Picture("volume", chart.title, "", chart.svg)


def gap() -> Picture:
    """Both sides of `bottleneck.singular-value-gap` for one singular value."""
    claim = _claim("bottleneck.singular-value-gap")
    s = torch.linspace(0.1, 2.5, 120, dtype=torch.float64)
    relation = claim.body(s.reshape(-1, 1, 1))
    chart = Chart(
        "A singular value away from 1",
        "The square of s, less 1 and twice its logarithm, is at least the square of s - 1; both "
        "vanish at 1.",
        Axis(0, 2.5, "singular value s"),
        Axis(0, 3.8, "both sides"),
        right=190,
    )
    sides = (relation.rhs, "s² − 1 − 2 log s", 1), (relation.lhs, "(s − 1)²", 2)
    for side, name, series in sides:
        points = [(a, b) for a, b in _points(s, side) if b <= 3.8]
        chart.line(points, series)
        chart.end_label(points[-1][1], name, series)
    return Picture("gap", chart.title, "", chart.svg)


def integers() -> Picture:
    """Both sides of the claim over integers of proving.md, for the largest n."""
    claim, n = saved("proving.md", "mine.square"), 40
    sides = [claim.body(n, k) for k in range(n + 1)]
    bound = float(sides[0].rhs)
    chart = Chart(
        "All pairs of integers, up to 40",
        f"4k(n - k) for n = {n} and all k; the largest value is n², {bound:.0f}, at k = {n // 2}.",
        Axis(0, n, "k"),
        Axis(0, 1.1 * bound, "4k(n − k), for n = 40"),
        right=70,
    )
    chart.rule(y=bound)
    chart.dots([(float(k), float(one.lhs)) for k, one in enumerate(sides)], 1, fine=True)
    chart.end_label(bound, "n²", 0)
    return Picture("integers", chart.title, "", chart.svg)


def eigenvalues() -> Picture:
    """The two largest eigenvalues of random laws, below the hyperbola of the conjecture."""
    claim = _claim("linear.two-eigenvalues")
    assert claim.instances is not None
    module = sys.modules[claim.body.__module__]
    found: list[Point] = []
    for seed, units in ((seed, units) for units in (2, 3, 4) for seed in range(4)):
        generator = module.laws_of_active_sets(units=(units, units))
        lengths, weights = generator(BatchSource(seed=seed, size=100))
        found += _two_eigenvalues(lengths, weights)
    largest = max(a * b for a, b in found)
    assert largest < 1 / 12
    chart = Chart(
        "Is their product at most 1/12?",
        f"The two largest eigenvalues of {len(found)} random laws, all below the curve on which "
        "their product is 1/12.",
        Axis(0, 1, "largest eigenvalue"),
        Axis(0, 0.4, "second eigenvalue"),
        right=60,
    )
    curve = [0.17 + 0.83 * i / 80 for i in range(81)]
    chart.dots(found, 1, fine=True)
    chart.line([(b, 1 / (12 * b)) for b in curve if 1 / (12 * b) <= b], 2)
    chart.end_label(1 / 12, "1/12", 2)
    return Picture("eigenvalues", chart.title, "", chart.svg)


def _two_eigenvalues(lengths: Any, weights: Any) -> list[Point]:
    """The two largest eigenvalues of the second moments, for normed λ and total weight 1."""
    sets = torch.tensor(list(product((0.0, 1.0), repeat=lengths.shape[-1])), dtype=torch.float64)
    V = sets * (lengths / lengths.norm(dim=-1, keepdim=True)).unsqueeze(-2)
    law = weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)
    values = torch.linalg.eigvalsh(V.mT @ (law.unsqueeze(-1) * V))
    return [(one[-1], one[-2]) for one in values.tolist() if one[-2] > 1e-9]


def records() -> Picture:
    """The largest certified ratio of every bound on record, sorted."""
    known = [one for entry in project() for one in Records.of(entry).relations]
    values = sorted((float(one.best.value) for one in known), reverse=True)
    values = [value for value in values if value > 0]
    attained = sum(value > 1 - 1e-6 for value in values)
    y = log_axis([max(value, 1e-3) for value in values], "largest certified lhs / rhs")
    assert y is not None
    chart = Chart(
        "How sharp are the theorems?",
        f"The records of {len(values)} bounds, sorted. {attained} are attained, up to a millionth.",
        Axis(0, len(values), "bounds, the sharpest ones first"),
        y,
    )
    heights = floored(values, y)
    for series, chosen in ((1, range(attained)), (2, range(attained, len(values)))):
        chart.dots([(n + 0.5, heights[n]) for n in chosen], series, fine=True)
    chart.label((0, 1), f"attained: {attained}", 1, shift=(12, -TALL / 2))
    text = f"open: {len(values) - attained}"
    chart.label((len(values), 1), text, 2, anchor="end", shift=(0, -TALL / 2))
    return Picture("records", chart.title, "", chart.svg)


# Claims


def _claim(name: str) -> Claim:
    """A claim of the catalogue."""
    [claim] = load([entry for entry in project() if entry.id == name])
    return claim


def saved(name: str, claim: str) -> Claim:
    """A claim of a page of docs, or of a file of examples."""
    path = ROOT / "examples" / name if name.endswith(".py") else file_of(name)
    [found] = [one for one in load(select([str(path)])) if one.id == claim]
    return found


@cache
def file_of(name: str) -> Path:
    """All Python blocks of a page as a file."""
    blocks = re.findall(r"```python\n(.*?)```", page(name), re.DOTALL)
    path = Path(tempfile.mkdtemp()) / f"{Path(name).stem}.py"
    path.write_text(re.sub(r"(?m)^print\(.*$", "", "\n".join(blocks)), "utf-8")
    return path


def page(name: str) -> str:
    """The text of a page of docs."""
    return (ROOT / "docs" / name).read_text("utf-8")


def _number(text: str) -> float:
    top, _, bottom = text.partition("/")
    return int(top) / int(bottom or 1)


def _points(xs: Any, ys: Any) -> list[Point]:
    return list(zip(xs.tolist(), ys.broadcast_to(xs.shape).tolist(), strict=True))


def maxima() -> Picture:
    """Of how many numbers h hidden layers compute the maximum: a tree, two papers, and here."""
    layers = range(2, 8)
    printed = [3 ** (h - 1) + 2 for h in layers]
    for h, n in zip(layers, printed, strict=True):
        assert (least_hidden_layers(n), least_hidden_layers(n + 1)) == (h, h + 1)
    blocks = [2 * 6 ** (h - 1) for h in layers]
    most = 10.0**6
    chart = Chart(
        "Maxima in few layers",
        f"In print two hidden layers compute the maximum of {blocks[0]} numbers, and "
        f"{layers[-1]} that of {blocks[-1]}; two compute that of any number of them.",
        whole_axis(2, layers[-1], "hidden layers"),
        log_axis([2.0, most], "how many numbers"),
        right=170,
    )
    lines = (
        (blocks, 3, "Rueß et al."),
        (printed, 2, "Bakaev et al."),
        ([2**h for h in layers], 0, "a tree of pairs"),
    )
    for numbers, series, name in lines:
        points = [(float(h), float(n)) for h, n in zip(layers, numbers, strict=True)]
        chart.line(points, series, dashed=True)
        chart.dots(points, series)
        chart.end_label(points[-1][1], name, series)
    chart.line([(2, 2), (2, most)])
    chart.label((2, most), "two are enough for all", 1, shift=(10, 14))
    return Picture("maxima", chart.title, "", chart.svg)


#: The charts, by their files.
CHARTS: dict[str, Callable[[], Picture]] = {
    one.__name__: one
    for one in (
        *(kernel, star, variance, steepness, volume),
        *(maxima, gap, integers, eigenvalues, records),
    )
}
