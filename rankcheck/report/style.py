"""The style sheet of charts, and the series by number: five colours, and faint."""

from __future__ import annotations

__all__ = ["STYLE", "TALL", "WIDE"]

#: The height of a line of text on narrow screens, and the width of a letter, in units.
TALL, WIDE = 22.0, 10.0
#: The style sheet of all charts. Series 1 to 5 are colours, 0 is that of faint lines.
STYLE = """
.plot{display:block;max-width:100%;height:auto;overflow:visible}
.plot text{font-family:inherit;font-size:14px;fill:var(--ink)}
.plot .s0{--hue:var(--faint)}.plot .s1{--hue:var(--series-1)}.plot .s2{--hue:var(--series-2)}
.plot .s3{--hue:var(--series-3)}.plot .s4{--hue:var(--series-4)}.plot .s5{--hue:var(--series-5)}
.plot text.tone{fill:var(--hue)}
.plot text.s0{fill:var(--ink)}
.plot .axis{fill:none;stroke:var(--ink);stroke-width:1}
.plot .grid{fill:none;stroke:var(--faint);stroke-width:1;opacity:.35}
.plot .line{fill:none;stroke:var(--hue);stroke-width:2;stroke-linejoin:round}
.plot .dash{stroke-dasharray:6 5}
.plot .band{fill:var(--hue);opacity:.22}
.plot .bars{fill:var(--hue)}
.plot .dots,.plot .spot{fill:none;stroke:var(--hue);stroke-width:7;stroke-linecap:round}
.plot .spot{stroke-width:4.5}
.plot .ring{fill:none;stroke:var(--hue);stroke-width:2}
@media(max-width:560px){.plot text{font-size:20px}}
"""
