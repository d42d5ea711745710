"""What ledgers and pages say of the proofs that are kept for a claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: The ways to prove, in words; of two, the one that came first needs less.
METHODS = {
    "range": "every instance of a range",
    "algebra": "exact algebra",
    "squares": "exact algebra and sums of squares",
}


@dataclass(frozen=True, kw_only=True)
class Proved:
    """What is proved of a claim, at some shapes; of others nothing is said.

    Attributes:
        method: that of the proof that says most; see `METHODS`.
        shapes: by method, at how many shapes the claim is proved; of a range, one.
        at: the shape of the proof that says most, in words.
        entries: how many entries an instance has there.
        paths: of a range, its instances; else the paths through the body.
        largest: the largest shape, in words.
        open: how many of the mutants are not proved at the shape that says most.
        mutants: of how many.
        sentence: what is proved there.
        stale: whether the text of the claim has changed since.

    Raises:
        ValueError: if a method is unknown, or more mutants are open than there are.
    """

    method: str
    shapes: Mapping[str, int] = field(default_factory=dict)
    at: str = ""
    entries: int = 0
    paths: int = 0
    largest: str = ""
    open: int = 0
    mutants: int = 0
    sentence: str = ""
    stale: bool = False

    def __post_init__(self) -> None:
        for name in (self.method, *self.shapes):
            if name not in METHODS:
                raise ValueError(f"{name!r:.60} is no way to prove; these are {', '.join(METHODS)}")
        if not 0 <= self.open <= self.mutants:
            raise ValueError(f"{self.open} of {self.mutants} mutants are open; at most all are")

    @property
    def number(self) -> int:
        """At how many shapes the claim is proved."""
        return sum(self.shapes.values())

    @property
    def text(self) -> str:
        """What is proved, in words: at how many shapes, how, and the sentence on one of them."""
        by = ", ".join(
            f"{METHODS[name]}: {self.shapes[name]}" for name in METHODS if name in self.shapes
        )
        shapes = f"at {self.number} shape{'s' * (self.number != 1)} ({by})"
        how = "" if self.method == "range" else f"{shapes}; the largest: {self.largest}. "
        before = "of an older text of the claim, " if self.stale else ""
        return f"{before}{how}{self.sentence}"

    @property
    def short(self) -> str:
        """The cell of a table: how many shapes, and how many mutants are not proved there.

        >>> Proved(method="algebra", shapes={"algebra": 12}, open=2, mutants=2).short
        '12 (2/2)'
        >>> Proved(method="range", shapes={"range": 1}, paths=2784).short
        'range'
        """
        if self.stale:
            return "stale"
        number = "range" if self.method == "range" else str(self.number)
        return f"{number} ({self.open}/{self.mutants})" if self.mutants else number
