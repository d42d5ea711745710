"""Markdown with LaTeX as HTML with MathML; all text is escaped."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from math_core import LatexError, LatexToMathML
from mdit_py_plugins.dollarmath import dollarmath_plugin

#: A longer formula is shown as it is written.
LONGEST = 4000
#: What browsers take for granted, and what has no width; matrices occur by the hundred on a page,
#: formulas by the thousand.
_TABLE = '<mtable displaystyle="false" scriptlevel="0">', "<mtable>"
_INLINE = ' class="math inline"', ' class="math"'
_DOLLARS = re.compile(r"(\$\$?)(.+?)\1", re.DOTALL)
_CONVERTED = re.compile(
    r"(?P<dollars>\$\$?)(?P<latex>.+?)(?P=dollars)|(?P<ticks>``?)(?P<code>[^`]+)(?P=ticks)",
    re.DOTALL,
)
#: Bars and brackets that keep their size, and have no space around them: as letters they are the
#: same with a third of the text.
_FENCE = re.compile(r'<mo stretchy="false"(?: lspace="0" rspace="0")?>([‖|()\[\]])</mo>')


@cache
def _converter() -> LatexToMathML:
    return LatexToMathML()


def formula(latex: str, *, display: bool = False) -> Markup:
    r"""LaTeX as MathML; as code where it cannot be converted.

    >>> formula(r"\beta")
    Markup('<math><mi>β</mi></math>')
    >>> formula(r"\nonsense{<b>}")
    Markup('<code class="tex">\\nonsense{&lt;b&gt;}</code>')
    """
    if len(latex) <= LONGEST:
        try:
            made = _converter().convert_with_local_state(latex.strip(), displaystyle=display)
            made = _FENCE.sub(r"<mi>\1</mi>", made.replace(*_TABLE).replace("<mspace/>", ""))
            return Markup(made)
        except LatexError:
            pass
    return Markup('<code class="tex">{}</code>').format(latex)


def convertible(latex: str) -> bool:
    r"""Whether a formula is plain mathematics, without commands that read, write or load.

    >>> convertible(r"\frac{1}{2}"), convertible(r"\input{secret}")
    (True, False)
    """
    if len(latex) > LONGEST:
        return False
    try:
        _converter().convert_with_local_state(latex, displaystyle=False)
    except LatexError:
        return False
    return True


@cache
def _markdown() -> MarkdownIt:
    """CommonMark and tables, without HTML, images and links, with formulas between dollars."""

    def rendered(latex: str, options: dict[str, Any]) -> str:
        return str(formula(latex, display=bool(options.get("display_mode"))))

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.disable(["image", "link", "autolink"])
    parser.use(dollarmath_plugin, renderer=rendered, allow_space=True, double_inline=True)
    return parser


def prose(text: str) -> Markup:
    """Paragraphs of Markdown with LaTeX.

    >>> prose("A *bound*, <b>.")
    Markup('<p>A <em>bound</em>, &lt;b&gt;.</p>\\n')
    """
    return Markup(_markdown().render(_DOLLARS.sub(_on_one_line, text)).replace(*_INLINE))


def _on_one_line(piece: re.Match[str]) -> str:
    """A formula on one line: one that begins with a plus or a minus would begin a list."""
    return piece[0] if "\n\n" in piece[0] else piece[0].replace("\n", " ")


def line(text: str) -> Markup:
    """A line of Markdown with LaTeX, such as a title."""
    return Markup(_markdown().renderInline(text).replace(*_INLINE))


def is_title(statement: str, title: str) -> bool:
    """Whether a statement says no more than its title, as where a docstring has one paragraph."""
    return " ".join(statement.split()).removesuffix(".") == title.removesuffix(".")


def words(text: str) -> Markup:
    """Plain text in which only formulas and code are converted, such as quoted words.

    >>> words("b_k * $x_k$ of `net`")
    Markup('b_k * <math><msub><mi>x</mi><mi>k</mi></msub></math> of <code>net</code>')
    """
    out, end = Markup(""), 0
    for piece in _CONVERTED.finditer(text):
        out += escape(text[end : piece.start()])
        if piece["code"]:
            out += Markup("<code>{}</code>").format(piece["code"])
        else:
            out += formula(piece["latex"], display=piece["dollars"] == "$$")
        end = piece.end()
    return out + escape(text[end:])
