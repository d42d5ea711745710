"""The page of an audit: what follows, pictures, tables of layers and theorems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankcheck.audit.ranks import TOLERANCE
from rankcheck.audit.result import WITHOUT_DATA
from rankcheck.faces.report.charts.audit import pictures
from rankcheck.faces.report.figures import figure
from rankcheck.faces.report.page import render
from rankcheck.faces.report.svg import printable

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit, Quantiles

#: What the findings mean, in the order of the page.
FINDINGS: Mapping[str, str] = {
    "fails": "the relation is violated beyond rounding: a file was misread, or this is a bug",
    "undecided": "floating point numbers cannot tell",
    "holds": "the relation is satisfied at every point that was checked",
    "not evaluated": "the network is so large that it would take too long",
    "not applicable": "a hypothesis is not met by this network",
}
#: So many singular values of the Jacobian are written.
SHOWN = 6
#: Of a layer, so many are written.
FIRST = 4


def audit_page(audit: Audit) -> str:
    """An audit as one HTML page that needs no other file and asks for nothing."""
    return render("audit.html", **_values(audit))


def audit_fragment(audit: Audit) -> str:
    """An audit as HTML for a notebook."""
    return render("audit_fragment.html", **_values(audit))


def _values(audit: Audit) -> dict[str, Any]:
    """What the templates show."""
    order = list(FINDINGS)
    theorems = sorted(audit.theorems, key=lambda one: order.index(one.finding))
    return {
        "audit": audit,
        "data": audit.data,
        "pictures": pictures(audit),
        "theorems": theorems,
        "without_data": WITHOUT_DATA,
        "balances": any(layer.imbalance is not None for layer in audit.layers),
        "neurons": any(layer.bent is not None for layer in audit.layers),
        "counts": Counter(one.finding for one in audit.theorems),
        "findings": FINDINGS,
        "figure": figure,
        "spread": _spread,
        "text": printable,
        "tolerance": TOLERANCE,
        "most_values": SHOWN,
        "first_values": FIRST,
    }


def _spread(many: Quantiles) -> list[str]:
    """The five numbers of a distribution."""
    five = (many.least, many.quarter, many.median, many.three_quarters, many.most)
    return [figure(one, 3) for one in five]
