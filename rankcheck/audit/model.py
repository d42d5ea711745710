"""A trained network as the theory sees it: affine maps with one homogeneous activation between."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rankcheck.errors import InputError
from rankcheck.stored import shown
from rankcheck.theory.networks import Network, balance_neurons

#: What is said of a network that the theory is not about.
NO_CHAIN = (
    "so this is no chain of affine maps with one (leaky) ReLU between them; rankcheck.measure("
    "module, X) measures any module"
)


class ModelError(InputError):
    """A model or its data cannot be audited: what was found, where, and what is needed."""


def require(condition: object, message: str) -> None:
    """Check that a condition holds.

    Raises:
        ModelError: with the message, what happened and the rule, if it does not.
    """
    if not condition:
        raise ModelError(message)


def label(name: object) -> str:
    """A name from a file on one line, in quotes, cut off."""
    return shown(name if isinstance(name, str) else str(name), 120)


@dataclass(frozen=True, eq=False)
class Model:
    """A network, and how it was read.

    Attributes:
        net: the network in float64 on the CPU, without batch axes. Identity activations are those
            of slope 1.
        source: what it was read from: `safetensors`, `state dict`, `ONNX`, `torch module`,
            `scikit-learn`, `network`.
        names: of its L affine maps: those of the file, joined by `+` where several were folded.
        biases: of each affine map, whether it has a bias; one that has none adds nothing to the
            tangent kernel.
        stored_cost: the sum of squares of the parameters as they are stored, before folding:
            weights and biases, those of batch norms included. Running averages are no parameters.
        folded: what was folded into an affine map, a sentence each. Folding keeps the function and
            changes the cost.
        assumed: what else was assumed or left out, a sentence each.
        guess: what nobody said of the activations and of how the layers are joined, so that this
            may be another network; empty if nothing was guessed.
    """

    net: Network
    source: str
    names: tuple[str, ...]
    biases: tuple[bool, ...]
    stored_cost: float
    folded: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    guess: str = ""

    @cached_property
    def balanced(self) -> Network:
        """The cheapest network with the same function that rescaling single neurons reaches.

        Raises:
            ArithmeticError: if the iteration does not end.
        """
        return balance_neurons(self.net)
