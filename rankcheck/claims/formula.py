r"""The two sides of a relation that is written in LaTeX: `\|A\|_* \le \sqrt r \|A\|_F`."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Formula", "parsed", "stated"]

_TOKEN = re.compile(
    r"\\(?:left|right|[bB]igg?[lr]?)\s*(?:\\[A-Za-z]+|\\.|.)|\\[A-Za-z]+\*?|\\.|.", re.DOTALL
)
_SIGNS = {
    **dict.fromkeys((r"\le", r"\leq", r"\leqslant"), "≤"),
    **dict.fromkeys((r"\ge", r"\geq", r"\geqslant"), "≥"),
    **dict.fromkeys(("<", r"\lt"), "<"),
    **dict.fromkeys((">", r"\gt"), ">"),
    "=": "=",
}
#: What makes a formula more than one relation between two sides.
_MORE = re.compile(
    r"""[,;:&]|\\\\|\\(q?quad|text\w*|mbox|neq?|approx|sim(eq)?|cong|equiv|propto|(not)?in|ni|subset(eq)?
    |supset(eq)?|to|(right|left)arrow|mapsto|implies|Rightarrow|iff|Leftrightarrow|(succ|prec)(eq)?|ll|gg
    |land|lor|wedge|vee|forall|exists|mid|colon(eq\w*)?|perp|parallel|(less|gtr)sim)""",
    re.VERBOSE,
)
_OPEN, _CLOSE = frozenset("{(["), frozenset("})]")
_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+?)\$", re.DOTALL)
#: Before a formula that says for what something is stated, and not what.
_HYPOTHESIS = re.compile(
    r"\b(if|for|with|where|when|whenever|let|given|once|provided|assume|every|all|any|each|some|"
    r"has|have|and|of|in|on|at|as|to)[\s(]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Formula:
    """A relation in LaTeX, written so that the smaller side comes first.

    Attributes:
        lhs, rhs: the sides, without dollar signs. Those of an equation are in their order.
        sign: "≤", "<" or "=".
    """

    lhs: str
    sign: str
    rhs: str


def parsed(text: str) -> Formula | None:
    r"""A formula as two sides; None unless it is two sides with one sign between them.

    Signs inside brackets, braces and bars do not count.

    >>> parsed(r"\|A\|_F \ge \max_{i \le n} s_i(A)")
    Formula(lhs='\\max_{i \\le n} s_i(A)', sign='≤', rhs='\\|A\\|_F')
    >>> parsed(r"a \le b \le c") is parsed(r"a \in B") is None
    True
    """
    text = re.sub(r"^\$+|\$+$", "", text.strip()).strip().rstrip(".,;")
    signs = _top(text)
    if signs is None or len(signs) != 1:
        return None
    [(sign, start, end)] = signs
    first, second = (" ".join(side.split()) for side in (text[:start], text[end:]))
    if not (first and second):
        return None
    if sign in "≥>":
        return Formula(second, "≤" if sign == "≥" else "<", first)
    return Formula(first, sign, second)


def _top(text: str) -> list[tuple[str, int, int]] | None:
    """The signs outside of brackets with their places; None where brackets do not match or more."""
    found: list[tuple[str, int, int]] = []
    depth, bars, more = 0, {"|": False, r"\|": False}, False
    for match in _TOKEN.finditer(text):
        token = match[0]
        sized = re.match(r"\\(left|right|[bB]igg?[lr]?)(?![A-Za-z])", token)
        bare = token[sized.end() :].strip() if sized else token
        if sized and sized[1] in ("left", "right"):
            depth += 1 if sized[1] == "left" else -1
        elif bare in _OPEN or bare in (r"\{", r"\lfloor", r"\lceil", r"\langle", r"\begin"):
            depth += 1
        elif bare in _CLOSE or bare in (r"\}", r"\rfloor", r"\rceil", r"\rangle", r"\end"):
            depth -= 1
        elif bare in bars and depth == 0:
            bars[bare] = not bars[bare]
        elif depth == 0 and not any(bars.values()):
            if token in _SIGNS:
                found.append((_SIGNS[token], match.start(), match.end()))
            more |= _MORE.fullmatch(token) is not None
        if depth < 0:
            return None
    return None if depth or any(bars.values()) or more else found


def stated(text: str) -> Formula | None:
    """The inequality that a statement makes, where it has just one; else None.

    An equation beside it is a definition and does not count. An inequality that stands behind
    "if", "for", "where" or the like is a hypothesis: then nobody can tell what is stated.
    """
    found: list[tuple[Formula | None, str]] = []
    for match in _FORMULA.finditer(text):
        inner = match[1] or match[2]
        if any(_SIGNS.get(token[0], "=") != "=" for token in _TOKEN.finditer(_outside(inner))):
            found.append((parsed(inner), text[: match.start()]))
    if len(found) != 1:
        return None
    [(formula, before)] = found
    display = before.count("$$") != text.count("$$")
    hypothesis = _HYPOTHESIS.search(before) is not None and not display
    return None if formula is None or formula.sign == "=" or hypothesis else formula


def _outside(text: str) -> str:
    """A formula without what stands in braces: indices, bounds of sums."""
    while (shorter := re.sub(r"(?<!\\)\{[^{}]*\}", "", text)) != text:
        text = shorter
    return text
