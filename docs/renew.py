"""Writes the pages of this folder that are made from the code, from the claims and from records.

    python docs/renew.py               the pages; nothing is verified and nothing is trained
    python docs/renew.py --pictures    the pictures as well, in some minutes

A test fails if a page is not what this writes.
"""

from __future__ import annotations

import sys
from pathlib import Path

#: Stands at the end of a page, where no reader stumbles over it, if nothing in it says so already.
MADE = "<!-- Made by `python docs/renew.py` -->"
FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER / "_ext"), str(FOLDER.parent)]

import ball_page  # noqa: E402
import gallery  # noqa: E402
import generators  # noqa: E402
import lists  # noqa: E402
import pictures  # noqa: E402
import proved  # noqa: E402
import pyramids  # noqa: E402
import questions  # noqa: E402
import records  # noqa: E402
import refutations  # noqa: E402
import sharpening  # noqa: E402
import statements  # noqa: E402
import theory  # noqa: E402

from benchmarks import breaks  # noqa: E402
from rankcheck.catalogue.collect import project  # noqa: E402
from rankcheck.errors import InputError  # noqa: E402
from tests import test_oracles  # noqa: E402


def pages() -> dict[str, str]:
    """The pages and figures by name."""
    entries = project()
    made = {
        "claims.md": lists.claims(entries),
        "errata.md": lists.errata(entries),
        "ledger.md": lists.ledger((FOLDER / "ledger.md").read_text(encoding="utf-8")),
        "balls.md": ball_page.page(),
        "generators.md": generators.page((FOLDER / "generators.md").read_text(encoding="utf-8")),
        "proved.md": proved.page(entries),
        "records.md": records.page(entries),
        "questions.md": questions.page((FOLDER / "questions.md").read_text("utf-8"), entries),
        **statements.pages(entries),
        "oracles.md": test_oracles.table(),
        "breaks.md": breaks.page(),
        **{f"errata/{name}": text for name, text in refutations.pictures(entries).items()},
        **{f"theory/{name}": text for name, text in theory.files().items()},
        **{f"proofs/{name}": text for name, text in pyramids.files().items()},
    }
    return {name: _marked(name, text) for name, text in made.items()}


def _marked(name: str, text: str) -> str:
    return text if not name.endswith(".md") or MADE in text else f"{text.rstrip()}\n\n{MADE}\n"


def main(arguments: list[str]) -> int:
    """Write the pages; the exit code is not 0 if one of them cannot be made."""
    if arguments not in ([], ["--pictures"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        made = pages()
    except InputError as error:
        print(f"renew.py: {error}", file=sys.stderr)
        return 2
    for name, text in made.items():
        path = FOLDER / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if arguments:
        return pictures.main() or sharpening.main() or gallery.main([])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
