"""Figures of a table on a terminal: numbers with a few digits, names without their middle."""

from __future__ import annotations

import math


def number(value: float | None, digits: int = 4) -> str:
    """A number with so many digits; empty for None.

    >>> number(2.00012), number(12345.6), number(1.5e-7, 2), number(0)
    ('2', '12346', '1.5e-07', '0')
    """
    if value is None:
        return ""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.0f}" if 10 ** (digits - 1) <= abs(value) < 1e6 else f"{value:.{digits}g}"


def shortened(text: str, most: int) -> str:
    """A text without its middle, if it is longer than `most` characters.

    >>> shortened("encoder.0.weight", 10), shortened("short", 10)
    ('enco…eight', 'short')
    """
    if len(text) <= most:
        return text
    end = most // 2
    return f"{text[: most - end - 1]}…{text[-end:]}"
