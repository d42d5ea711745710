"""The pages of the experiments, from their recorded results.

For each experiment that is recorded, a page and its figures in `docs/experiments/`, and a row of
the table in `docs/experiments.md`. Nothing is trained. A test fails if the pages are not those of
the records.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from written import plain

from rankcheck.errors import InstallationError
from rankcheck.experiments.base import Experiment, Finding
from rankcheck.experiments.known import NAMES, experiment
from rankcheck.experiments.records import RECORDED, recorded
from rankcheck.experiments.result import Result, Run
from rankcheck.report.charts.experiments import figures
from rankcheck.report.charts.picture import Picture
from rankcheck.report.experiments import AGREES
from rankcheck.report.figures import figure
from rankcheck.report.standalone import standalone

__all__ = ["BEGIN", "END", "files", "main", "page", "table", "with_table"]

FOLDER = Path(__file__).parents[1]
#: Between these lines of `docs/experiments.md` stands the table.
BEGIN, END = "<!-- begin of the table -->", "<!-- end of the table -->"
_FORMULA = re.compile(r"(\$[^$]+\$|`[^`]+`)")


def files() -> dict[str, str]:
    """All files of `docs/experiments/`, by name, and `../experiments.md`."""
    out, shown = {}, []
    for name in NAMES:
        if not (RECORDED / f"{name}.json").exists():
            continue
        made, result = experiment(name), recorded(name)
        drawn = figures(result)
        for picture in drawn:
            out[f"{name}-{picture.name}.svg"] = standalone(picture)
        out[f"{name}.md"] = page(made, result, drawn)
        shown.append((made, result))
    text = (FOLDER / "experiments.md").read_text(encoding="utf-8")
    return out | {"../experiments.md": with_table(text, table(shown))}


def with_table(text: str, rows: str) -> str:
    """The page of all experiments with this table.

    Raises:
        ValueError: if the page has no place for it.
    """
    before, found, rest = text.partition(BEGIN)
    _, other, after = rest.partition(END)
    if not (found and other):
        raise ValueError(f"docs/experiments.md has no lines {BEGIN!r} and {END!r} for its table")
    return f"{before}{BEGIN}\n\n{rows}\n{END}{after}"


def table(shown: Iterable[tuple[Experiment, Result]]) -> str:
    """The experiments that are recorded, and how many findings are as printed."""
    lines, pages = [], []
    for made, result in shown:
        found = [one.agrees for one in made.compared(result)]
        printed = sum(agrees is not None for agrees in found)
        row = (
            f"[{made.name}](experiments/{made.name}.md)",
            _cell(made.place),
            _cell(made.title),
            f"{found.count(True)} of {printed}",
            _time(result.seconds),
        )
        lines.append(_row(row))
        pages.append(f"experiments/{made.name}")
    if not lines:
        return "None is recorded.\n"
    head = ("experiment", "where", "what comes out", "as printed", "scale `small`")
    tree = ["```{toctree}", ":hidden:", "", *pages, "```"]
    return "\n".join([_row(head), _row(["---"] * len(head)), *lines, "", *tree]) + "\n"


def page(made: Experiment, result: Result, drawn: Sequence[Picture]) -> str:
    """The page of one experiment, as Markdown."""
    return "\n".join(_lines(made, result, drawn)) + "\n"


def _lines(made: Experiment, result: Result, drawn: Sequence[Picture]) -> Iterator[str]:
    yield f"# {plain(made.title)}\n"
    yield f"`{made.name}` · {plain(made.place)} · [all experiments](../experiments.md)\n"
    yield "## What is at stake\n"
    yield f"{made.question.strip()}\n"
    yield "## What came out\n"
    for picture in drawn[:1]:
        yield from _figure(made, picture)
    found = made.compared(result)
    yield _row(("quantity", "in print", "here", "as printed"))
    yield _row(["---"] * 4)
    yield from (_row(_finding(one)) for one in found)
    yield ""
    if any(one.note for one in found):
        yield "Notes:\n"
        yield from (f"- {plain(one.quantity)}: {plain(one.note)}" for one in found if one.note)
        yield ""
    for picture in drawn[1:]:
        yield from _figure(made, picture)
    if made.differences:
        yield "## How it differs from the document's experiment\n"
        yield from (f"- {plain(one)}" for one in made.differences)
        yield ""
    yield "## Where the numbers come from\n"
    yield from _provenance(result)


def _figure(made: Experiment, picture: Picture) -> Iterator[str]:
    name = f"{made.name}-{picture.name}.svg"
    yield f"![{plain(picture.title)}]({name})\n"
    yield f"{picture.caption.strip()}\n"


def _finding(found: Finding) -> tuple[str, ...]:
    texts = (found.quantity, found.printed or "–", found.ours)
    return (*map(_cell, texts), AGREES[found.agrees])


def _provenance(result: Result) -> Iterator[str]:
    versions = ", ".join(f"{name} {number}" for name, number in result.versions.items())
    yield f"```\n{result.command}\n```\n"
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
    audits = [run.audit for run in result.runs if run.audit is not None]
    if audits:
        held = sum(audit.findings.get("holds", 0) for audit in audits)
        failing = sorted({name for audit in audits for name in audit.failing})
        fails = f"fail: {', '.join(f'`{name}`' for name in failing)}" if failing else "none fails"
        yield f"Of the theorems about these networks, {held} hold where they apply, and {fails}."


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


def write(made: Mapping[str, str], folder: Path) -> None:
    """Make the Markdown and the figures of a folder those of `made`; others are removed."""
    folder.mkdir(exist_ok=True)
    for path in [*folder.glob("*.md"), *folder.glob("*.svg")]:
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


def main() -> int:
    """Write the pages; the exit code is 1 if a record cannot be read."""
    try:
        write(files(), FOLDER / "experiments")
    except InstallationError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
