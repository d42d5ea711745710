"""The breaks of the engine, and what notices each, as a page: python -m benchmarks.breaks.

Nothing runs: the table is declared in `tests/breaks`, whose tests check every row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.breaks.table import Break, breaks

__all__ = ["page"]

HEAD = """\
# Breaks: what would notice a blind engine

Each row is a way in which a change of rankcheck, or of what it rests on, could blind one stage.
All of them are tried (`tests/breaks`): under the break its test fails, and its canary comes out
wrong, so that `rankcheck doctor` says so. Where no canary notices, the row says why.
`python -m benchmarks.breaks` prints this page.
"""


def page() -> str:
    """The Markdown of the page."""
    all_ = list(breaks().values())
    stages = dict.fromkeys(one.stage for one in all_)
    rows = [(stage, [one for one in all_ if one.stage == stage]) for stage in stages]
    return "\n".join(
        [
            HEAD,
            "| stage | breaks | `doctor` notices | tests notice |",
            "| --- | ---: | ---: | ---: |",
            *(_share(stage, some) for stage, some in rows),
            _share("all", all_),
            "",
            "| break | stage | canary | test |",
            "| --- | --- | --- | --- |",
            *_rows(all_),
            "",
        ]
    )


def _share(stage: str, some: Iterable[Break]) -> str:
    seen = [one.canary is not None for one in some]
    return f"| {stage} | {len(seen)} | {sum(seen)} ({sum(seen) / len(seen):.0%}) | {len(seen)} |"


def _rows(some: Iterable[Break]) -> Iterator[str]:
    for one in some:
        canary = f"none: {one.why}" if one.canary is None else one.canary.strip()
        yield f"| {one.name} | {one.stage} | {canary} | `{one.test}` |"


if __name__ == "__main__":
    print(page())
