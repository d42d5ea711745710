"""The pictures of a network with blocks: what they cost, what they do, branches and identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankcheck.report.charts.picture import Picture
from rankcheck.report.charts.scales import HALF, MANY, floored, on_pixels, size_axis, whole_axis
from rankcheck.report.svg import Axis, Chart, Point

if TYPE_CHECKING:
    from rankcheck.audit.part_facts import BlockFacts, Quantiles

__all__ = ["branches", "costs", "jacobians", "pictures"]

#: So many singular values of each block are drawn, at most.
VALUES = 30


def pictures(blocks: Sequence[BlockFacts]) -> list[Picture]:
    """The pictures of some blocks, in the order of the page; none of one that is the network."""
    drawn = [costs(blocks), jacobians(blocks), branches(blocks)] if len(blocks) > 1 else []
    return [picture for picture in drawn if picture is not None]


def costs(blocks: Sequence[BlockFacts]) -> Picture:
    """The cost of each block as a bar, and beside it the least of a chain with the same map."""
    chains = [one.least_cost for one in blocks if one.least_cost is not None]
    own = [one.cost for one in blocks]
    chart = Chart(
        "What each block costs",
        f"The cost of each of {len(blocks)} blocks"
        + (", and what every chain with the same map costs at least." if chains else "."),
        _axis(blocks),
        Axis(0, 1.12 * max([*own, *chains, 1e-12]), "cost"),
    )
    for place, one in enumerate(blocks, 1):
        middle = place if chains else place + HALF
        chart.bars([place - HALF, middle], [one.cost])
        if one.least_cost is not None:
            chart.bars([middle, place + HALF], [one.least_cost], 2)
    more = (
        " In orange what every chain of the same depth costs at least if it has the map of the "
        "block: a shortcut carries the identity for nothing, and a chain does not."
        if chains
        else ""
    )
    caption = f"The squares of the parameters of each block, summed, in blue.{more}"
    return Picture("blocks", chart.title, caption, chart.svg)


def jacobians(blocks: Sequence[BlockFacts]) -> Picture | None:
    """The singular values of the Jacobian of each block; None without data."""
    return _spectra(
        "block-jacobians",
        "The singular values of the blocks",
        "For each block the median of every singular value of its Jacobian at its inputs, and for "
        "the largest one the line from the least to the most.",
        _axis(blocks),
        [(n, one.singular_values) for n, one in enumerate(blocks, 1)],
        1,
    )


def branches(blocks: Sequence[BlockFacts]) -> Picture | None:
    """The singular values of what residual blocks add; None without such blocks, or data."""
    return _spectra(
        "branches",
        "The branches against the identity",
        "The singular values of the Jacobian of what each residual block adds: medians, and for "
        "the largest one the line from the least to the most. Those of an identity are all $1$, "
        "the dashed line. Where what goes past the branch is the identity and all are below $1$, "
        "the Jacobian of the block is invertible.",
        _axis(blocks),
        [(n, one.branch) for n, one in enumerate(blocks, 1)],
        2,
    )


def _axis(blocks: Sequence[BlockFacts]) -> Axis:
    return whole_axis(1, len(blocks), "block")


def _spectra(
    name: str,
    title: str,
    caption: str,
    x: Axis,
    numbered: Sequence[tuple[int, Sequence[Quantiles]]],
    series: int,
) -> Picture | None:
    """Medians as dots over the number of a block, and the spread of the largest as a line."""
    shown = [(n, many[:VALUES]) for n, many in numbered if many]
    drawn = [s for _, many in shown for s in (many[0].least, many[0].most, *_medians(many))]
    if not drawn:
        return None
    y = size_axis(drawn, "singular values")
    chart = Chart(title, f"The largest singular values of {len(shown)} blocks.", x, y)
    if y.low <= 1 <= y.high:
        chart.rule(y=1.0)
    dots: list[Point] = []
    for n, many in shown:
        least, most = floored((many[0].least, many[0].most), y)
        chart.line([(float(n), least), (float(n), most)], series)
        dots += [(float(n), s) for s in floored(_medians(many), y)]
    chart.dots(on_pixels(dots, y), series, tip="medians", fine=len(shown) > MANY)
    if any(len(many) > VALUES for _, many in numbered):
        caption += f" The {VALUES} largest ones are drawn."
    if min(drawn) < y.low:
        caption += " What is smaller than the axis shows lies on its lower end."
    return Picture(name, title, caption, chart.svg)


def _medians(many: Sequence[Quantiles]) -> list[float]:
    return [one.median for one in many]
