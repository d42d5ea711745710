"""Fitted MLPRegressor and MLPClassifier of scikit-learn, which is not imported here."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from rankcheck.audit.model import Model
from rankcheck.audit.reading.arrays import parameter
from rankcheck.audit.reading.folding import Activation, Affine, Step, assemble, squares
from rankcheck.audit.reading.opening import require

__all__ = ["from_estimator", "is_estimator"]

_SLOPES = {"relu": 0.0, "identity": 1.0}


def is_estimator(model: Any) -> bool:
    """Whether this is an MLP of scikit-learn; none is if that was not imported."""
    module = sys.modules.get("sklearn.neural_network")
    return module is not None and isinstance(model, module.MLPRegressor | module.MLPClassifier)


def from_estimator(model: Any, *, slope: float | None = None) -> Model:
    """The network of a fitted MLP with the activation `relu` or `identity`.

    scikit-learn keeps W_ℓ transposed, in `coefs_`. The output is that of the last affine map.

    Raises:
        ModelError: it is not fitted, or has another activation.
    """
    kind = type(model).__name__
    require(
        model.activation in _SLOPES,
        f"the {kind} has the activation {model.activation!r}; it must be 'relu' or 'identity'",
    )
    require(hasattr(model, "coefs_"), f"the {kind} is not fitted; call fit first")
    steps: list[Step] = []
    for i, (matrix, vector) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        if steps:
            steps.append(Activation(f"{model.activation} {i}", _SLOPES[model.activation]))
        weight = parameter(f"coefs_[{i}]", np.asarray(matrix).T)
        bias = parameter(f"intercepts_[{i}]", np.asarray(vector))
        steps.append(Affine(f"coefs_[{i}]", weight, bias, None, squares(weight, bias)))
    last = getattr(model, "out_activation_", "identity")
    notes = [] if last == "identity" else [f"the output is that before {last}"]
    return assemble(steps, "scikit-learn", slope=slope, assumed=notes)
