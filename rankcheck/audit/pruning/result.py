"""What pruning finds: the smaller network, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rankcheck.audit.model import Model
from rankcheck.audit.phrases import many, number
from rankcheck.audit.pruning.proof import Proved
from rankcheck.audit.reading import write_model
from rankcheck.networks import Network

__all__ = ["Pruned", "Size"]


@dataclass(frozen=True)
class Size:
    """How large a network is: its depth L, its hidden neurons, its numbers, and ‖θ‖²."""

    depth: int
    neurons: int
    parameters: int
    cost: float

    @classmethod
    def of(cls, net: Network) -> Size:
        """That of a network."""
        numbers = sum(a.numel() for a in (*net.weights, *net.biases))
        return cls(net.depth, sum(net.widths[1:-1]), numbers, float(net.cost()))


@dataclass(frozen=True, repr=False)
class Pruned:
    """A network with fewer neurons, and what is known of its function.

    Attributes:
        net: the smaller network g, in float64.
        before, after: the sizes of f and g; biases that a file does not have count.
        removed: how many neurons were left out, by the reason.
        anywhere: how many of them change nothing on all of ℝⁿ.
        joined: the names of the two affine maps, each time that one took the place of two.
        rounded: whether some numbers of g are not numbers of f, but computed from them and rounded.
        change: max |f − g| / max |f| over the data, as floats give it; None without data.
        proved: what rational arithmetic says at points of the data; None without data, or where the
            network is too large for a single point.
        domain: where all neurons that were left out are what they are said to be: `everywhere`, on
            the `box` that the data span, or at the points of the `data`. There f = g, but for the
            rounding of coefficients.
    """

    net: Network
    before: Size
    after: Size
    removed: Mapping[str, int]
    anywhere: int
    joined: tuple[tuple[str, str], ...]
    rounded: bool
    change: float | None
    proved: Proved | None
    domain: Literal["everywhere", "box", "data"]

    def write(self, path: str | Path) -> None:
        """Write it as `layers.0.weight`, `layers.0.bias`, ... to a safetensors file, in float64.

        Raises:
            InputError: the file cannot be written, or would replace what is no safetensors file.
        """
        names = tuple(f"layers.{i}" for i in range(self.net.depth))
        parameters = (None,) * self.net.depth
        write_model(path, Model(self.net, "pruned", names, parameters, self.after.cost), self.net)

    @property
    def words(self) -> tuple[str, ...]:
        """What was done, and what is known of it, in sentences."""
        if not self.removed and not self.joined:
            return ("Nothing can be left out: it is the same network.",)
        return (self._what(), *self._depth(), *self._compared(), self._domain())

    def _what(self) -> str:
        before, after = self.before, self.after
        reasons = ", ".join(f"{count} {why}" for why, count in self.removed.items() if count)
        return (
            f"{after.neurons} of {many(before.neurons, 'hidden neuron')} and {after.parameters} of "
            f"{before.parameters} numbers are left, at a cost of {number(after.cost)} "
            f"instead of {number(before.cost)}. Left out: {reasons}."
        )

    def _depth(self) -> tuple[str, ...]:
        if not self.joined:
            return ()
        pairs = ", ".join(f"“{one}” and “{two}”" for one, two in self.joined[:4])
        more = f" and {len(self.joined) - 4} more" if len(self.joined) > 4 else ""
        return (
            f"With only linear neurons between them, {pairs}{more} became one affine map: "
            f"the depth is {self.after.depth} instead of {self.before.depth}. Costs and bounds are "
            "those of a depth, so they do not compare with the ones before; audit the new file.",
        )

    def _compared(self) -> tuple[str, ...]:
        if self.change is None:
            return ()
        first = f"On the data the outputs differ by at most {self.change:.1e} of the largest one."
        if self.proved is None:
            return (f"{first} Nothing is proved: one point would take too many operations.",)
        points = many(self.proved.points, "point")
        if self.proved.bound == 0:
            return (f"{first} Proved in rational arithmetic: at {points} they are exactly equal.",)
        why = (
            "coefficients that were computed are rounded"
            if self.rounded
            else ("some neurons that floats take to be dead are above 0 by less than rounding")
        )
        return (
            f"{first} Proved in rational arithmetic: at {points} they differ by at most "
            f"{self.proved.bound:.2g}, as {why}.",
        )

    def _domain(self) -> str:
        but = ", but for the rounding of coefficients," if self.rounded else ""
        if self.domain == "everywhere":
            return (
                f"Nothing that was left out matters anywhere: the function{but} is the same on all "
                "of ℝⁿ."
            )
        if self.domain == "box":
            return (
                f"The neurons are proved to be so on the whole box that the data span: the function"
                f"{but} is the same there, and elsewhere it may differ."
            )
        who = f"{self.anywhere} of them matter nowhere. The others" if self.anywhere else "They"
        return f"{who} are dead or linear on the data: elsewhere the function may differ."

    def to_json(self) -> dict[str, Any]:
        """All but the network, as plain JSON."""
        return {
            "before": asdict(self.before),
            "after": asdict(self.after),
            "widths": list(self.net.widths),
            "removed": dict(self.removed),
            "anywhere": self.anywhere,
            "joined": [list(pair) for pair in self.joined],
            "rounded": self.rounded,
            "change": self.change,
            "proved": None if self.proved is None else asdict(self.proved),
            "domain": self.domain,
            "words": list(self.words),
        }

    def __repr__(self) -> str:
        return "\n".join(self.words)
