"""The figures of bottleneck.figure-2: spectra, descent paths, distances, orbits by layer."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from rankcheck.experiments.result import Result, Run
from rankcheck.report.charts.picture import Picture
from rankcheck.report.panels import Key, panels
from rankcheck.report.svg import INK, Axis, Chart, Point

__all__ = ["figures"]

_WIDE, _TALL = 310.0, 280.0
_SMALL = "₀₁₂₃₄₅₆₇₈₉"
#: Smaller shares are drawn here.
_LEAST = 1e-4
#: The groups in their order, with the words of the legend.
_GROUPS = {
    "deep": "deep, with ridge",
    "noisy": "E of order one",
    "shallow": "depth 3",
    "no-ridge": "no ridge",
}


def figures(result: Result) -> list[Picture]:
    """The three panels of the document with a control for the paths, then all layers and groups."""
    drawn = {run.settings["group"]: run for run in reversed(result.runs) if run.drawn}
    out = [_panels(drawn["deep"], "symmetry", "A network that has learnt the symmetry")]
    out.append(_layers(result))
    if "noisy" in drawn:
        title = "The same for a task without the symmetry"
        out.append(_panels(drawn["noisy"], "symmetry-noisy", title))
    return out


def _panels(run: Run, name: str, title: str) -> Picture:
    """Spectra, paths in the layer and in two other numbers, and distances, of one run."""
    said, drawn = run.settings, run.drawn
    layer = run.measured["crossing_layer"]
    crossing, at_all = run.measured["crossing"], run.measured["crossing_at_all"]
    charts = [
        _spectra(drawn["singular_values"]),
        _paths(drawn["paths"], f"Descent paths in α{_SMALL[layer]}"),
        _distances(drawn),
        _paths(drawn["paths_others"], "In two other numbers", ("|wᵀv|", "|uᵀv|")),
    ]
    description = (
        f"One network of depth {said['depth']}. In α_{layer} {at_all['layer']} pairs of paths "
        f"cross, {crossing['layer']} of them at more than 30 degrees; in (|wᵀv|, |uᵀv|) "
        f"{at_all['others']} and {crossing['others']}."
    )
    caption = (
        f"One network (seed {run.seed}, depth {said['depth']}, width {said['width']}, "
        rf"$\lambda = {said['ridge']:g}$, entries of $E$ of standard deviation {said['noise']:g}). "
        r"**a** The eight largest singular values of each $W_\ell$; the dashed line is at 1/2. "
        rf"**b** The images under $\alpha_{layer}$ of {len(drawn['paths'])} paths "
        r"$v(0), \dots, v(T)$ of the descent, in its first two principal components; dots are "
        r"starts. **c** $\|\alpha_2(x) - \alpha_2(x_0)\|$ over a plane orthogonal to $w$, where "
        r"$x_0$ is the ring. **d** The same paths in $(|w^T v|, |u^T v|)$ for one $u \perp w$: two "
        rf"numbers that do not determine how they go on. Of the pairs of {said['paths']} paths, "
        f"{at_all['layer']} cross in **b** and {at_all['others']} in **d**; at more than 30 "
        f"degrees, {crossing['layer']} and {crossing['others']}."
    )
    svg = panels(charts, 2, title=title, description=description)
    return Picture(name, title, caption, svg)


def _spectra(spectra: Sequence[Sequence[float]]) -> Chart:
    """The largest singular values by layer."""
    top = max(max(s) for s in spectra)
    chart = Chart(
        "Singular values",
        "Each layer has a few dots, for its largest singular values.",
        Axis(0, len(spectra) + 1, "layer"),
        Axis(0, 1.05 * max(top, 1.0)),
        width=_WIDE,
        height=_TALL,
        right=8,
    )
    chart.rule(y=0.5)
    layers = list(enumerate(spectra, 1))
    first = [(float(number), s) for number, values in layers for s in values[:2]]
    rest = [(float(number), s) for number, values in layers for s in values[2:]]
    chart.marked([(0, rest), (1, first)], fine=True)
    return chart


def _paths(
    paths: Sequence[Sequence[Point]], title: str, labels: tuple[str, str] = ("", "")
) -> Chart:
    """Paths in a plane, with a dot at the start of each."""
    (left, right), (low, high) = (
        _ends([point[axis] for path in paths for point in path]) for axis in (0, 1)
    )
    chart = Chart(
        title,
        "Each line is a path of gradient descent.",
        Axis(left, right, labels[0], count=4),
        Axis(low, high, labels[1], count=4),
        width=_WIDE,
        height=_TALL,
        right=8,
    )
    chart.lines(paths, 1, thin=True)
    chart.dots([path[0] for path in paths], 1, fine=True)
    return chart


def _ends(values: Sequence[float]) -> Point:
    """A range that is a little wider than the values."""
    low, high = min(values), max(values)
    more = 0.05 * (high - low) or 1.0
    return low - more, high + more


def _distances(drawn: Any) -> Chart:
    """The distances of α_2 over a plane."""
    values, half, spot = drawn["distances"], drawn["half"], drawn["spot"]
    most = max(map(max, values)) or 1.0
    ends = Axis(-half, half, count=5)
    chart = Chart(
        "Distance in α₂ to x₀",
        f"Darker cells are farther; the darkest is at {most:.3g}.",
        ends,
        ends,
        width=_WIDE,
        height=_TALL,
        right=8,
    )
    shares = [[value / most for value in row] for row in values]
    chart.cells(shares, (-half, -half), (half, half), 1)
    chart.rings([(spot, 0.0)], INK)
    return chart


def _layers(result: Result) -> Picture:
    """By layer, what is left of the orbits, and how many singular values are outliers."""
    depth = max(run.settings["depth"] for run in result.runs)
    shares = Chart(
        "Share within orbits",
        "By layer, the median over the runs of a group, for rotations about w.",
        Axis(0, depth, "layer, 0 is the input"),
        Axis(_LEAST, 1, scale="log", count=4),
        width=_WIDE,
        height=_TALL,
        right=8,
    )
    most = max(max(run.measured["outliers"]) for run in result.runs)
    ticks = {float(n): str(n) for n in (1, 2, 3, 5, 10, 20, 50, 100, 200) if n <= most}
    counts = Chart(
        "Outliers",
        "By layer, the median over the runs of a group.",
        Axis(0, depth, "layer"),
        Axis(1, max(most, 2), scale="log", ticks=ticks),
        width=_WIDE,
        height=_TALL,
        right=8,
    )
    keys = []
    for series, (group, words) in enumerate(_GROUPS.items(), 1):
        runs = result.where(group=group)
        if not runs:
            continue
        keys.append(Key(words, series))
        rotations = _medians([run.measured["rotation_shares"] for run in runs])
        shares.line([(float(n), max(s, _LEAST)) for n, s in enumerate(rotations)], series)
        outliers = _medians([run.measured["outliers"] for run in runs])
        counts.line([(float(n), max(c, 1.0)) for n, c in enumerate(outliers, 1)], series)
    title = "Orbits and outliers by layer"
    caption = (
        r"**a** For new points, the share of the variance of $\alpha_\ell$ that is within orbits "
        r"of rotations about $w$; layer 0 is $x$, and the last one is $f$. **b** How many singular "
        r"values of $W_\ell$ are above 1/2. Lines are medians over the runs of a group."
    )
    svg = panels([shares, counts], 2, title=title, description=caption, keys=keys)
    return Picture("symmetry-layers", title, caption, svg)


def _medians(rows: Sequence[Sequence[float]]) -> list[float]:
    """The median of each column."""
    return [float(median(column)) for column in zip(*rows, strict=True)]
