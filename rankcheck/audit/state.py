"""Parameters by name, of state dicts and safetensors files, as steps of a chain.

A linear layer is a `weight` of two axes with or without a `bias`, a batch norm what has a
`running_mean` and a `running_var`. Nothing is skipped but counters: what is not understood is an
error. Names and shapes tell neither activations nor how layers are joined, so what they leave open
is said (`Model.guess`), and two networks in one file are an error that names both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from torch import Tensor

from rankcheck.audit.chain import (
    MOST_LAYERS,
    Activation,
    Affine,
    Step,
    assemble,
    batch_norm,
    numbers,
    squares,
)
from rankcheck.audit.model import NO_CHAIN, Model, label, require

#: The eps of a BatchNorm1d by default, which its parameters do not tell.
EPS = 1e-5
_LINEAR = {"weight"}, {"weight", "bias"}
_NORM = {"running_mean", "running_var"}, {"running_mean", "running_var", "weight", "bias"}
#: Words of what stands beside other layers, or is gone around.
_WORDS = re.compile(
    r"skip|short_?cut|down_?sample|highway|attn|attention|[qkv]_?proj|resid|res_?(net|layer|unit)"
    r"|block|mixer|transformer|encoder|decoder|(?<![a-z])(res|mu|mean|log_?var|log_?std|actor"
    r"|critic|value|policy|target|ema|teacher)(?![a-z])"
)
_RELU = "ReLU was assumed; --slope 0 says that it is right, --slope A that it is leaky."
_TELLS = (
    "Parameters tell neither activations nor skip connections, so this may be the audit of another "
    "network than yours: --outputs FILE compares with what your model puts out (Python: slope=, "
    "outputs=)."
)


def chain_of_parameters(
    tensors: Mapping[str, Any], source: str, *, slope: float | None, in_order: bool
) -> Model:
    """The chain with these parameters.

    Args:
        slope: of the activations; ReLU is assumed if None.
        in_order: whether the mapping has the order in which the layers were made.

    Raises:
        ModelError: a parameter is not understood or used twice, there are two networks, the place
            of a batch norm is not certain, or shapes do not chain.
    """
    layers = _layers(tensors)
    order, doubts = _ordered(layers, in_order)
    shapes = {name: one["weight"].shape for name, one in layers.items() if _is_linear(one)}
    linear = [name for name in order if name in shapes]
    doubts += _doubts(linear, shapes)
    steps = _steps(order, layers, slope or 0.0)
    notes = [f"the order of the layers: {_listed(order, 8)}"] if len(order) > 1 else []
    if len(linear) < len(order):
        notes.append(f"the eps of the batch norms: {EPS:g}, the default of torch")
    guess = [_RELU] if slope is None and len(linear) > 1 else []
    if doubts:
        guess.append(f"A chain was assumed, and the names speak of {', and of '.join(doubts)}.")
    stored = squares(*(one.get(part) for one in layers.values() for part in ("weight", "bias")))
    whole = " ".join([*guess, _TELLS] if guess else [])
    return assemble(steps, source, stored=stored, slope=slope, assumed=notes, guess=whole)


def _listed(names: Sequence[str], most: int) -> str:
    return ", ".join([*map(label, names[:most]), *["..."] * (len(names) > most)])


def _is_linear(layer: Mapping[str, Tensor]) -> bool:
    return "running_mean" not in layer


def _layers(tensors: Mapping[str, Any]) -> dict[str, dict[str, Tensor]]:
    """The numbers of each layer, by the last part of their names."""
    layers: dict[str, dict[str, Tensor]] = {}
    places: dict[int, str] = {}
    for name, tensor in tensors.items():
        prefix, _, part = name.rpartition(".")
        norm = f"{prefix}.running_mean".lstrip(".") in tensors
        known = part in _NORM[1] and tensor.ndim == (2 if part == "weight" and not norm else 1)
        require(
            known and not re.search(r"emb(ed|$|[^a-z])", prefix.lower()),
            f"{label(name)} of shape {tuple(tensor.shape[:9])} is of no linear layer and no batch "
            f"norm, {NO_CHAIN}",
        )
        layers.setdefault(prefix, {})[part] = numbers(label(name), tensor)
        other = places.setdefault(tensor.data_ptr(), name)
        one = f"{label(other)} and {label(name)} are one parameter of two layers, {NO_CHAIN}"
        require(other == name, one)
    for prefix, layer in layers.items():
        whole = {*layer} in (*_LINEAR, *_NORM)
        require(whole, f"the layer {label(prefix)} has {', '.join(layer)} and no more")
    linear = any(map(_is_linear, layers.values()))
    require(linear, "there is no linear layer: no weight of two axes")
    many = len(layers)
    require(many <= MOST_LAYERS, f"there are {many} layers; at most {MOST_LAYERS} are read")
    return layers


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Names compare part by part, numbers as numbers."""
    parts = re.split(r"([0-9]{1,9})", name)
    return [(0, int(part), "") if i % 2 else (1, 0, part) for i, part in enumerate(parts)]


