"""Every public function of the mathematics is compared with something that is not ours.

`@pytest.mark.oracle("rankcheck.room.function", "what it is compared with")` on a test says so.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = (
    "linalg",
    "networks",
    "costs",
    "regions",
    "separation",
    "data",
    "witnesses",
    "balls",
)

#: What a comparison with another library would not make sense for.
NONE_POSSIBLE = {
    "balls.as_batch": "runs a function on a batch; tests/theory/test_under_vmap.py",
    "balls.balls": "makes balls of numbers",
    "balls.computed_constants": "a context in which floats are noted",
    "balls.conventions": "a context in which other eigenvectors are chosen",
    "balls.is_ball": "tells the kind of an array",
    "balls.mapped": "tells whether values can be read",
    "balls.mapping": "a context; tests/engine/verification/test_evaluation.py",
    "balls.provably_leq": "says what is proved; tests/balls/test_guards.py",
    "balls.provably_less": "says what is proved; tests/balls/test_guards.py",
    "balls.risks": "a number of calls; tests/engine/verification/test_evaluation.py",
    "balls.watching": "a context; tests/engine/verification/test_evaluation.py",
    "balls.without_transforms": "words for an error; tests/engine/counterexamples/test_judge.py",
    "linalg.rank_gap": "a ratio of singular values to the threshold of this project",
    "linalg.rank_threshold": "the threshold of this project, a definition",
    "witnesses.outer_layers": "a number of layers; tests/theory/witnesses/test_sawtooth_code.py",
}


def public() -> set[str]:
    """The public functions, by room."""
    found = set()
    for room in ROOMS:
        module = importlib.import_module(f"rankcheck.{room}")
        names = getattr(module, "__all__", None) or [
            name
            for name, value in vars(module).items()
            if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")
        ]
        found |= {f"{room}.{name}" for name in names if inspect.isfunction(getattr(module, name))}
    return found


def marked() -> set[str]:
    """The functions that marks name, read from the syntax trees."""
    found = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                match mark:
                    case ast.Call(
                        func=ast.Attribute(attr="oracle"), args=[ast.Constant(value=str(name)), _]
                    ):
                        found.add(name.removeprefix("rankcheck."))
    return found


def test_every_public_function_has_an_oracle_or_a_reason():
    functions, named = public(), marked()
    assert named <= functions, "a mark names what is no public function"
    reasons = set(NONE_POSSIBLE)
    assert functions - named - reasons == set(), "no test is marked with an oracle of these"
    assert reasons & named == set(), "these have an oracle; take them off the list"
    assert reasons <= functions, "these are no public functions any more"
