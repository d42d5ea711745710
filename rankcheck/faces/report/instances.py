"""The text of an instance, `depth 1, W_1 = [[1]], x = [0]`, with its arrays as matrices."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any

from markupsafe import Markup

from rankcheck.faces.report.markup import formula

#: A longer text is shown as it is, and so is an array with more rows or columns.
LONGEST, LARGEST = 4000, 9
#: An instance with more numbers is shown as text, which is cut at so many characters.
MOST, CUT = 16, 200
#: A number with more characters is rounded to so many digits.
WIDEST, DIGITS = 9, 5
_NAME = re.compile(r"[^\W\d]\w*")
_BALL = re.compile(r"\[(-?\d+(?:\.\d+)?(?:e[+-]?\d{1,9})?) \+/- [^\]]*\]")
_ENTRY = re.compile(r"(?<=[\[ ])-?\d")
_LONG = re.compile(r"(?<![\w.])-?(?=[\d./e+-]{10})(?:\d+/0*[1-9]\d*|\d+\.\d+(?:e[+-]?\d{1,9})?)")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d{1,9})?|-?\d+/0*[1-9]\d*")


def instance(text: str) -> Markup:
    """An instance with its numbers rounded to five digits, and its arrays as matrices.

    >>> instance("depth 1, f = loop(2, 3)")
    Markup('<span class="part">depth 1</span> <span class="part">f = loop(2, 3)</span>')
    """
    if len(text) > LONGEST:
        return Markup("<code>{} …</code>").format(text[:CUT])
    if len(_ENTRY.findall(text)) > MOST:
        return Markup("<code>{}</code>").format(shortened(text))
    parts = [_part(part) for part in split(text)]
    return Markup(" ").join(Markup('<span class="part">{}</span>').format(p) for p in parts)


def number(text: str) -> str:
    """A number as it is, or rounded to five digits if it is long.

    >>> number("1/3"), number("-1.0000000001"), number("[1.5000000000 +/- 2.1e-40]"), number("x")
    ('1/3', '≈ -1', '≈ 1.5', 'x')
    """
    ball = _BALL.fullmatch(text)
    if ball is None and (len(text) <= WIDEST or not _NUMBER.fullmatch(text)):
        return text
    return f"≈ {_rounded(text if ball is None else ball[1])}"


def shortened(text: str, cut: int = CUT) -> str:
    """The text of an instance with its long numbers rounded to five digits, and cut if it is long.

    >>> shortened("slope 0.30000000000000004, W_1 = [[1, 1234567/1000]]")
    'slope 0.3…, W_1 = [[1, 1234.6…]]'
    """
    short = _LONG.sub(lambda long: f"{_rounded(long[0])}…", text)
    return short if len(short) <= cut else short[:cut] + " …"


def _rounded(text: str) -> str:
    """A decimal number or a fraction, with five digits."""
    top, _, bottom = text.partition("/")
    context = Context(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)
    value = context.divide(Decimal(top), Decimal(bottom or 1)).normalize(context)
    return f"{value:f}" if -5 <= value.adjusted() < 6 else f"{value:e}"


def split(text: str) -> Iterator[str]:
    """The parts of a text, at the commas outside of brackets."""
    depth, begin = 0, 0
    for place, character in enumerate(text):
        if character in "[({":
            depth += 1
        elif character in "])}":
            depth -= 1
        elif character == "," and depth == 0:
            yield text[begin:place].strip()
            begin = place + 1
    yield text[begin:].strip()


def _part(text: str) -> Markup:
    latex = equation(text)
    return Markup("{}").format(text) if latex is None else formula(latex)


def parts(text: str) -> list[tuple[str, str | None]]:
    """The parts of an instance, and as LaTeX, with all digits, those that are numbers or arrays.

    >>> parts("depth 1, W_1 = 1/2")
    [('depth 1', None), ('W_1 = 1/2', 'W_{1} = 1/2')]
    """
    return [(part, equation(part, exact=True)) for part in split(text)]


def equation(text: str, *, exact: bool = False) -> str | None:
    """`name = value` in LaTeX; None if it is anything else, or the array is too large.

    Args:
        exact: keep all digits; else long numbers are rounded to five.
    """
    name, equals, value = text.partition(" = ")
    if not equals or not _NAME.fullmatch(name):
        return None
    latex = _latex(value, exact)
    return None if latex is None else f"{_symbol(name)} = {latex}"


def value_latex(text: str) -> str | None:
    r"""The LaTeX of a number, an array, or some of them; None for other text.

    >>> value_latex("≈ [1.41421, 2]"), value_latex("1/2, 3"), value_latex("64 numbers")
    ('\\approx \\begin{pmatrix}1.41421 & 2\\end{pmatrix}', '1/2,\\; 3', None)
    """
    made = []
    for part in split(text):
        rounded = part.startswith("≈ ")
        latex = _latex(part.removeprefix("≈ "), True)
        if latex is None:
            return None
        made.append(rf"\approx {latex}" if rounded else latex)
    return r",\; ".join(made)


def _symbol(name: str) -> str:
    """A name of Python as a symbol: W_1, `points` in upright letters."""
    base, _, index = name.partition("_")
    base = base if len(base) == 1 else rf"\mathrm{{{base}}}"
    return f"{base}_{{{index.replace('_', ',')}}}" if index else base


def _latex(value: str, exact: bool) -> str | None:
    """A number or an array; None if it is neither, or too large."""
    try:
        parsed = json.loads(re.sub(r"[^\[\],\s]+", lambda word: json.dumps(word[0]), value))
    except (ValueError, RecursionError):
        return None
    return _array(parsed, exact)


def _array(value: Any, exact: bool) -> str | None:
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            return None
        return value if exact or len(value) <= WIDEST else rf"{_rounded(value)}\text{{…}}"
    if not 0 < len(value) <= LARGEST:
        return r"\emptyset" if not value else None
    cells = [_array(item, exact) for item in value]
    if None in cells:
        return None
    inner = [cell for cell in cells if cell is not None]
    if all(isinstance(item, str) for item in value):
        return r"\begin{pmatrix}" + " & ".join(inner) + r"\end{pmatrix}"
    if _is_matrix(value):
        rows = [[str(_array(entry, exact)) for entry in row] for row in value]
        return r"\begin{pmatrix}" + r" \\ ".join(map(" & ".join, rows)) + r"\end{pmatrix}"
    return r"\left[" + ",\\; ".join(inner) + r"\right]"


def _is_matrix(value: list[Any]) -> bool:
    """Whether a list has rows of numbers, all of one length."""
    rows = [row for row in value if isinstance(row, list) and row]
    same = len({len(row) for row in rows}) == 1 and len(rows) == len(value)
    return same and all(isinstance(entry, str) for row in rows for entry in row)
