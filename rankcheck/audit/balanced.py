"""`balanced_parameters(model)`: the same function at the least cost that rescaling reaches."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from rankcheck.audit.files import parameters_of
from rankcheck.audit.model import ModelError
from rankcheck.audit.read import chain_of
from rankcheck.parallel.arithmetic import single_thread

__all__ = ["balanced_parameters"]


def balanced_parameters(
    model: Any, *, slope: float | None = None, part: str | None = None
) -> dict[str, Tensor]:
    """The parameters of the balanced network, whose cost an audit names, in float64 by name.

    A module that had the parameters of the model takes them by `load_state_dict`, if no layer was
    folded: buffers are to be kept (`strict=False`).

    Args:
        model, slope, part: as for `rankcheck.audit.audit`.

    Raises:
        ModelError: as for `audit`, or the iteration does not end.
    """
    with single_thread():
        read = chain_of(model, slope=slope, part=part)
        try:
            return parameters_of(read, read.balanced)
        except ArithmeticError as error:
            raise ModelError(f"no balanced network was found: {error}") from error
