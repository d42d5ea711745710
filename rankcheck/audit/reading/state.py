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
    squares,
)
from rankcheck.audit.reading.opening import LARGEST_ENTRIES, label, require
from rankcheck.audit.reading.order import ordered
from rankcheck.audit.reading.signs import signs_of_branches

__all__ = ["EPS", "from_parameters"]

#: The eps of a BatchNorm1d by default, which its parameters do not tell.
EPS = 1e-5

_PARTS = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
_OTHERS = {1: "a layer norm or a PReLU", 3: "a convolution", 4: "a convolution"}


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

    def read(self, part: str) -> Any:
        """The numbers of a part; None if there is none."""
        array = self.arrays.get(part)
        return None if array is None else parameter(label(self.name(part)), array)


def from_parameters(
    parameters: Mapping[str, Any],
    source: str,
    *,
    slope: float | None = None,
    in_order: bool,
    assumed: tuple[str, ...] = (),
) -> Model:
    """The network with these parameters, tensors or numpy arrays by their names.

    Args:
        slope: of the activations; ReLU is assumed if None.
        in_order: whether the mapping has the order in which the layers were made.

    Raises:
        ModelError: a parameter is not understood, the place of a batch norm is not certain, or the
            shapes do not chain.
    """
    groups = _grouped(parameters)
    norms = {g.prefix: g for g in groups if g.is_norm}
    linear = {g.prefix: g for g in groups if not g.is_norm}
    require(linear, "there is no linear layer: no weight of two axes without running averages")
    many = len(groups)
    require(many <= MOST_LAYERS, f"there are {many} layers; at most {MOST_LAYERS} are read")
    shapes = {prefix: tuple(g.arrays["weight"].shape) for prefix, g in linear.items()}
    order = ordered(shapes, in_order=in_order)
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
    branches = signs_of_branches(order, shapes) if len(order) > 1 else ""
    return replace(model, guessed=slope is None and len(order) > 1, branches=branches)


def _listed(names: list[str], most: int = 8) -> str:
    shown = [label(name, 40) for name in names]
    return ", ".join(shown if len(shown) <= most else [*shown[: most - 1], "...", shown[-1]])


def _grouped(parameters: Mapping[str, Any]) -> list[_Group]:
    """The layers, in the order of their first parameters, each with what it needs."""
    groups: dict[str, _Group] = {}
    entries = 0
    for name, array in parameters.items():
        kind = type(name).__name__
        require(
            isinstance(name, str), f"the name of a parameter is of the type {kind}; it is a text"
        )
        kind = type(array).__name__
        require(
            hasattr(array, "shape"), f"{label(name)} is of the type {kind}; it must be a tensor"
        )
        prefix, _, part = name.rpartition(".")
        require(
            part in _PARTS,
            f"the parameter {label(name)} of shape {tuple(array.shape)} is not understood; known "
            "are linear layers and batch norms. A network in Python can be audited there",
        )
        entries += array.numel()
        groups.setdefault(prefix, _Group(prefix)).arrays[part] = array
    require(groups, "there are no parameters; a network has at least one weight matrix")
    fit = entries <= LARGEST_ENTRIES
    require(fit, f"there are {entries} parameters; at most {LARGEST_ENTRIES} are read")
    for group in groups.values():
        (_check_norm if group.is_norm else _check_linear)(group)
    return list(groups.values())


def _check_norm(group: _Group) -> None:
    parts = group.arrays.keys()
    for part in ("running_mean", "running_var"):
        require(part in parts, f"{label(group.name(part))} is missing; a batch norm has it")
    even = ("weight" in parts) == ("bias" in parts)
    require(
        even, f"{label(group.prefix)} has one of weight and bias; a batch norm has both or none"
    )


def _check_linear(group: _Group) -> None:
    arrays, name = group.arrays, label(group.name("weight"))
    for part in arrays:
        one = label(group.name(part))
        require(
            part in ("weight", "bias"), f"{one} stands without running averages; a batch norm has"
        )
        require("weight" in arrays, f"{one} stands without a weight; a linear layer has one")
    shape = tuple(arrays["weight"].shape)
    require(
        len(shape) == 2,
        f"{name} has the shape {shape}, which is {_OTHERS.get(len(shape), 'no linear layer')}; "
        "only linear layers (two axes) and batch norms with running averages are read",
    )
    require(
        not re.search(r"emb(ed|$|[^a-z])", group.prefix.lower()),
        f"{name} is an embedding by its name; the input of a network is a vector of numbers here",
    )
    bias = tuple(arrays["bias"].shape) if "bias" in arrays else shape[:1]
    fits = bias == shape[:1]
    require(fits, f"{name} has the shape {shape}, and its bias {bias}; it must be {shape[:1]}")


def _affine(group: _Group) -> Affine:
    weight, bias = group.read("weight"), group.read("bias")
    names = (group.name("weight"), None if bias is None else group.name("bias"))
    return Affine(group.title, weight, bias, names, squares(weight, bias))


def _norm(group: _Group) -> Diagonal:
    mean, variance, weight, bias = (
        group.read(part) for part in ("running_mean", "running_var", "weight", "bias")
    )
    return batch_norm(group.title, mean, variance, weight, bias, EPS)


def _placed(
    norms: Mapping[str, _Group], linear: Mapping[str, _Group]
) -> tuple[dict[str, _Group], dict[str, _Group]]:
    """The batch norms by the linear layer that they stand directly behind, or in front of."""
    behind: dict[str, _Group] = {}
    ahead: dict[str, _Group] = {}
    known = norms.keys() | linear.keys()
    for prefix, group in norms.items():
        match = re.fullmatch(r"(|.*\.)([0-9]{1,9})", prefix, re.DOTALL)
        parent, number = (match[1], int(match[2])) if match else (".", -9)  # no name is like these
        left, right = f"{parent}{number - 1}", f"{parent}{number + 1}"
        if left in linear and right not in known:
            behind[left] = group
        elif right in linear and left not in known:
            ahead[right] = group
        else:
            raise ModelError(
                f"it is not certain whether the batch norm {label(prefix)} stands before or behind "
                "an activation; the numbers of a Sequential say it (0, 1, 3 or 0, 2, 3). Audit the "
                "module in Python"
            )
    return behind, ahead
