"""Numbers of a page: a few digits, and powers of ten as such."""

from __future__ import annotations

import math

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def figure(value: float | None, digits: int = 4) -> str:
    """A number with so many digits; empty if there is none.

    >>> figure(2.00012), figure(12345.6), figure(999.96), figure(0.0), figure(-3.0), figure(None)
    ('2', '12346', '1000', '0', '−3', '')
    >>> figure(1.5e-7, 2), figure(3e8), figure(math.inf)
    ('1.5·10⁻⁷', '3·10⁸', 'inf')
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
    return f"{mantissa}·{power_of_ten(int(exponent))}".replace("-", "−")


def power_of_ten(n: int) -> str:
    """10^n as a text.

    >>> power_of_ten(-16)
    '10⁻¹⁶'
    """
    return f"10{str(n).translate(_RAISED)}"
