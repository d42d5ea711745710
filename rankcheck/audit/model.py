"""A trained network as the theory sees it: affine maps with one homogeneous activation between."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rankcheck.errors import InputError
from rankcheck.networks import Network, balance_neurons

__all__ = ["Model", "ModelError"]


class ModelError(InputError):
    """A model or its data cannot be audited: what was found, where, and what is needed."""


@dataclass(frozen=True, eq=False)
class Model:
    """A network, and how it was read.

    Attributes:
        net: the network in float64 on the CPU, without batch axes. Identity activations are those
            of slope 1.
        source: what it was read from: `safetensors`, `state dict`, `ONNX`, `torch module`,
            `scikit-learn`, `network`.
        names: of its L affine maps: those of the file, joined by `+` where several were folded.
        parameters: of each affine map, the names of its weights and its bias (None without one) in
            the file; None for a map that was folded, is stored transposed, or has no names.
        stored_cost: the sum of squares of the parameters as they are stored, before folding:
            weights and biases, those of batch norms included. Running averages are no parameters.
        folded: what was folded into an affine map, a sentence each. Folding keeps the function and
            changes the cost.
        assumed: what the file does not say and was assumed, a sentence each.
        guessed: whether the activations are among it: neither the file nor the caller named them.
        branches: of what the names of the layers speak that no chain has, in words; empty if of
            nothing.
    """

    net: Network
    source: str
    names: tuple[str, ...]
    parameters: tuple[tuple[str, str | None] | None, ...]
    stored_cost: float
    folded: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    guessed: bool = False
    branches: str = ""

    @property
    def biased(self) -> tuple[bool, ...] | None:
        """Of each affine map, whether its bias is a parameter.

        None where that is not known, and where two maps share a parameter: the tangent kernel is
        that of the parameters that there are.
        """
        names = [name for pair in self.parameters if pair is not None for name in pair if name]
        if len(set(names)) < len(names):
            return None
        found = []
        for pair, b in zip(self.parameters, self.net.biases, strict=True):
            if pair is None and self.source != "network" and not bool(b.any()):
                return None  # one that is 0, or none
            found.append(pair is None or pair[1] is not None)
        return tuple(found)

    @cached_property
    def balanced(self) -> Network:
        """The cheapest network with the same function that rescaling single neurons reaches.

        Raises:
            ArithmeticError: if the iteration does not end.
        """
        return balance_neurons(self.net)
