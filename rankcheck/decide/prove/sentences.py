"""Sentences on proofs, which claim no more than was proved. They end without a full stop."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rankcheck.claims.proved import METHODS
from rankcheck.decide.prove.proof import Proof

#: Closes what is said of a claim.
NOTHING_ELSE = "Nothing is said of other shapes"
_INTEGERS = "integers of the generator: "
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_FACTOR = re.compile(r"([a-z]+)(\d+)(?:\^(\d+))?")


def grouped(number: int) -> str:
    """A number with its digits in groups of three.

    >>> grouped(2784)
    '2 784'
    """
    return f"{number:,}".replace(",", " ")


def counted(number: int, one: str, many: str = "") -> str:
    """So many of something.

    >>> counted(1, "path"), counted(1632, "entry", "entries")
    ('1 path', '1 632 entries')
    """
    return f"{grouped(number)} {one if number == 1 else many or f'{one}s'}"


def shape_text(
    sizes: Mapping[str, int], integers: Sequence[int] = (), *, twin: bool = False
) -> str:
    """A shape in words.

    Args:
        twin: whether its sizes do not tell it from another shape; its integers then do.

    >>> shape_text({"depth of net": 2, "width of net": 2})
    'networks of depth 2, width 2'
    >>> shape_text({"rows of A": 2, "columns of A": 3, "d": 4}, (2, 3, 1), twin=True)
    'A of size 2 × 3, d = 4 (integers of the generator: 2, 3, 1)'
    """
    parts: dict[str, dict[str, int]] = {}
    for name, size in sizes.items():
        what, _, part = name.rpartition(" of ")
        parts.setdefault(part, {})[what] = size
    nets = [part for part, known in parts.items() if {"depth", "width"} <= known.keys()]
    texts = [
        _part_text("networks" if nets == [part] else part, known) for part, known in parts.items()
    ]
    drawn = f"{_INTEGERS}{', '.join(map(str, integers))}" if integers else "its only shape"
    if not texts:
        return drawn
    return ", ".join(texts) + (f" ({drawn})" if twin and integers else "")


def shape_alone(text: str) -> str:
    """A shape of a file of proofs in words, without the integers where there are sizes.

    >>> shape_alone("A of size 2 × 3 (drawn: 2, 3, 1)"), shape_alone("drawn: 1, 0")
    ('A of size 2 × 3', 'integers of the generator: 1, 0')
    """
    text = re.sub(rf" \((drawn: |{_INTEGERS})[\d, -]*\)$", "", text)
    return text.replace("drawn: ", _INTEGERS)


def _part_text(part: str, known: Mapping[str, int]) -> str:
    """The sizes of a part of an instance."""
    if "" in known:
        return f"{part} = {known['']}"
    if known.keys() == {"rows", "columns"}:
        return f"{part} of size {known['rows']} × {known['columns']}"
    if known.keys() == {"entries"}:
        return f"{part} of {counted(known['entries'], 'entry', 'entries')}"
    return f"{part} of " + ", ".join(f"{what} {size}" for what, size in known.items())


def equation(polynomial: str) -> str:
    """The equation that a polynomial is zero, without a minus sign.

    >>> equation("x0*x3 - x1*x2"), equation("x12^2 + 1/2*r0"), equation("-3*x0 + 4")
    ('x₀x₃ = x₁x₂', 'x₁₂² + 1/2 r₀ = 0', '4 = 3 x₀')
    """
    terms = re.findall(r"([+-]?)\s*([^\s+-][^\s]*)", polynomial)
    left = " + ".join(_monomial(text) for sign, text in terms if sign != "-")
    right = " + ".join(_monomial(text) for sign, text in terms if sign == "-")
    return f"{left or 0} = {right or 0}"


def _monomial(text: str) -> str:
    number, factors = "", ""
    for part in text.split("*"):
        if (found := _FACTOR.fullmatch(part)) is None:
            number = part
        else:
            name, index, power = found.groups()
            factors += name + index.translate(_SUBSCRIPTS)
            factors += (power or "").translate(_SUPERSCRIPTS)
    return f"{number} {factors}".strip() if number and factors else number + factors


def sentence(proof: Proof, place: str, *, whole: bool = False) -> str:
    """What is proved, at a shape or over a range.

    Args:
        place: the shape in words.
        whole: of a range, whether it has all instances.
    """
    if proof.method == "range":
        if whole:
            return f"True for all {counted(proof.paths, 'instance')}: every choice of its integers"
        return (
            f"True for {counted(proof.paths, 'instance')}, those with the smallest integers; of "
            "larger ones nothing is said"
        )
    ranges = " in their ranges" if any(entry.bounded for entry in proof.entries) else ""
    every = "on its path" if proof.paths == 1 else f"on all {counted(proof.paths, 'path')}"
    text = (
        f"For {place}: true whatever numbers the generator draws{ranges}, {every} through the "
        f"body, boundaries included ({METHODS[proof.method]})"
    )
    if proof.exceptions:
        text += f", except possibly where {' or '.join(map(equation, proof.exceptions))}"
    return text


def open_mutants(proof: Proof) -> int:
    """How many mutants are not proved at the shape."""
    return sum(found != "proved" for found in proof.controls.values())


def controls(proof: Proof) -> str:
    """How much a proof at this shape says, by the mutants that cannot be proved there."""
    total, left = len(proof.controls), open_mutants(proof)
    where = "in this range" if proof.method == "range" else "at this shape"
    if not total:
        return f"The claim has no mutants, so nothing tells how much a proof {where} says"
    if not left:
        both = "Its mutant is" if total == 1 else f"All {total} mutants are"
        return f"{both} proved {where}, too: this proof says little"
    false = sum(found == "false" for found in proof.controls.values())
    known = ""
    if false:
        known = " (false there)" if false == left else f" ({false} of them false there)"
    return f"{left} of {total} mutants cannot be proved {where}{known}"
