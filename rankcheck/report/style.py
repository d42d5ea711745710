"""The style sheet of charts, and the series by number: five colours, faint, ink, and tones."""

from __future__ import annotations

__all__ = ["INK", "SMALL_TALL", "SMALL_WIDE", "STYLE", "TALL", "WIDE", "tone"]

#: The height of a line of text on narrow screens, and the width of a letter, in units.
TALL, WIDE = 22.0, 10.0
#: The same of small charts, which do not shrink.
SMALL_TALL, SMALL_WIDE = 13.0, 6.0
#: The series in the colour of the text.
INK = 6
#: The first of the tones, and how many there are.
_FIRST, _TONES = 10, 9
#: The tones run through these series.
_RAMP = (1, 4, 2)


def tone(share: float) -> int:
    """The series of a colour between the first (share 0) and the last (share 1) of a ramp.

    Raises:
        ValueError: unless 0 ≤ share ≤ 1.

    >>> tone(0), tone(0.5), tone(1)
    (10, 14, 18)
    """
    if not 0 <= share <= 1:
        raise ValueError(f"received the share {share} of a ramp; it lies between 0 and 1")
    return _FIRST + round(share * (_TONES - 1))


def _tones() -> str:
    """The colours of the tones, mixed of those of the series."""
    out, half = "", (_TONES - 1) // 2
    for number in range(_TONES):
        place, step = divmod(number, half) if number < _TONES - 1 else (1, half)
        one, other = (f"var(--series-{n})" for n in _RAMP[place : place + 2])
        mixed = f"color-mix(in xyz,{one} {100 - 100 * step // half}%,{other})"
        out += f".plot .s{_FIRST + number}{{--hue:{mixed}}}"
    return out


#: The style sheet of all charts. Series 1 to 5 are colours, 0 is that of faint lines, `INK` that of
#: text, and those from 10 on are the tones.
STYLE = (
    """
.plot{display:block;max-width:100%;height:auto;overflow:visible}
.plot text{font-family:inherit;font-size:14px;fill:var(--ink)}
.plot.small text{font-size:12px}
.plot .s0{--hue:var(--faint)}.plot .s1{--hue:var(--series-1)}.plot .s2{--hue:var(--series-2)}
.plot .s3{--hue:var(--series-3)}.plot .s4{--hue:var(--series-4)}.plot .s5{--hue:var(--series-5)}
.plot .s6{--hue:var(--ink)}
"""
    + _tones()
    + """
.plot text.strong{font-weight:600}
.plot text.tone{fill:var(--hue)}
.plot text.s0{fill:var(--ink)}
.plot .axis{fill:none;stroke:var(--ink);stroke-width:1}
.plot .grid{fill:none;stroke:var(--faint);stroke-width:1;opacity:.35}
.plot .line{fill:none;stroke:var(--hue);stroke-width:2;stroke-linejoin:round}
.plot .thin{fill:none;stroke:var(--hue);stroke-width:1.2;stroke-linejoin:round}
.plot .dash{stroke-dasharray:6 5}
.plot .band{fill:var(--hue);opacity:.22}
.plot .bars{fill:var(--hue)}
.plot .dots,.plot .spot{fill:none;stroke:var(--hue);stroke-width:7;stroke-linecap:round}
.plot .spot{stroke-width:4.5}
.plot a:hover path,.plot a:focus path{stroke:var(--ink)}
.plot a:hover text,.plot a:focus text{text-decoration:underline}
.plot .cell{fill:var(--hue);fill-opacity:.5;stroke:var(--ink);stroke-width:.7}
.plot .cell{stroke-linejoin:round}
.plot .level{fill:none;stroke:var(--hue);stroke-width:1;shape-rendering:crispEdges}
@media(max-width:560px){.plot:not(.small) text{font-size:20px}}
"""
)
