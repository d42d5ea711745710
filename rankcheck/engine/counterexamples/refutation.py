"""A proved counterexample as an object: the arguments of the body, both sides, the names in it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Any

from rankcheck import balls
from rankcheck.claims.claim import Claim
from rankcheck.claims.counterexample import Counterexample, Step, plain
from rankcheck.claims.relations import Relation
from rankcheck.claims.sides import assignments, changed, definition, sides_of, text_in
from rankcheck.engine.counterexamples.certificate import section
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.judge import exact_instance
from rankcheck.engine.counterexamples.values import text
from rankcheck.notebook import InNotebooks
from rankcheck.theory.instances.drivers import ReplaySource

#: Longer expressions that a body assigns are left out.
CODE = 160


class Refutation(InNotebooks, Counterexample):
    """A counterexample that ball arithmetic has proved, with the arguments of the body at hand.

    Beside the texts of a `Counterexample` it has the arguments under the names that the body gives
    them: `found.net`, or `found["net"]` where the name is taken. `claim(*found)` evaluates the body
    there. What is sent to another process, or written as JSON, is the `Counterexample` alone.

    Attributes:
        instance: what was judged; `instance.in_balls` has both sides as balls.
        certificate: the file of a certificate of the claim, which may hold a smaller counterexample
            that was found earlier; None if there is no file.
    """

    instance: Instance
    certificate: str | None

    @property
    def claim(self) -> Claim:
        """The claim that is false."""
        return self.instance.claim

    @cached_property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of the body by name, in their order: tensors of float64, networks, ints."""
        instance = self.instance
        return self._named(instance.family(ReplaySource(instance.record)))

    @cached_property
    def exact(self) -> Mapping[str, Any]:
        """The same in exact numbers, as they were judged: `rankcheck.balls.BallArray`s."""
        with balls.precision(self.bits):
            return self._named(self.instance.exact)

    def _named(self, parts: tuple[Any, ...]) -> Mapping[str, Any]:
        return MappingProxyType(dict(zip(self.claim.names(len(parts)), parts, strict=True)))

    @property
    def relation(self) -> Relation:
        """The relation that fails, with both sides in floats."""
        return self.instance.relations[self.instance.in_balls.relation]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.arguments.values())

    def __len__(self) -> int:
        return len(self.arguments)

    def __getitem__(self, name: str | int) -> Any:
        """An argument by its name, or its number."""
        if isinstance(name, int):
            return tuple(self)[name]
        return self.arguments[name]

    def __getattr__(self, name: str) -> Any:
        """An argument by its name."""
        if name.startswith("_") or "instance" not in vars(self) or name not in self.arguments:
            raise AttributeError(
                f"a counterexample has no {name!r}"
                + (f"; its arguments are {', '.join(self.arguments)}" if name[:1] != "_" else "")
            )
        return self.arguments[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.arguments})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counterexample) and _texts(self) == _texts(other)

    def __hash__(self) -> int:
        return hash(tuple(_texts(self).values()))

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> tuple[Any, ...]:
        return plain, (_texts(self),)


def explained(instance: Instance, certificate: str | None = None) -> Refutation:
    """A proved counterexample: its arguments, its sides as the body writes them, the names there.

    Args:
        certificate: the file.

    Raises:
        ValueError: if no violation is proved.
    """
    judged = instance.in_balls
    found = replace(
        Counterexample.of(section(instance)),
        texts=sides_of(instance.claim, judged.relation, judged.label),
        entry=judged.entry,
        entries=judged.entries,
        steps=_steps(instance),
    )
    made = Refutation(**_texts(found))
    vars(made).update(instance=instance, certificate=certificate)
    return made


def _steps(instance: Instance) -> tuple[Step, ...]:
    """The names in the body with their values."""
    with balls.precision(instance.in_balls.bits):
        named = named_values(instance)
        written = {name: text(value) for name, value in named.items()}
    code = assigned(instance.claim)
    return tuple(Step(n, code.get(n, ""), value) for n, value in written.items() if value)


def _texts(found: Counterexample) -> dict[str, Any]:
    return {each.name: getattr(found, each.name) for each in fields(Counterexample)}


def named_values(instance: Instance) -> dict[str, Any]:
    """The local variables of the body where it returns, in exact numbers, without its arguments."""
    claim, found = instance.claim, dict[str, Any]()
    code = getattr(claim.body, "__code__", None)

    def look(frame: Any, event: str, _: Any) -> None:
        if event == "return" and frame.f_code is code:
            taken = code.co_argcount + code.co_kwonlyargcount
            found.update(
                (name, frame.f_locals[name])
                for name in code.co_varnames[taken:]
                if name in frame.f_locals
            )

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        with balls.conventions():
            claim.relations(exact_instance(instance.family, instance.record))
    finally:
        sys.setprofile(before)
    return found


def assigned(claim: Claim) -> dict[str, str]:
    """By name, the expression that the body assigns to it, of names that nothing else changes.

    Of several names for the parts of one value, `f(x)[0]` and so on. Long ones are left out.
    """
    tree = definition(claim)
    if tree is None:
        return {}
    found, shown = dict[str, str](), text_in(claim, tree)
    for target, value in chain.from_iterable(map(assignments, ast.walk(tree))):
        code = shown(value)
        if isinstance(target, ast.Name):
            found[target.id] = code
        elif isinstance(target, ast.Tuple):
            for i, part in enumerate(target.elts):
                if not isinstance(part, ast.Name):  # what comes behind a star has another place
                    break
                found[part.id] = f"{code}[{i}]"
    often = changed(tree)
    return {name: code for name, code in found.items() if name not in often and len(code) <= CODE}
