"""What is wrong in print, as Markdown: print beside what is right, and the counterexample.

A counterexample is replayed from its certificate: its network is drawn, both sides are named, and
what leads to them is a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from written import one_line

from rankcheck.claims.catalogue.certificates import FORM
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.counterexample import Counterexample
from rankcheck.claims.erratum import Erratum
from rankcheck.claims.kinds import FALSE
from rankcheck.engine.counterexamples.refutation import explained
from rankcheck.engine.counterexamples.replay import replay
from rankcheck.faces.report.instances import equation, number, shortened, split, value_latex
from rankcheck.faces.report.networks import drawing

__all__ = ["counterexample", "found", "objection", "pictures", "printed_and_right"]

#: An instance with more characters is shown as text that is cut.
LONGEST = 400
#: The colours of a drawing that stands in no page.
_ALONE = ' style="color-scheme: light dark; color: light-dark(#1d1f24, #e4e5e8)"'
_IS = {"leq": "at most", "lt": "less than", "eq": "equal to"}


_KNOWN: dict[str, Counterexample] = {}


def found(entry: Entry) -> Counterexample | None:
    """The counterexample of a claim that is declared false, replayed once; None of any other.

    Raises:
        CertificateError, ValueError: its certificate does not prove it.
    """
    if entry.kind not in FALSE:
        return None
    if entry.id not in _KNOWN:
        [claim] = load([entry])
        again = replay(FORM.path(claim), claim=claim)
        if again.instance is None or not again.refuted:
            raise ValueError(f"the certificate of {entry.id} does not refute it")
        _KNOWN[entry.id] = explained(again.instance)
    return _KNOWN[entry.id]


def picture(entry: Entry) -> str | None:
    """The network of a counterexample as a file of SVG; None if it has no small network."""
    known = found(entry)
    drawn = None if known is None else drawing(known.description)
    if drawn is None:
        return None
    return (
        str(drawn).replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg"{_ALONE} ', 1) + "\n"
    )


def printed_and_right(erratum: Erratum) -> Iterator[str]:
    """Print beside what is right; the one below the other on a phone."""
    yield '<div class="printed-right">\n<div>\n'
    yield f"**Printed:** {one_line(erratum.printed)}\n"
    yield "</div>\n<div>\n"
    yield f"**Right:** {one_line(erratum.right)}\n"
    yield "</div>\n</div>\n"


def counterexample(entry: Entry, up: str = "") -> tuple[list[str], list[str]]:
    """The counterexample of a false claim: what stands in sight, and the steps to its sides.

    Args:
        up: the way from the page to the folder docs.
    """
    known = found(entry)
    if known is None:
        return [], []
    shown = ['<div class="refuted">\n']
    drawn = drawing(known.description)
    if drawn is not None:
        [title] = re.findall(r"<title>(.*?)</title>", str(drawn))
        shown.append(f"![{title}]({up}errata/{entry.id}.svg)\n")
    parts = [_instance(known.description), known.label, known.entry_text.strip()]
    shown.append(f"Here {', '.join(filter(None, parts))}:\n")
    shown += _sides(known)
    shown.append("</div>\n")
    return shown, list(_steps(known))


def _instance(description: str) -> str:
    """The parts of an instance, formulas where they are numbers."""
    if len(description) > LONGEST:
        return f"`{shortened(description)}`"
    parts = []
    for part in split(description):
        latex = equation(part)
        parts.append(one_line(part) if latex is None else f"${latex}$")
    return ", ".join(parts)


def _sides(known: Counterexample) -> Iterator[str]:
    sentence = f"should be {_IS[known.kind]} the following, and is not:"
    yield f'{_named(known, 0)}<br><span class="sign">{sentence}</span><br>'
    yield f"{_named(known, 1)}\n"


def _named(known: Counterexample, place: int) -> str:
    value = number(known.rhs if place else known.lhs)
    if not known.texts or not known.texts[place]:
        return f"**{value}**"
    return f"`{known.texts[place]}` {'' if value.startswith('≈') else '= '}**{value}**"


def _steps(known: Counterexample) -> Iterator[str]:
    """The table of the names in the body, the two sides at its end."""
    yield "| in the body | value |\n| --- | --- |"
    for step in known.steps:
        code = " = ".join(part for part in (step.name, step.code) if part)
        latex = value_latex(step.value)
        yield f"| {_code(code)} | {step.value if latex is None else f'${latex}$'} |"
    for name, code, text in zip(
        ("left", "right"), known.texts, (known.lhs, known.rhs), strict=False
    ):
        if code:
            yield f"| the {name} side, {_code(code)} | **{number(text)}** |"
    yield ""


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def objection(up: str = "") -> str:
    """How a reader objects."""
    return (
        "Is there a fair reading in which the printed words are true? Then this entry is wrong: "
        f"[object to a reading]({up}accusations.md#object-to-a-reading).\n"
    )


def pictures(entries: Sequence[Entry]) -> dict[str, str]:
    """The pictures of all counterexamples, by file name."""
    drawn = {f"{entry.id}.svg": picture(entry) for entry in entries}
    return {name: text for name, text in drawn.items() if text is not None}
