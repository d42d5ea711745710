"""The linear regions of a network in the plane, by the rank of its Jacobian."""

from __future__ import annotations

import numpy as np

from rankcheck.networks import Network
from rankcheck.regions import Regions
from rankcheck.regions import regions as linear_regions
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart, Point

__all__ = ["regions"]

TITLE = "The linear regions of a network"
SIZE = 4
#: The series of the polygons on which the Jacobian has rank 0, 1 and 2.
_SERIES = (0, 3, 1)


def regions() -> Picture:
    """The linear regions of a network of widths 2, 7, 4, 2 in a square; the ranks are exact."""
    cells = linear_regions(_network(), -SIZE, SIZE)
    ranks = [int(cells.exact_jacobian(region).rank()) for region in range(len(cells))]
    area = cells.volume() / cells.volume().sum()
    ends = Axis(-SIZE, SIZE)
    chart = Chart(
        TITLE,
        f"The {len(cells)} linear regions of a network in a square of the plane; the rank of the "
        f"Jacobian is 0 on {ranks.count(0)} of them, 1 on {ranks.count(1)}, 2 on {ranks.count(2)}.",
        ends,
        ends,
        height=440,
        right=230,
    )
    for k, series in enumerate(_SERIES):
        those = [region for region, rank in enumerate(ranks) if rank == k]
        share = float(area[those].sum())
        text = f"rank {k}: {len(those)} region{'s' * (len(those) != 1)}"
        chart.polygons([_polygon(cells, r) for r in those], series, tip=f"{text}, {share:.0%}")
        chart.end_label(1.5 * k - 1.5, text, series)
    caption = (
        f"A ReLU network of widths 2, 7, 4, 2 is affine on each of {len(cells)} regions of the "
        "square; the colour is the exact rank of its Jacobian there. The largest of these ranks is "
        r"$\mathrm{rank}_J(f; \Omega)$."
    )
    return Picture("regions", TITLE, caption, chart.svg)


def _polygon(cells: Regions, region: int) -> list[Point]:
    """The vertices of a region in their order around it."""
    centre, corners = cells.interior[region], cells.vertices(region)
    angles = np.arctan2(*(corners - centre).T[::-1])
    return [(float(x), float(y)) for x, y in corners[np.argsort(angles)]]


def _network() -> Network:
    """A network whose Jacobian has every rank on a good part of the square."""
    return Network.of(
        [
            [
                [1, 0],
                [1, 1],
                [0.5, 1.25],
                [-0.5, 0.25],
                [-0.75, -1.5],
                [-1.25, -0.25],
                [-0.25, 0.5],
            ],
            [
                [2, 0.75, -1.25, 0, 0.25, 0.5, -0.5],
                [-0.75, -2, 0, 1, -1.25, 0.25, -0.25],
                [0, 0.5, -0.25, 0.5, -0.25, -2.25, -0.75],
                [-0.5, 0.25, -1, -1, 0.75, -0.25, -0.75],
            ],
            [[-0.25, -2, -0.25, -0.25], [-1.25, -1, 1.25, 1]],
        ],
        [[-2, 2.5, 0, 1, 0.5, -3, 1], [-0.75, -0.25, -1, 0], [0.5, 0.25]],
    )