def _ordered(
    layers: Mapping[str, Mapping[str, Tensor]], in_order: bool
) -> tuple[list[str], list[str]]:
    """The names in their order, and the doubts about it.

    The order is that of the file, if it has one in which shapes chain; else that of the numbers in
    the names. Where other parts of names decide, that is a doubt.
    """
    names = list(layers)
    linear = [layers[name]["weight"].shape for name in names if _is_linear(layers[name])]
    if in_order and all(one[0] == two[1] for one, two in pairwise(linear)):
        return names, []
    names.sort(key=_natural)
    for one, two in pairwise(names):
        pairs = zip(_natural(one), _natural(two), strict=False)
        p, q = next((pair for pair in pairs if pair[0] != pair[1]), ((1, 0, ""), (1, 0, "")))
        if p[0] + q[0]:
            return names, [f"no order between {label(one)} and {label(two)}"]
    return names, []


def _doubts(names: Sequence[str], shapes: Mapping[str, Sequence[int]]) -> list[str]:
    """What names speak of that no chain has, as texts behind `the names speak of`.

    Raises:
        ModelError: they speak of two networks: two prefixes of several layers each take equally
            many numbers. Numbered blocks of one width are none.
    """
    words = [name for name in names if _WORDS.search(name.lower())]
    doubts = [f"layers beside others, or gone around: {_listed(words, 3)}"] if words else []
    groups: dict[str, list[str]] = {}
    for name in names:
        for place in re.finditer(r"\.", name):
            groups.setdefault(name[: place.start()], []).append(name)
    seen: dict[tuple[str, int], str] = {}
    for prefix, group in groups.items():
        n = shapes[group[0]][1]
        first = (
            seen.setdefault((prefix.rpartition(".")[0], n), prefix) if len(group) > 1 else prefix
        )
        if first == prefix:
            continue
        alike = re.sub(r"\d", "", first) == re.sub(r"\d", "", prefix)
        ends = {shapes[group[-1]][0], shapes[groups[first][-1]][0]}
        require(
            alike and ends == {n},
            f"{label(first)} and {label(prefix)} are two networks, which take {n} numbers each; "
            f"--part {label(first)} reads one of them (Python: part=). If they are one, audit the "
            "module",
        )
        doubts = doubts or [f"blocks that may be gone around: {label(first)}, {label(prefix)}"]
    return doubts


def _steps(
    order: Sequence[str], layers: Mapping[str, Mapping[str, Tensor]], slope: float
) -> list[Step]:
    """The layers with one activation between two linear ones.

    Of a batch norm between them the numbers of a Sequential say whether it stands behind the
    activation: 0, 1, 3 and 0, 2, 3 each leave a gap for it. At the ends there is none.

    Raises:
        ModelError: they leave another number of gaps.
    """
    linear = [i for i, name in enumerate(order) if _is_linear(layers[name])]
    active: set[int] = set()
    for i, j in pairwise([0, *linear, len(order) - 1]):
        inside = i < j and i in linear and j in linear
        direct = inside and j == i + 1
        gaps = [k for k in range(i + 1, j + 1) if direct or not _follows(order[k - 1], order[k])]
        norms = [label(name) for name in order[i : j + 1] if not _is_linear(layers[name])]
        require(
            len(gaps) == inside,
            f"it is not certain whether the batch norm {', '.join(norms)} stands before or behind "
            "an activation; the numbers of a Sequential say it (0, 1, 3 or 0, 2, 3). Audit the "
            "module in Python",
        )
        active |= {*gaps}
    steps: list[Step] = []
    for i, name in enumerate(order):
        layer = layers[name]
        weight, bias = layer.get("weight"), layer.get("bias")
        if i in active:
            steps.append(Activation(f"behind {order[i - 1]}", slope))
        if weight is not None and weight.ndim == 2:
            steps.append(Affine(name or "Linear", weight, bias))
        else:
            mean, var = layer["running_mean"], layer["running_var"]
            steps.append(batch_norm(name, mean, var, weight, bias, EPS))
    return steps


def _follows(one: str, two: str) -> bool:
    """Whether these are the numbers of a Sequential one after the other, as net.3 and net.4."""
    (front, _, i), (same, _, j) = one.rpartition("."), two.rpartition(".")
    return front == same and i.isdecimal() and j.isdecimal() and int(j) == int(i) + 1
