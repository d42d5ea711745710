"""Which claims belong together: a false statement and its correction, claims with one witness."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from rankcheck.catalogue.entry import Entry
from rankcheck.claims.reference import DOCUMENTS
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart, claim_link

__all__ = ["Edge", "edges", "graph"]

TITLE = "Claims that belong together"
#: From an id to an id, and the name of the witness that they share; empty for a correction.
Edge = tuple[str, str, str]

_SHARED, _CORRECTED = 1, 2
#: The height of a row, the width of the picture, and that of the longest arc.
ROW, WIDTH, REACH = 16.0, 350.0, 70.0


def edges(entries: Sequence[Entry]) -> list[Edge]:
    """From each false statement to its correction; between successive claims with one witness."""
    known = {entry.id for entry in entries}
    corrections = [
        (entry.id, entry.corrected_by, "")
        for entry in entries
        if entry.corrected_by in known and entry.corrected_by is not None
    ]
    users: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.witness is not None:
            users[entry.witness].append(entry.id)
    return corrections + [
        (one, other, witness) for witness, ids in users.items() for one, other in pairwise(ids)
    ]


def graph(entries: Sequence[Entry]) -> Picture:
    """The claims that have an edge, in a column under their documents, with arcs between them."""
    arcs = edges(entries)
    named = {entry.id: entry for entry in entries}
    columns = _columns([named[id_] for id_ in _ordered(arcs)])
    count = sum(1 + len(ids) for ids in columns.values())
    rows = count + 2.0
    chart = Chart(
        TITLE,
        f"{count - len(columns)} claims under their documents. An arc leads from a false statement "
        "to its correction, or joins claims with one witness.",
        Axis(0, WIDTH, ticks={}),
        Axis(0, rows, ticks={}),
        width=WIDTH,
        height=ROW * (rows + 1),
        right=0,
        small=True,
        frame=False,
    )
    chart.label((REACH, rows), "false, and its correction", _CORRECTED, shift=(6, 4))
    chart.label((REACH, rows - 1), "with one witness", _SHARED, shift=(6, 4))
    row, places = rows - 1, dict[str, float]()
    for document, ids in columns.items():
        row -= 1
        chart.label((REACH, row), document, shift=(6, 4), strong=True)
        for id_ in ids:
            row -= 1
            places[id_] = row
            name = id_.removeprefix(f"{document}.")
            wrong = _CORRECTED if named[id_].corrected_by else None
            point, link = (REACH, row), claim_link(id_)
            chart.label(point, name, wrong, shift=(6, 4), link=link, tip=named[id_].title)
    for one, other, witness in arcs:
        y, end = places[one], places[other]
        tip = f"{one} and {other}: {witness}" if witness else f"{one} is corrected by {other}"
        # An arc bends by 3/4 of its bulge; the longest ones reach the left end.
        bulge = min(REACH, 10 + 2 * abs(y - end)) * 4 / 3
        series = _SHARED if witness else _CORRECTED
        chart.arc((REACH, y), (REACH, end), bulge, series, tip=tip)
    caption = (
        "The claims that belong to others. One kind of arc leads from a false statement to its "
        "correction, the other joins claims that have one construction or function as their "
        "witness, which is the tooltip of the arc. A name leads to its claim."
    )
    return Picture("graph", TITLE, caption, chart.svg, folded=True)


def _ordered(arcs: Sequence[Edge]) -> list[str]:
    """The ids that have an edge, with those that hang together one after the other."""
    ids = sorted({id_ for edge in arcs for id_ in edge[:2]})
    group = {id_: id_ for id_ in ids}
    for one, other, _ in arcs:
        old, new = sorted((group[one], group[other]), reverse=True)
        group = {id_: new if name == old else name for id_, name in group.items()}
    return sorted(ids, key=lambda id_: (group[id_], id_))


def _columns(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """The ids by the key of their document; the known documents come first."""
    columns: dict[str, list[str]] = {key: [] for key in DOCUMENTS}
    for entry in entries:
        key = "no document" if entry.reference is None else entry.reference.key
        columns.setdefault(key, []).append(entry.id)
    return {key: ids for key, ids in columns.items() if ids}
