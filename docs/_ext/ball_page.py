"""The tables of docs/balls.md: every torch function and method that ball arrays know."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch

import rankcheck.balls  # noqa: F401 - importing registers the functions
from rankcheck.balls import compositions
from rankcheck.balls.array import FUNCTIONS
from rankcheck.balls.missing import INSTEAD

CATEGORIES = {
    "elementwise": "Elementwise functions and comparisons",
    "compositions": "Activations and other formulas",
    "reductions": "Reductions and orders",
    "linalg": "Products, norms, determinants and inverses",
    "convolutions": "Convolutions",
    "fourier": "Fourier transforms",
    "decompositions": "Decompositions and functions of matrices",
    "shapes": "Shapes, joining, cutting and places",
    "indexing": "Places that get other numbers",
    "creation": "Constructors, conversions and complex numbers",
}
"""Titles of the modules that register functions, in the order of the page."""

NOTES = {
    **dict.fromkeys(
        ("lt", "le", "gt", "ge", "eq", "ne"),
        "A bool tensor. Undecided where balls overlap; no order of complex numbers.",
    ),
    **dict.fromkeys(
        ("sign", "floor", "ceil", "trunc", "round", "floor_divide", "remainder"),
        "Undecided where a ball contains a jump.",
    ),
    **dict.fromkeys(
        ("rsqrt", "log2", "log10", "reciprocal", "lgamma", "logdet"),
        "Unknown where the ball leaves the domain, so that no comparison is decided.",
    ),
    **dict.fromkeys(
        ("abs", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
        "Complex numbers too.",
    ),
    **dict.fromkeys(("any", "all", "count_nonzero"), "Undecided where a ball may be zero."),
    **dict.fromkeys(("sort", "topk", "max", "min"), "Values always; indices may be Undecided."),
    **dict.fromkeys(
        ("sqrt", "log"),
        "Unknown where the ball leaves the domain. Complex numbers too: the principal branch.",
    ),
    "pow": "Exact for integer exponents. Only those for complex numbers.",
    "where": "The condition is a bool tensor, so it has been decided.",
    "linalg_det": "Exact for rational matrices, real or complex.",
    "linalg_inv": "LinAlgError if singular, Undecided if it may be. Rational and complex: exact.",
    "linalg_solve": "LinAlgError if singular, Undecided if it may be. Rational and complex: exact.",
    "linalg_pinv": "Exact for rational matrices; Undecided unless balls have provably full rank.",
    "softplus": "log(1 + exp(βx)) / β, and x itself where βx is above the threshold, as in torch.",
    "gelu": "With `approximate`, too.",
    "quantile": "With every `interpolation`.",
    "log_softmax": "The axis has to be named.",
    "linalg_cholesky": "LinAlgError unless positive definite, Undecided if that is open.",
    "linalg_matrix_power": "By repeated products, so exact for rational matrices.",
    "linalg_matrix_norm": "Orders 'fro', 'nuc', 1, -1, 2, -2, inf, -inf.",
    "linalg_vector_norm": "Orders 0, inf, -inf, and all p > 0.",
    "matrix_exp": "Always.",
    "masked_select": "The mask is a bool tensor, so it has been decided.",
    "to": "float64 and complex128. NoBallForm for integers and bools.",
    "einsum": "The equation is a string.",
}
"""What is special, by one of the names; other notes are the first paragraph of a docstring."""

SPELLED = {
    "log_sigmoid": "torch.nn.functional.logsigmoid",
    "unfold": "torch.Tensor.unfold",
}
"""Where the rule does not give the name."""


def forms() -> str:
    """A section for each module that registers functions."""
    lines = []
    for module, title in CATEGORIES.items():
        lines += [f"## {title}", ""]
        if module == "compositions":
            lines += [inspect.getdoc(compositions) or "", ""]
        lines += ["| function | note |", "| --- | --- |"]
        lines += [f"| {names} | {note} |" for names, note in _rows(module)]
        lines.append("")
    return "\n".join(lines)


def instead() -> str:
    """What stands in the place of functions that have no form."""
    rows = sorted(f"| `{spelled(name)}` | {_cell(INSTEAD[name])} |" for name in INSTEAD)
    return "\n".join(["| function | in its place |", "| --- | --- |", *rows])


def _rows(module: str) -> Iterator[tuple[str, str]]:
    names: dict[Callable[..., Any], list[str]] = {}
    for name, function in FUNCTIONS.items():
        if function.__module__.rpartition(".")[2] == module and not name.startswith("__"):
            names.setdefault(function, []).append(name)
    for function, group in names.items():
        note = next((NOTES[name] for name in group if name in NOTES), None)
        if note is None:
            note = inspect.cleandoc(function.__doc__ or "").split("\n\n")[0]
        yield ", ".join(f"`{spelled(name)}`" for name in group), _cell(note)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def spelled(name: str) -> str:
    """How one writes the function that torch calls by that name."""
    if name in SPELLED:
        return SPELLED[name]
    for prefix, module in (
        ("linalg", torch.linalg),
        ("special", torch.special),
        ("fft", torch.fft),
    ):
        short = name.removeprefix(f"{prefix}_")
        if short != name and hasattr(module, short):
            return f"torch.{prefix}.{short}"
    if callable(getattr(torch, name, None)):
        return f"torch.{name}"
    if hasattr(torch.nn.functional, name):
        return f"torch.nn.functional.{name}"
    return f"torch.Tensor.{name}"
