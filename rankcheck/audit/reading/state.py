"""Parameters by name, of state dicts and safetensors files, as steps of a network.

A linear layer is a `weight` of two axes with or without a `bias`, a batch norm what has a
`running_mean` and a `running_var`. Where a batch norm stands is certain if the numbers in a
Sequential say it: directly behind a linear layer (`0`, `1`, `3`) it is before the activation, and
directly in front of one (`0`, `2`, `3`) behind it. Nothing is skipped: what is not understood is an
error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading.arrays import parameter
from rankcheck.audit.reading.folding import (
    MOST_LAYERS,
    Activation,
    Affine,
    Diagonal,
    Step,
    assemble,
    batch_norm,
    check_slope,
    squares,
)
from rankcheck.audit.reading.opening import LARGEST_ENTRIES, label
from rankcheck.audit.reading.order import ordered

__all__ = ["EPS", "from_parameters"]

#: The eps of a BatchNorm1d by default, which its parameters do not tell.
EPS = 1e-5

_PARTS = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")


@dataclass
class _Group:
    """What a state dict holds of one layer, by the last part of the names."""

    prefix: str
    arrays: dict[str, Any] = field(default_factory=dict)

    def name(self, part: str) -> str:
        return f"{self.prefix}.{part}" if self.prefix else part

    @property
    def title(self) -> str:
        return self.prefix or "Linear"

    @property
    def is_norm(self) -> bool:
        return "running_mean" in self.arrays or "running_var" in self.arrays


def from_parameters(
    parameters: Mapping[str, Any],
    source: str,
    *,
    slope: float | None = None,
    kept: bool,
    assumed: tuple[str, ...] = (),
) -> Model:
    """The network with these parameters, tensors or numpy arrays by their names.

    Args:
        slope: of the activations; ReLU is assumed if None.
        kept: whether the mapping has the order in which the layers were made.

    Raises:
        ModelError: a parameter is not understood, the place of a batch norm is not certain, or the
            shapes do not chain.
    """
    slope = check_slope(slope)
    groups = _grouped(parameters)
    norms = {g.prefix: g for g in groups if g.is_norm}
    linear = {g.prefix: g for g in groups if not g.is_norm}
    if not linear:
        raise ModelError("there is no linear layer: no weight of two axes without running averages")
    if len(groups) > MOST_LAYERS:
        raise ModelError(f"there are {len(groups)} layers; at most {MOST_LAYERS} are read")
    shapes = {prefix: tuple(g.arrays["weight"].shape) for prefix, g in linear.items()}
    order = ordered(shapes, kept=kept)
    behind, ahead = _placed(norms, linear)
    a = 0.0 if slope is None else slope
    steps: list[Step] = []
    for prefix in order:
        if steps:
            steps.append(Activation(f"behind {steps[-1].name}", a))
        if prefix in ahead:
            steps.append(_norm(ahead[prefix]))
        steps.append(_affine(linear[prefix]))
        if prefix in behind:
            steps.append(_norm(behind[prefix]))
    notes = list(assumed)
    if len(order) > 1:
        notes.append(
            "ReLU between the affine maps, which parameters alone do not tell"
            if slope is None
            else f"the slope {a:g} between the affine maps, as the caller says"
        )
        notes.append(f"the order of the layers: {_listed([linear[p].title for p in order])}")
    if norms:
        names = _listed(list(norms))
        notes.append(f"the eps of the batch norms ({names}): {EPS:g}, the default of torch")
    model = assemble(steps, source, slope=slope, assumed=notes)
    return replace(model, guessed=slope is None and len(order) > 1)


def _listed(names: list[str], most: int = 8) -> str:
    shown = [label(name, 40) for name in names]
    return ", ".join(shown if len(shown) <= most else [*shown[: most - 1], "...", shown[-1]])


def _grouped(parameters: Mapping[str, Any]) -> list[_Group]:
    """The layers, in the order of their first parameters, each with what it needs."""
    groups: dict[str, _Group] = {}
    entries = 0
    for name, array in parameters.items():
        if not isinstance(name, str):
            raise ModelError(
                f"the name of a parameter is of the type {type(name).__name__}; it must be a text"
            )
        shape = getattr(array, "shape", None)
        if shape is None:
            raise ModelError(
                f"{label(name)} is of the type {type(array).__name__}; a state dict holds tensors "
                "by name"
            )
        prefix, _, part = name.rpartition(".")
        if part not in _PARTS:
            raise ModelError(
                f"the parameter {label(name)} of shape {tuple(shape)} is not understood; known are "
                "weights and biases of linear layers and batch norms. A network in Python can be "
                "audited there"
            )
        entries += array.numel() if hasattr(array, "numel") else array.size
        groups.setdefault(prefix, _Group(prefix)).arrays[part] = array
    if not groups:
        raise ModelError("there are no parameters; a network has at least one weight matrix")
    if entries > LARGEST_ENTRIES:
        raise ModelError(f"there are {entries} parameters; at most {LARGEST_ENTRIES} are read")
    for group in groups.values():
        _check(group)
    return list(groups.values())


def _check(group: _Group) -> None:
    """Check that a layer is a linear one or a batch norm."""
    arrays = group.arrays
    axes = {part: len(array.shape) for part, array in arrays.items()}
    if group.is_norm:
        for part in ("running_mean", "running_var"):
            if part not in arrays:
                raise ModelError(f"{label(group.name(part))} is missing; a batch norm has it")
        if ("weight" in arrays) != ("bias" in arrays):
            missing = "bias" if "weight" in arrays else "weight"
            raise ModelError(
                f"{label(group.name(missing))} is missing; a batch norm has a weight and a "
                "bias, or neither"
            )
        return
    for part in arrays:
        if part not in ("weight", "bias"):
            raise ModelError(
                f"{label(group.name(part))} stands without running averages; it belongs to none of "
                "the layers that are known: linear ones and batch norms"
            )
    if "weight" not in arrays:
        raise ModelError(
            f"{label(group.name('bias'))} stands without a weight; a linear layer has one"
        )
    name, shape = group.name("weight"), tuple(arrays["weight"].shape)
    if axes["weight"] != 2:
        kinds = {1: "a layer norm or a PReLU", 3: "a convolution", 4: "a convolution"}
        kind = kinds.get(axes["weight"], "no linear layer")
        raise ModelError(
            f"{label(name)} has the shape {shape}, which is {kind}; only linear layers (two axes) "
            "and batch norms with running averages are read"
        )
    if re.search(r"emb(ed|$|[^a-z])", group.prefix.lower()):
        raise ModelError(
            f"{label(name)} is an embedding by its name; the input of a network is a vector of "
            "numbers here"
        )
    if "bias" in arrays and tuple(arrays["bias"].shape) != shape[:1]:
        raise ModelError(
            f"{label(name)} has the shape {shape}, and its bias {tuple(arrays['bias'].shape)}; "
            f"it must be {shape[:1]}"
        )


def _affine(group: _Group) -> Affine:
    names = [group.name(part) for part in ("weight", "bias")]
    weight = parameter(label(names[0]), group.arrays["weight"])
    bias = parameter(label(names[1]), group.arrays["bias"]) if "bias" in group.arrays else None
    pair = (names[0], None if bias is None else names[1])
    return Affine(group.title, weight, bias, pair, squares(weight, bias))


def _norm(group: _Group) -> Diagonal:
    read = {
        part: parameter(label(group.name(part)), array)
        for part, array in group.arrays.items()
        if part != "num_batches_tracked"
    }
    mean, variance = read["running_mean"], read["running_var"]
    return batch_norm(group.title, mean, variance, read.get("weight"), read.get("bias"), EPS)


def _placed(
    norms: Mapping[str, _Group], linear: Mapping[str, _Group]
) -> tuple[dict[str, _Group], dict[str, _Group]]:
    """The batch norms by the linear layer that they stand directly behind, or in front of."""
    behind: dict[str, _Group] = {}
    ahead: dict[str, _Group] = {}
    for prefix, group in norms.items():
        match = re.fullmatch(r"(|.*\.)([0-9]{1,9})", prefix, re.DOTALL)
        left, right = "", ""
        if match:
            parent, number = match[1], int(match[2])
            left, right = f"{parent}{number - 1}", f"{parent}{number + 1}"
        known = norms.keys() | linear.keys()
        if left in linear and left and right not in known:
            behind[left] = group
        elif right in linear and right and left not in known:
            ahead[right] = group
        else:
            raise ModelError(
                f"it is not certain whether the batch norm {label(prefix)} stands before or behind "
                "an activation; the numbers of a Sequential say it (0, 1, 3 or 0, 2, 3). Audit the "
                "module in Python"
            )
    return behind, ahead
