"""`Erratum`: what is wrong in print, what is right, and what becomes of the results."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

Weight = Literal["theorem", "formula", "step", "misprint"]


@dataclass(frozen=True)
class Erratum:
    r"""What is wrong in print, and what is right.

    Attributes:
        printed: the words or the formula as the text at hand has them, quoted. In all texts
            formulas are LaTeX between dollar signs.
        right: what is right instead; it stands beside `printed`, and begins with its formula.
        survives: what becomes of the results that rest on it.
        weight: "theorem", a stated result does not hold as it is printed; "formula", a formula or a
            remark beside the results is wrong; "step", a step of a proof fails; "misprint", a sign,
            an index or a letter, or a condition that the context gives.
        place: where it is printed, if elsewhere than the claim's reference says.

    Raises:
        ValueError: if a text is empty, or the weight unknown.
    """

    printed: str
    right: str
    survives: str
    weight: Weight = "misprint"
    place: str | None = None

    def __post_init__(self) -> None:
        if self.weight not in get_args(Weight):
            raise ValueError(
                f"the weight of an erratum is {self.weight!r}; it is one of "
                + ", ".join(get_args(Weight))
            )
        for item in fields(self):
            text = getattr(self, item.name)
            if text is None and item.name == "place":
                continue
            if not isinstance(text, str) or not text.strip():
                raise ValueError(f"{item.name}= of an erratum is {text!r:.40}; it is a text")
