r"""Formulas for a terminal: LaTeX between dollar signs as Unicode, where that keeps the meaning.

A formula with a command that is not known here stays as it is. pylatexenc was tried: it drops the
bars of a norm and the braces of an exponent.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+?)\$", re.DOTALL)
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)

#: Letters and signs.
_SIGNS = dict(
    part.split()
    for part in r"""
\alpha α;\beta β;\gamma γ;\delta δ;\epsilon ε;\varepsilon ε;\zeta ζ;\eta η;\theta θ;\vartheta ϑ
\iota ι;\kappa κ;\lambda λ;\mu μ;\nu ν;\xi ξ;\pi π;\rho ρ;\varrho ρ;\sigma σ;\tau τ;\upsilon υ
\phi φ;\varphi φ;\chi χ;\psi ψ;\omega ω;\Gamma Γ;\Delta Δ;\Theta Θ;\Lambda Λ;\Xi Ξ;\Pi Π;\Sigma Σ
\Upsilon Υ;\Phi Φ;\Psi Ψ;\Omega Ω;\ell ℓ;\hbar ℏ;\partial ∂;\nabla ∇;\infty ∞;\emptyset ∅
\varnothing ∅;\sum Σ;\prod Π;\int ∫;\bigcup ⋃;\bigcap ⋂;\bigoplus ⨁;\le ≤;\leq ≤;\ge ≥;\geq ≥
\ne ≠;\neq ≠;\ll ≪;\gg ≫;\approx ≈;\sim ∼;\simeq ≃;\cong ≅;\equiv ≡;\propto ∝;\prec ≺;\succ ≻
\preceq ⪯;\succeq ⪰;\in ∈;\notin ∉;\ni ∋;\subset ⊂;\subseteq ⊆;\supset ⊃;\supseteq ⊇;\cup ∪;\cap ∩
\setminus ∖;\times ×;\cdot ·;\circ ∘;\odot ⊙;\otimes ⊗;\oplus ⊕;\pm ±;\mp ∓;\ast *;\star ⋆
\bullet •;\to →;\rightarrow →;\leftarrow ←;\mapsto ↦;\Rightarrow ⇒;\Leftarrow ⇐;\iff ⇔
\Leftrightarrow ⇔;\implies ⇒;\uparrow ↑;\downarrow ↓;\forall ∀;\exists ∃;\neg ¬;\land ∧;\wedge ∧
\lor ∨;\vee ∨;\perp ⊥;\bot ⊥;\top ⊤;\mid |;\parallel ∥;\langle ⟨;\rangle ⟩;\lceil ⌈;\rceil ⌉
\lfloor ⌊;\rfloor ⌋;\lvert |;\rvert |;\lVert ‖;\rVert ‖;\| ‖;\{ {;\} };\_ _;\% %;\# #;\& &
\dots …;\ldots …;\cdots ⋯;\vdots ⋮;\ddots ⋱;\prime ′;\angle ∠;\aleph ℵ;\Re Re;\Im Im
""".replace("\n", ";").split(";")
    if part
)
_SPACES = {
    r"\,": " ",
    r"\;": " ",
    r"\:": " ",
    r"\ ": " ",
    "\\\n": " ",
    "~": " ",
    r"\quad": "  ",
    r"\qquad": "   ",
}
#: Sizes of brackets, and what else is not seen.
_NOTHING = re.compile(r"\\(left|right|[bB]igg?[lr]?|limits|nolimits|displaystyle|textstyle|!)")
_WORDS = (
    "log|ln|exp|sin|cos|tan|sinh|cosh|tanh|arccos|arcsin|arctan|argmin|argmax|arg|min|max|sup|inf|"
    "limsup|liminf|lim|det|dim|ker|deg|gcd|Pr|mod|bmod"
)
_WORD = re.compile(rf"\\({_WORDS})")
_AFTER_WORD = re.compile(rf"({_WORDS})$")
_FONTS = (
    r"\operatorname",
    r"\mathrm",
    r"\text",
    r"\textrm",
    r"\mathbf",
    r"\mathit",
    r"\mathsf",
)
_ACCENTS = {
    r"\tilde": "\u0303",
    r"\widetilde": "\u0303",
    r"\hat": "\u0302",
    r"\widehat": "\u0302",
    r"\bar": "\u0304",
    r"\overline": "\u0304",
    r"\underline": "\u0332",
    r"\dot": "\u0307",
    r"\ddot": "\u0308",
    r"\vec": "\u20d7",
}
_FRACTIONS = {r"\frac", r"\tfrac", r"\dfrac"}
_DOUBLE = dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True))
_ABOVE = dict(
    zip(
        "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW⊤′",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵀ′",
        strict=True,
    )
)
_BELOW = dict(
    zip("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True)
)
#: What needs no brackets below a fraction, or after a root: one sign, with its indices and powers.
_ATOM = re.compile(r"(\d+|\w[\u0300-\u036f\u20d7]?)[₀-₌ₐ-ₜᵢᵣᵤᵥⱼ⁰-⁾²³¹′]*")


class _Unknown(Exception):
    """A formula has something that cannot be written."""


def unicode(text: str) -> str:
    r"""A text with its formulas in Unicode.

    >>> unicode(r"$\frac{\|\theta\|^2}L \le k + \sum_{i=1}^n s_i^{2/L}$ for $x \in \mathbb R^k$")
    '‖θ‖²/L ≤ k + Σᵢ₌₁ⁿ sᵢ^(2/L) for x ∈ ℝᵏ'
    >>> unicode(r"$\begin{x}$, and 2 $")
    '$\\begin{x}$, and 2 $'
    >>> unicode(r"$W_1 = \begin{pmatrix} 1 & e^2 \\ 0 & 1 \end{pmatrix}$")
    'W₁ = (1, e²; 0, 1)'
    """
    return _FORMULA.sub(_written, text)


def _written(formula: re.Match[str]) -> str:
    try:
        return _all(iter(_TOKEN.findall(formula[1] or formula[2]))).strip()
    except (_Unknown, StopIteration):
        return formula[0]


def _all(tokens: Iterator[str], end: str = "") -> str:
    """What the tokens mean, up to a closing brace or bracket, or all of them."""
    out = ""
    for token in tokens:
        if token == end:
            return out
        if token in ("^", "_"):
            out = out.rstrip() + _script(token, _argument(tokens))
            continue
        part = _one(token, tokens)
        after_letter = (_WORD.fullmatch(token) or token in _FONTS) and out[-1:].isalnum()
        after_word = part[:1].isalnum() and _AFTER_WORD.search(out)
        out += (" " if after_letter or after_word else "") + part
    if end:
        raise _Unknown
    return out


def _one(token: str, tokens: Iterator[str]) -> str:
    """What one token means, with its arguments."""
    if token == "{":
        return _all(tokens, "}")
    if token == r"\begin":
        return _matrix(_argument(tokens), tokens)
    if token in _FRACTIONS:
        above, below = _argument(tokens), _argument(tokens)
        above = f"({above})" if re.search(r"[ +\-/,]", _outside(above)) else above
        return f"{above}/{_bracketed(below)}"
    if token == r"\binom":
        return f"binom({_argument(tokens)}, {_argument(tokens)})"
    if token == r"\sqrt":
        return "√" + _bracketed(_argument(tokens))
    if token in _FONTS:
        return _argument(tokens)
    if token in (r"\mathbb", r"\mathcal", r"\mathscr", r"\mathfrak"):
        letter = _argument(tokens)
        return _DOUBLE.get(letter, letter) if token == r"\mathbb" else letter
    if token in _ACCENTS:
        letter = _argument(tokens)
        if len(letter) != 1:
            return f"{token[1:]}({letter})"
        return unicodedata.normalize("NFC", letter + _ACCENTS[token])
    if _WORD.fullmatch(token):
        return token[1:]
    if _NOTHING.fullmatch(token):
        return ""
    if token in _SPACES:
        return _SPACES[token]
    if token == "'":
        return "′"
    if token in _SIGNS:
        return _SIGNS[token]
    if token.startswith("\\") or token in ("}", "&"):
        raise _Unknown
    return token


def _matrix(name: str, tokens: Iterator[str]) -> str:
    """The rows of a matrix behind one another."""
    if name != "pmatrix":
        raise _Unknown
    rows = [[""]]
    for token in tokens:
        if token == r"\end":
            _argument(tokens)
            return "(" + "; ".join(", ".join(map(str.strip, row)) for row in rows) + ")"
        if token == "&":
            rows[-1].append("")
        elif token == r"\\":
            rows.append([""])
        elif token in ("^", "_"):
            rows[-1][-1] = rows[-1][-1].rstrip() + _script(token, _argument(tokens))
        else:
            rows[-1][-1] += _one(token, tokens)
    raise _Unknown


def _argument(tokens: Iterator[str]) -> str:
    """The next group, or the next sign."""
    token = next(tokens)
    while token.isspace():
        token = next(tokens)
    return _one(token, tokens)


def _script(sign: str, text: str) -> str:
    """A power or an index: small letters where all of them exist, else in brackets."""
    table = _ABOVE if sign == "^" else _BELOW
    small = "".join(table.get(letter, "") for letter in text)
    if len(small) == len(text):
        return small
    return f"{sign}{text}" if len(text) == 1 else f"{sign}({text})"


def _bracketed(text: str) -> str:
    return text if _ATOM.fullmatch(text) else f"({text})"


def _outside(text: str) -> str:
    """The text without what stands in round brackets."""
    while (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
        text = shorter
    return text
