"""What the pages of the experiments show of the recorded results.

For each experiment that is recorded its figures in `docs/experiments/`, and on its page, which is
written by hand, the findings and where the numbers come from; and a row of the table in
`docs/experiments.md`. Nothing is trained. A test fails if they are not those of the records.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from written import plain

from rankcheck.errors import InputError, InstallationError
from rankcheck.experiments.base import Experiment, Finding
from rankcheck.experiments.known import NAMES, experiment
from rankcheck.experiments.records import RECORDED, recorded
from rankcheck.experiments.result import Result, Run
from rankcheck.experiments.statistics import seeds_in_words
from rankcheck.report.charts.experiments import figures
from rankcheck.report.charts.experiments.drawing import written
from rankcheck.report.experiments import AGREES
from rankcheck.report.figures import figure

__all__ = ["drawn", "findings", "main", "pages", "record", "table", "with_block"]

FOLDER = Path(__file__).parents[1]
_FORMULA = re.compile(r"(\$[^$]+\$|`[^`]+`)")


def pages() -> dict[str, str]:
    """The pages by name, with what they show of the records."""
    shown = [
        (experiment(name), recorded(name)) for name in NAMES if (RECORDED / f"{name}.json").exists()
    ]
    text = (FOLDER / "experiments.md").read_text(encoding="utf-8")
    out = {"experiments.md": with_block(text, "table", table(shown))}
    for made, result in shown:
        name = f"experiments/{made.name}.md"
        text = (FOLDER / name).read_text(encoding="utf-8")
        text = with_block(text, "findings", "\n".join(findings(made, result)) + "\n")
        out[name] = with_block(text, "record", "\n".join(record(result)) + "\n")
    return out


def drawn(name: str) -> dict[str, str]:
    """The figures of a recorded result: SVG files by name."""
    return {
        f"{name}-{each}.svg": written(one, "svg").decode()
        for each, one in figures(recorded(name)).items()
    }


def with_block(text: str, name: str, block: str) -> str:
    """A page with this between the two lines that name its place.

    Raises:
        ValueError: if the page has no such lines.
    """
    begin, end = (f"<!-- {word} of the {name} -->" for word in ("begin", "end"))
    before, found, rest = text.partition(begin)
    _, other, after = rest.partition(end)
    if not (found and other):
        raise ValueError(f"the page has no lines {begin!r} and {end!r}")
    return f"{before}{begin}\n\n{block}\n{end}{after}"


def table(shown: Iterable[tuple[Experiment, Result]]) -> str:
    """The experiments that are recorded, and how many findings are as printed."""
    lines, pages = [], []
    for made, result in shown:
        found = [one.agrees for one in made.findings(result)]
        printed = sum(agrees is not None for agrees in found)
        row = (
            f"[{made.name}](experiments/{made.name}.md)",
            _cell(made.place),
            _cell(made.title),
            f"{found.count(True)} of {printed}",
            seeds_in_words(result.pilot),
            seeds_in_words(run.seed for run in result.runs),
            _time(result.seconds),
        )
        lines.append(_row(row))
        pages.append(f"experiments/{made.name}")
    if not lines:
        return "None is recorded.\n"
    head = ("experiment", "where", "what comes out", "as printed", "pilot", "test", "scale `small`")
    tree = ["```{toctree}", ":hidden:", "", *pages, "```"]
    return "\n".join([_row(head), _row(["---"] * len(head)), *lines, "", *tree]) + "\n"


def findings(made: Experiment, result: Result) -> Iterator[str]:
    """The quantities of a result beside the printed ones, as the lines of a table."""
    yield _row(("quantity", "in print", "here", "as printed"))
    yield _row(["---"] * 4)
    yield from (_row(_finding(one)) for one in made.findings(result))


def _finding(found: Finding) -> tuple[str, ...]:
    texts = (found.quantity, found.printed or "–", found.ours)
    return (*map(_cell, texts), AGREES[found.agrees])


def record(result: Result) -> Iterator[str]:
    """Where the numbers come from."""
    versions = ", ".join(f"{name} {number}" for name, number in result.versions.items())
    yield f"```\n{result.command}\n```\n"
    if result.pilot:
        yield (
            f"Settings and thresholds were fixed on the pilot, runs with the seeds "
            f"{seeds_in_words(result.pilot)}; everything on this page is of the test, the seeds "
            f"{seeds_in_words(run.seed for run in result.runs)}, which are none of these.\n"
        )
    yield (
        f"{len(result.runs)} networks, trained on {result.made} ({result.device}, "
        f"{_time(result.seconds)} of one core; {versions}). The record is "
        f"[rankcheck/experiments/recorded/{result.experiment}.json]"
        f"(../../rankcheck/experiments/recorded/{result.experiment}.json). Ranges are over the "
        "networks of a part; the training error is what the experiment minimises without its "
        "ridge.\n"
    )
    head = ("part", "networks", "training error", "rank of $Jf$", "$\\Vert\\theta\\Vert^2/L$")
    yield _row(head)
    yield _row(["---"] * len(head))
    for name in dict.fromkeys(run.part for run in result.runs):
        yield _row(_part(name, [run for run in result.runs if run.part == name]))
    yield ""
    yield result.theorems


def _part(name: str, runs: Sequence[Run]) -> tuple[str, ...]:
    audits = [run.audit for run in runs if run.audit is not None]
    errors = [run.measured["error"] for run in runs if "error" in run.measured]
    return (
        f"`{name}`",
        str(len(runs)),
        _range(errors),
        _range([audit.rank for audit in audits]),
        _range([audit.per_layer for audit in audits]),
    )


def _range(values: Sequence[float]) -> str:
    """The smallest and the largest of some numbers."""
    if not values:
        return "–"
    low, high = figure(min(values), 3), figure(max(values), 3)
    return low if low == high else f"{low} to {high}"


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    r"""A text as a cell of a table, in which a bar ends a cell, be it in a formula or not.

    >>> print(_cell(r"a | b, $|x| = \|y\|$"))
    a \| b, $\vert x\vert  = \Vert y\Vert $
    """
    parts = _FORMULA.split(" ".join(plain(text).split()))
    for at, part in enumerate(parts):
        if part.startswith("$"):
            parts[at] = part.replace(r"\|", r"\Vert ").replace("|", r"\vert ")
        else:
            parts[at] = part.replace("|", r"\|")
    return "".join(parts)


def main() -> int:
    """Write the pages and the figures; the exit code is 1 if a record cannot be read."""
    try:
        for name, text in pages().items():
            (FOLDER / name).write_text(text, encoding="utf-8")
        for path in (FOLDER / "experiments").glob("*.svg"):
            path.unlink()
        for path in RECORDED.glob("*.json"):
            for name, text in drawn(path.stem).items():
                (FOLDER / "experiments" / name).write_text(text, encoding="utf-8")
    except (InputError, InstallationError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0
