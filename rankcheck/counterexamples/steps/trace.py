"""Runs a body at a proved counterexample, and writes down what leads to the two sides."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from itertools import count
from pathlib import Path
from typing import Any

from rankcheck import balls
from rankcheck.balls import BallArray
from rankcheck.claims.counterexample import Step
from rankcheck.claims.relations import Relation
from rankcheck.claims.rewriting import Function
from rankcheck.counterexamples.instance import Instance
from rankcheck.counterexamples.judge import Judgement, exact_instance
from rankcheck.counterexamples.steps.texts import text
from rankcheck.counterexamples.steps.tree import (
    ATTRIBUTE,
    FUNCTION,
    RELATION,
    VALUE,
    Traced,
)

__all__ = ["steps"]

#: Functions of a body are looked at inside so many levels deep; so many values are recorded, and
#: so many steps shown, of which calls inside of expressions are the first that are left out.
DEEPEST, RECORDED, SHOWN = 2, 400, 24
#: What a docstring says of arrays.
_SHAPE = re.compile(r",? (of )?shapes? \(?\*?.*|,? \(\*B.*")
_STOP = re.compile(r"(?<!\.)\. ")
#: Longer expressions, calls around steps, and sentences are left out, or cut.
CODE, CALL, SENTENCE = 160, 60, 120


@dataclass(frozen=True)
class _Event:
    key: int
    within: str
    name: str
    code: str
    value: str
    meaning: str
    inner: bool
    side: bool
    part: tuple[int | None, int] | None


@dataclass
class _Trace:
    """What is recorded while a body runs."""

    folder: Path
    keys: count[int] = field(default_factory=count)
    events: list[_Event] = field(default_factory=list)
    known: dict[int, str] = field(default_factory=dict)
    traced: dict[Any, Traced | None] = field(default_factory=dict)
    inside: dict[int, Traced] = field(default_factory=dict)
    relations: list[tuple[int, Traced, Relation]] = field(default_factory=list)
    _path: list[tuple[Traced, str]] = field(default_factory=list)

    def of(self, function: Any) -> Traced | None:
        """The traced form of a function, made once."""
        if function not in self.traced:
            hooks: dict[str, Callable[..., Any]] = {
                VALUE: self._value,
                FUNCTION: self._function,
                ATTRIBUTE: self._attribute,
                RELATION: self._relation,
            }
            self.traced[function] = Traced.of(function, self.keys, **hooks)
        return self.traced[function]

    def run(self, made: Traced, code: str, *arguments: Any, **options: Any) -> Any:
        """Call a traced function; `code` is the call."""
        assert made.function is not None
        self._path.append((made, code if len(code) <= CALL else f"{made.name}(…)"))
        try:
            return made.function(*arguments, **options)
        finally:
            self._path.pop()

    # What a rewritten text calls

    def _value(self, key: int, value: Any) -> Any:
        place = self._path[-1][0].places[key]
        if place.kind == "called" and key not in self.known:
            return value  # a function of torch: its meaning is its name
        meaning = self.known.get(key if place.outer is None else place.outer, "")
        if len(place.names) > 1:
            if isinstance(value, list | tuple) and len(value) == len(place.names):
                for i, (name, part) in enumerate(zip(place.names, value, strict=True)):
                    whence = f"of {place.code}"
                    self._note(key, name, "", part, meaning=whence, part=(place.outer, i))
            return value
        name = place.names[0] if place.names else ""
        self._note(key, name, place.code, value, meaning=meaning)
        return value

    def _attribute(self, key: int, owner: Any, name: str) -> Any:
        value = getattr(owner, name)
        if type(owner).__module__.startswith("rankcheck.") and not isinstance(owner, BallArray):
            self.known[key] = _first_line(getattr(type(owner), name, None))
            place = self._path[-1][0].places[key]
            if not isinstance(value, list | tuple):
                self._note(key, "", place.code, value, meaning=self.known[key])
        return value

    def _function(self, key: int, function: Any) -> Any:
        called = function if inspect.isroutine(function) else type(function).__call__
        plain = inspect.unwrap(getattr(called, "__func__", called))
        mine = self._is_near(function)
        if getattr(plain, "__module__", None) is None or isinstance(function, type):
            return function
        if (plain.__module__.startswith("rankcheck.") or mine) and not _is_noise(plain):
            self.known[key] = _first_line(plain)
        if not mine or len(self._path) > DEEPEST:
            return function
        made = self.of(function)
        if made is None or any(made is each for each, _ in self._path):
            return function
        self.inside[key] = made
        code = self._path[-1][0].places[key].code

        @wraps(function)
        def recorded(*arguments: Any, **options: Any) -> Any:
            return self.run(made, code, *arguments, **options)

        return recorded

    def _relation(self, key: int, relation: Any) -> Any:
        if isinstance(relation, Relation):
            self.relations.append((key, self._path[-1][0], relation))
        return relation

    def _is_near(self, function: Any) -> bool:
        """Whether a function is one of the file of the claim, or of a file beside it."""
        if not isinstance(function, Function) or "<locals>" in function.__qualname__:
            return False
        file = Path(function.__code__.co_filename)
        return file == self.folder or file.parent == self.folder

    def _note(
        self,
        key: int,
        name: str,
        code: str,
        value: Any,
        *,
        meaning: str,
        part: tuple[int | None, int] | None = None,
    ) -> None:
        written = text(value) if len(self.events) < RECORDED else None
        if written is not None and len(code) <= CODE:
            within = self._path[-1][1]
            kind = self._path[-1][0].places[key].kind
            inner, side = kind in ("called", "read"), kind == "side"
            event = _Event(key, within, name, code, written, meaning, inner, side, part)
            self.events.append(event)

    # What is made of it

    def before(self, judged: list[Relation]) -> list[_Event]:
        """What leads to the sides of some relations; of all, if these are none that was made."""
        made = [one for one in self.relations if any(one[2] is each for each in judged)]
        used: dict[int, set[int] | None] = {}
        for key, function, _ in made or self.relations:
            self._add(used, *function.leads_to(key))
        return [event for event in self.events if _is_used(event, used)]

    def _add(
        self, used: dict[int, set[int] | None], new: set[int], parts: dict[int, set[int] | None]
    ) -> None:
        for key in new - used.keys():
            used[key] = parts.get(key)
            if key in self.inside:
                self._add(used, *self.inside[key].returns(used[key]))


def steps(instance: Instance) -> tuple[Step, ...]:
    """What leads from a counterexample to the two sides that it refutes, in the order of the body.

    The assignments of the body that the sides rest on, those of functions beside the claim that it
    calls, and the calls and attributes inside of them whose values are numbers or arrays. Nothing
    where the text of the body is not known, as at a prompt, or where no violation is proved.
    """
    judgement = instance.in_balls
    trace = _Trace(_home(instance.claim.body))
    made = trace.of(instance.claim.body)
    if made is None or judgement.finding != "refuted":
        return ()
    with balls.precision(judgement.bits):
        try:
            with balls.conventions():
                arguments = exact_instance(instance.family, instance.record)
                returned = trace.run(made, "", *arguments)
        except Exception:  # a text that does not run apart from its file: the two sides are known
            return ()
        relations = returned if isinstance(returned, tuple) else (returned,)
        if judgement.relation >= len(relations):
            return ()
        parts = list(relations[judgement.relation].parts)
        if not any(_has_sides(part, judgement) for part in parts):
            return ()
    return tuple(_shown(trace.before(parts)))


def _home(body: Callable[..., Any]) -> Path:
    """The folder of a body, whose files are its own; a file that is in none.

    The cells of a notebook have names of files in one folder, which does not exist.
    """
    file = Path(getattr(getattr(body, "__code__", None), "co_filename", ""))
    return file.parent if file.is_file() or "ipykernel" in file.parent.name else file


def _has_sides(part: Relation, judgement: Judgement) -> bool:
    """Whether a relation has the sides of a judgement in some entry."""
    assert judgement.lhs is not None
    assert judgement.rhs is not None
    wanted = judgement.lhs.describe(), judgement.rhs.describe()
    lhs, rhs = (balls.balls(side.reshape(-1)) for side in part.sides())
    return any(
        (balls.balls(a).describe(), balls.balls(b).describe()) == wanted
        for a, b in zip(lhs, rhs, strict=True)
    )


def _is_used(event: _Event, used: dict[int, set[int] | None]) -> bool:
    """Whether an event is of a key that is used, and of a part of its value that is."""
    if event.key not in used or event.part is None:
        return event.key in used
    outer, number = event.part
    parts = None if outer is None else used.get(outer)
    return parts is None or number in parts


def _shown(events: list[_Event]) -> Iterator[Step]:
    """Each value once; of many, calls inside of expressions and the first are left out."""
    seen: set[tuple[str, str, str]] = set()
    chosen: list[_Event] = []
    assigned = {event.code for event in events if event.name}
    for event in events:
        same = event.within, event.name or event.code, event.value
        trivial = not event.name and (event.code.isidentifier() or event.code in assigned)
        trivial |= event.side and not _several(event.value)
        if same not in seen and not trivial and event.code != event.value:
            seen.add(same)
            chosen.append(event)
    if len(chosen) > SHOWN:
        chosen = [event for event in chosen if not event.inner]
    for event in chosen[-SHOWN:]:
        yield Step(event.name, event.code, event.value, event.meaning, event.within)


def _several(value: str) -> bool:
    """Whether the text of a value has more than one number."""
    return "," in value or "×" in value or value.endswith("numbers")


def _first_line(documented: Any) -> str:
    """The first sentence on a function, without its full stop; empty if there is none."""
    if isinstance(documented, property):
        documented = documented.fget
    text = documented if isinstance(documented, str) else getattr(documented, "__doc__", None)
    first = inspect.cleandoc(text or "").partition("\n\n")[0]
    sentence = _SHAPE.sub("", _STOP.split(" ".join(first.split()))[0])
    sentence = sentence if sentence.endswith("...") else sentence.rstrip(".:;")
    return sentence if len(sentence) <= SENTENCE else ""


def _is_noise(function: Any) -> bool:
    """Whether a function bounds rounding errors, which balls do not have."""
    return str(getattr(function, "__name__", "")).endswith("noise")
