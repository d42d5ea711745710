"""Writes the pages of this folder that are made from claims and yet kept: errata and statements.

    python docs/renew.py

writes them with the drawings of counterexamples and the figure of a proof; nothing is verified. A
test fails if a page is not what this writes.
"""

from __future__ import annotations

import sys
from pathlib import Path

#: Stands at the end of a page, where no reader stumbles over it.
MADE = "<!-- Made by `python docs/renew.py` -->"
FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER / "_ext"), str(FOLDER.parent)]

import lists  # noqa: E402
import pyramids  # noqa: E402
import refutations  # noqa: E402
import statements  # noqa: E402

from rankcheck.claims.catalogue.collect import project  # noqa: E402
from rankcheck.errors import InputError  # noqa: E402


def pages() -> dict[str, str]:
    """The pages and figures by name."""
    entries = project()
    written = {"errata.md": lists.errata(entries), **statements.pages(entries)}
    return {
        **{name: f"{text.rstrip()}\n\n{MADE}\n" for name, text in written.items()},
        **{f"errata/{name}": text for name, text in refutations.pictures(entries).items()},
        **{f"proofs/{name}": text for name, text in pyramids.files().items()},
    }


def main() -> int:
    """Write the pages; the exit code is not 0 if one of them cannot be made."""
    try:
        made = pages()
    except InputError as error:
        print(f"renew.py: {error}", file=sys.stderr)
        return 2
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
