"""A claim: an executable statement with an id, a reference, its instances and its controls."""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from rankcheck.balls import widths
from rankcheck.claims.facts import Facts
from rankcheck.claims.methods import Methods
from rankcheck.claims.relations import NoTruthValue, Relation
from rankcheck.errors import InputError, contained
from rankcheck.notebook import InNotebooks
from rankcheck.theory.instances.source import Instances

Body = Callable[..., "Relation | tuple[Relation, ...]"]


@dataclass(frozen=True)
class Need:
    """A hypothesis that cannot be dropped: a family without it, on which the claim must fail.

    `parameters` sets keyword-only parameters of the body for this control, where it needs that.
    """

    instances: Instances
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class Declaration(Facts):
    """The fields of a `Claim`, and what must be true of them.

    Attributes:
        body: a pure function of an instance that returns a relation, or a tuple of them.
        tight: a family on which both sides agree.
        needs: by hypothesis, a family without it that breaks the claim.
        mutants: by name, settings of the body's parameters that make the claim false.
        witness: the function, class or module that constructs what proves the claim.
        reach: a function of an instance that returns integers by name, such as the rank of a
            composition; the ledger shows which values the sweep reached.
    """

    body: Body
    instances: Instances | None
    tight: Instances | None = None
    needs: Mapping[str, Need] = field(default_factory=dict)
    mutants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    witness: object | None = None
    reach: Callable[..., Mapping[str, Any]] | None = None
    file: Path = Path()
    line: int = 0

    def __post_init__(self) -> None:
        """Check the rules of a claim.

        Raises:
            ClaimError: naming the one that is broken.
        """
        if not self.statement:
            raise ClaimError(self, "a claim states its mathematics in the docstring of its body")
        for name, parameter in inspect.signature(self.body).parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                rule = "it takes parts of an instance, and keyword-only parameters with defaults"
                raise ClaimError(self, f"the body takes **{name}; {rule}")
        if not 0 < self.effort < float("inf"):
            raise ClaimError(self, f"effort= is {self.effort!r}; it is a positive number")
        parameters = self.parameters
        for name, setting in {
            **self.mutants,
            **{name: need.parameters for name, need in self.needs.items()},
        }.items():
            unknown = set(setting) - set(parameters)
            if unknown:
                known = f"parameters of the body, which has {sorted(parameters) or 'none'}"
                raise ClaimError(
                    self, f"control {name!r} sets {sorted(unknown)}; it sets keyword-only {known}"
                )
        # What pytest and help() ask of a function. The fields of a `Claim` are frozen, and no more.
        self.__name__ = getattr(self.body, "__name__", self.id)
        self.__doc__ = self.body.__doc__
        self.__module__ = self.body.__module__

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The keyword-only parameters of the body, with their values in the claim itself."""
        return {
            name: parameter.default
            for name, parameter in inspect.signature(self.body).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }


class Claim(Methods, InNotebooks, Declaration):
    """A statement that a computer can put to the test.

    A decorator of `rankcheck.claims.declare` makes one of a body. Calling the claim evaluates the
    body, so a claim works as a function in a REPL. Its fields do not change.
    """

    def __call__(self, *instance: Any, **parameters: Any) -> Relation | tuple[Relation, ...]:
        """What the body returns for an instance."""
        return self.body(*instance, **parameters)

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The names of an instance's parts, as the body calls them; `*rest` with its star."""
        return tuple(
            f"*{name}" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else name
            for name, parameter in inspect.signature(self.body).parameters.items()
            if parameter.kind is not inspect.Parameter.KEYWORD_ONLY
        )

    def names(self, parts: int) -> tuple[str, ...]:
        """The names of so many parts of an instance: `*A` stands for A_1, A_2, and so on."""
        names = self.arguments
        if names and names[-1].startswith("*"):
            named, rest = names[:-1], names[-1].removeprefix("*")
            numbered = (f"{rest}_{i}" for i in range(1, parts - len(named) + 1))
            return (*named, *numbered)
        return names

    @property
    def claimed(self) -> str:
        """The whole docstring, as it is written: its first paragraph, then the rest."""
        if " ".join(self.statement.split()).removesuffix(".") == self.title:
            return self.statement
        stop = "" if self.title.endswith((":", ";", ",", "?", "!")) else "."
        return f"{self.title}{stop} {self.statement}"

    @property
    def statement_hash(self) -> str:
        """SHA-256 of id, title, statement, body and generator: the text of a claim.

        The functions that the body and the generator call are not part of it. A replay runs them
        as they are now, and compares both sides, the instance and the judgement with the file: it
        notices a change of such a function where it matters for the counterexample.
        """
        parts = [self.id, self.title, self.statement, _code(self.body)]
        if self.instances is not None:
            parts += [self.instances.name, _code(self.instances.origin)]
        return hashlib.sha256("\x1f".join(parts).encode("utf-8", "backslashreplace")).hexdigest()

    def relations(self, instance: tuple[Any, ...], **parameters: Any) -> tuple[Relation, ...]:
        """The body on an instance, always as a tuple.

        Raises:
            ClaimError: if the body takes another number of arguments, returns anything but
                relations, or asks for the truth of one.
        """
        try:
            with contained(), widths():
                returned = self.body(*instance, **parameters)
        except NoTruthValue as asked:
            *_, frame, _ = traceback.extract_tb(asked.__traceback__)
            place = f"{Path(frame.filename).name}:{frame.lineno}"
            raise ClaimError(self, f"at {place}, {asked}") from asked
        except TypeError:
            self._check_arguments(instance, parameters)
            raise
        relations = returned if isinstance(returned, tuple) else (returned,)
        if not relations or not all(isinstance(relation, Relation) for relation in relations):
            kinds = ", ".join(type(one).__name__ for one in relations) or "nothing"
            raise ClaimError(
                self,
                f"at {self._place}, the body returned {kinds}; "
                "a body returns leq(...), lt(...), eq(...) or a tuple of them",
            )
        return relations

    @property
    def _place(self) -> str:
        return f"{self.file.name}:{self.line}"

    def _check_arguments(self, instance: tuple[Any, ...], parameters: Mapping[str, Any]) -> None:
        """Check that the body takes an instance.

        Raises:
            ClaimError: if it takes another number of arguments.
        """
        try:
            inspect.signature(self.body).bind(*instance, **parameters)
        except TypeError as error:
            parts = f"{len(instance)} part{'s' * (len(instance) != 1)}"
            raise ClaimError(
                self,
                f"at {self._place}, the body takes {', '.join(self.arguments) or 'no arguments'}, "
                f"and an instance has {parts} ({error}); a body takes the parts of an instance, in "
                "the order in which the generator returns them",
            ) from error


