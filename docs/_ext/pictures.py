"""Two pictures of rankcheck's own claims: a ledger on a terminal, a counterexample on the page.

    python docs/_ext/pictures.py

verifies `CLAIMS`, and writes `docs/ledger.svg` and `docs/counterexample.svg`. Nothing in them is
written by hand, and they ask for nothing: no font, no style sheet. They are light or dark as the
page around them is.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from rich.text import Text
from terminals import drawn

from rankcheck.catalogue.collect import project
from rankcheck.catalogue.entry import Entry
from rankcheck.parallel.arithmetic import fix_arithmetic
from rankcheck.report.page import claim_page, fragment
from rankcheck.terminal import table
from rankcheck.terminal.live import rows_table
from rankcheck.verification.ledger import Row
from rankcheck.verification.profiles import Settings
from rankcheck.verification.run import verify_claims

__all__ = [
    "CLAIMS",
    "HEIGHT",
    "SHOWN",
    "WIDTH",
    "counterexample",
    "ledger",
    "main",
]

#: Claims of every verdict and of nearly every kind, with short ids.
CLAIMS = (
    "bottleneck.ntk-derivative",
    "bottleneck.ntk-derivative-as-printed",
    "bottleneck.regularity-bound",
    "linear.depth-separation",
    "linear.phi-closed-form",
    "linear.rescaling",
    "rank.jacobian-bounds-cost",
    "rank.relu-from-leaky",
    "rank.sandwich",
    "rank.short-loops",
    "rank.sum-cost-as-printed",
    "separation.depth-three-network",
    "separation.depth-two-fit",
    "separation.main-theorem",
)
#: The claim whose counterexample is drawn.
SHOWN = "bottleneck.ntk-derivative-as-printed"
#: The characters of a line of the terminal.
COLUMNS = 98
#: The size of the counterexample; a test in a browser checks that it fits.
WIDTH, HEIGHT = 850, 980

_FOLDER = Path(__file__).parents[1]
_XHTML, _MATHML = "http://www.w3.org/1999/xhtml", "http://www.w3.org/1998/Math/MathML"
#: What the picture of the page leaves out, and its margins.
_STYLE = """
body { margin: 0; padding: 0; max-width: none; background: none; }
.claim { margin: 1px; content-visibility: visible; }
.self, .commands, .readings, .object, h4:has(+ .readings) { display: none; }
"""


def ledger(rows: Sequence[Row], seconds: float, settings: Settings) -> str:
    """What `rankcheck verify` shows of rows at its end, as SVG."""
    shown = sorted(rows, key=lambda row: row.id)
    cells = rows_table([(table.cells(row), row) for row in shown], COLUMNS, live=False)
    total = table.total(rows, seconds, settings.profile.name, settings.seed)
    return drawn([cells, Text("\n" + total)], "rankcheck verify ID ID …", "ledger", COLUMNS)


def counterexample(row: Row, entry: Entry) -> str:
    """The part of a claim in the report, as SVG."""
    [style] = re.findall(r"<style>(.*?)</style>", claim_page([(row, entry)]), re.DOTALL)
    [article] = re.findall(r"<article.*</article>", fragment([row]), re.DOTALL)
    article = article.replace("<math", f'<math xmlns="{_MATHML}"')
    article = article.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}">\n<style>{style}{_STYLE}</style>\n'
        f'<foreignObject width="{WIDTH}" height="{HEIGHT}"><body xmlns="{_XHTML}">{article}</body>'
        "</foreignObject>\n</svg>\n"
    )
    ElementTree.fromstring(svg)  # HTML that is not XML as well would not be drawn
    return svg


def main() -> int:
    """Verify, sharpen and write the pictures; the exit code is 1 if a claim is not as expected."""
    fix_arithmetic()
    known, settings, begin = {entry.id: entry for entry in project()}, Settings(), time.monotonic()
    rows = verify_claims([known[id_] for id_ in CLAIMS], settings)
    taken = time.monotonic() - begin
    wrong = [row.id for row in rows if not row.expected]
    if wrong:
        print(f"no picture is written: {', '.join(wrong)} not as expected", file=sys.stderr)
        return 1
    [row] = [row for row in rows if row.id == SHOWN]
    (_FOLDER / "ledger.svg").write_text(ledger(rows, taken, settings), encoding="utf-8")
    (_FOLDER / "counterexample.svg").write_text(counterexample(row, known[SHOWN]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
