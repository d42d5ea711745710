"""The page of an audit: what follows, pictures, tables of layers and theorems."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankcheck.report.charts.audit import pictures
from rankcheck.report.page import render
from rankcheck.report.svg import printable

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit, Quantiles

__all__ = ["audit_fragment", "audit_page"]

#: What the findings mean, in the order of the page.
FINDINGS: Mapping[str, str] = {
    "fails": "the relation is violated beyond rounding: a file was misread, or this is a bug in "
    "rankcheck, as the theorem is proved",
    "undecided": "floating point numbers cannot tell",
    "holds": "the relation is satisfied at every point that was checked",
    "not applicable": "a hypothesis is not met by this network",
}
#: So many singular values of the Jacobian are written, and eigenvalues of its mean square.
SHOWN = 6
#: Of a layer, so many more than the rank are written, but at most `SHOWN`.
MORE = 2


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
        "counts": Counter(one.finding for one in audit.theorems),
        "findings": FINDINGS,
        "figure": figure,
        "spread": _spread,
        "text": printable,
        "most_values": SHOWN,
        "first_values": min(audit.rank + MORE, SHOWN),
    }


def figure(value: float | None, digits: int = 4) -> str:
    """A number with so many digits; empty if there is none.

    >>> figure(2.00012), figure(12345.6), figure(1.5e-7, 2), figure(0.0), figure(-3.0), figure(None)
    ('2', '12346', '1.5·10⁻⁷', '0', '−3', '')
    """
    if value is None:
        return ""
    if not math.isfinite(value):
        return str(value)
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        text = f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"
        return text.replace("-", "−")
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa}·10{raised}".replace("-", "−")


def _spread(many: Quantiles) -> list[str]:
    """The five numbers of a distribution."""
    five = (many.least, many.quarter, many.median, many.three_quarters, many.most)
    return [figure(one, 3) for one in five]