class ClaimError(InputError):
    """A claim that is not well formed: the claim, and the rule that it breaks."""

    def __init__(self, claim: Declaration | str, rule: str) -> None:
        self.id = claim if isinstance(claim, str) else claim.id
        super().__init__(f"{self.id}: {rule}")


class ImpureError(ClaimError):
    """The code of a claim is no function of what is drawn from the source."""


def qualified_name(thing: object) -> str:
    """The dotted name of a module, class or function: how a witness is shown."""
    if isinstance(thing, ModuleType):
        return thing.__name__
    name = getattr(thing, "__qualname__", None) or type(thing).__qualname__
    return f"{getattr(thing, '__module__', '')}.{name}".lstrip(".")


def _code(function: Callable[..., Any]) -> str:
    """What a function does, whatever its layout, comments, docstring and decorators.

    Where its source cannot be read, as at a prompt: a digest of its bytecode.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError, IndexError):
        tree = ast.Module([], [])
    match tree.body:
        case [ast.FunctionDef(name=name) as definition] if name == function.__name__:
            definition.decorator_list = []
            match definition.body:
                case [ast.Expr(value=ast.Constant(value=str())), _, *_]:
                    del definition.body[0]
            return ast.unparse(definition)
        case [statement] if function.__name__ == "<lambda>":
            return ast.unparse(statement)
    # At a prompt Python may find no source, or that of something else.
    code = getattr(function, "__code__", None)
    if code is None:
        return qualified_name(function)
    return hashlib.sha256(_bytecode(code).encode()).hexdigest()


def _bytecode(code: CodeType) -> str:
    """The instructions of a function with its names and constants, without its place in a file."""
    constants = [
        _bytecode(value) if isinstance(value, CodeType) else repr(value) for value in code.co_consts
    ]
    return repr((code.co_code, code.co_names, code.co_varnames, constants))
