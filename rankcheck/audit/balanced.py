"""`balanced_parameters(model)`: the same function at the least cost that rescaling reaches."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from rankcheck.audit.graph.balance import rescale
from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.scalable import scalable
from rankcheck.audit.model import ModelError
from rankcheck.audit.reading import data_of, model_of, parameters_of
from rankcheck.parallel.arithmetic import single_thread

__all__ = ["balanced_parameters"]


def balanced_parameters(
    model: Any, data: Any = None, *, slope: float | None = None
) -> dict[str, Tensor]:
    """The parameters of the balanced network, whose cost an audit names, in float64 by name.

    A module that had the parameters of the model takes them by `load_state_dict`, if all names are
    known: buffers, and names that share a parameter, are to be kept (`strict=False`).

    Args:
        model, slope: as for `rankcheck.audit.audit`.
        data: points as for `audit`; a network that is no chain needs them for their shape.

    Raises:
        ModelError: as for `audit`, or the iteration does not end.
    """
    with single_thread():
        shape = None if data is None else tuple(data_of(data).shape[1:])
        read = model_of(model, slope=slope, shape=shape, theorems=False)
        if isinstance(read, Graph):
            found = rescale(read, scalable(read))
            if found.converged:
                return {name: p.clone() for name, p in found.parameters.items()}
            raise ModelError("no balanced network was found: the iteration did not end")
        try:
            return parameters_of(read, read.balanced)
        except ArithmeticError as error:
            raise ModelError(f"no balanced network was found: {error}") from error
