"""Draws the pictures of README: `python docs/pictures.py` verifies some claims, in half a minute.

`ledger.svg` is what `rankcheck verify` shows of them on a terminal, `counterexample.svg` the part
of one in the report. They ask for nothing: no font, no style sheet.
"""

from __future__ import annotations

import io
import re
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.engine.parallel.arithmetic import fix_arithmetic
from rankcheck.engine.verification.ledger import Ledger, Row
from rankcheck.engine.verification.profiles import Settings
from rankcheck.engine.verification.run import verify_claims
from rankcheck.faces.report.page import fragment, ledger_page
from rankcheck.faces.terminal import table
from rankcheck.faces.terminal.live import styled

#: Claims of every verdict and of nearly every kind, with short ids; the second is drawn.
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
SHOWN = CLAIMS[1]
COLUMNS, WIDTH, HEIGHT = 98, 850, 980
XHTML, MATHML = "http://www.w3.org/1999/xhtml", "http://www.w3.org/1998/Math/MathML"
#: What the picture of the page leaves out, and its margins.
STYLE = """
body { margin: 0; padding: 0; max-width: none; background: none; }
.claim { margin: 1px; content-visibility: visible; }
.self, .commands, .readings, .object, h4:has(+ .readings) { display: none; }
"""


def ledger(rows: list[Row], seconds: float, settings: Settings) -> str:
    """What `rankcheck verify` shows of rows at its end, as SVG."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for line in styled(rows, COLUMNS):
        console.print(line)
    total = table.total(rows, seconds, settings.profile.name, settings.seed)
    console.print(Text(f"\n{total}\n"))  # the last line is cut
    svg = console.export_svg(title="rankcheck verify ID ID …", unique_id="ledger")
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)  # it is on a server
    return re.sub(r' clip-path="url\(#ledger-line[^)]+\)"', "", svg)  # it cuts the feet of letters


def counterexample(row: Row, entry: Entry) -> str:
    """The part of a claim in the report, as SVG."""
    page = ledger_page(Ledger.of([row], profile="quick", seed=0, seconds=0.0), [entry])
    [style] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    [article] = re.findall(r"<article.*</article>", fragment([row]), re.DOTALL)
    article = article.replace("<math", f'<math xmlns="{MATHML}"')
    article = article.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}">\n<style>{style}{STYLE}</style>\n'
        f'<foreignObject width="{WIDTH}" height="{HEIGHT}"><body xmlns="{XHTML}">{article}</body>'
        "</foreignObject>\n</svg>\n"
    )


def main() -> int:
    """Verify and write the pictures; the exit code is 1 if a claim is not as expected."""
    fix_arithmetic()
    folder, known = Path(__file__).parent, {entry.id: entry for entry in project()}
    settings, begin = Settings(), time.monotonic()
    rows = verify_claims([known[id_] for id_ in CLAIMS], settings)
    taken = time.monotonic() - begin
    if wrong := [row.id for row in rows if not row.expected]:
        print(f"no picture is written: {', '.join(wrong)} not as expected", file=sys.stderr)
        return 1
    rows.sort(key=lambda row: row.id)
    (folder / "ledger.svg").write_text(ledger(rows, taken, settings), "utf-8")
    shown = counterexample(rows[CLAIMS.index(SHOWN)], known[SHOWN])
    (folder / "counterexample.svg").write_text(shown, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
