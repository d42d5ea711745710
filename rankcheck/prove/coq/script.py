"""Steps as the lines of a proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rankcheck.prove.coq.steps import Step

__all__ = ["Script", "conjunction"]

#: Rules whose steps stand inside others: the statement of such a step does not grow.
_INLINE = ("any ", "ratio ", "plus ", "opposite ", "odd ", "even ")


class Script:
    """The lines of a proof: every step once, before what rests on it.

    Args:
        ends: the steps that the proof ends with.
    """

    def __init__(self, ends: Sequence[Step]) -> None:
        self._names: dict[Step, str] = {}
        self._uses: Counter[Step] = Counter()
        order = list(_in_order(ends))
        for step in order:
            self._uses.update(step.before)
        self.lines: list[str] = []
        for step in order:
            last = step in ends and not self._uses[step]
            if self._inline(step) or (last and not step.script):
                continue
            name = f"s{len(self.lines) + 1}"
            how = self._filled(step) if step.script else f"exact {self.term(step)}"
            self.lines.append(f"assert ({name} : {step.statement}) by ({how}).")
            self._names[step] = name

    def _inline(self, step: Step) -> bool:
        if step.script:
            return False
        if not step.before:  # a hypothesis, or a number
            return True
        return step.why.startswith(_INLINE) and self._uses[step] < 2

    def _filled(self, step: Step) -> str:
        return step.why.format(*map(self.term, step.before))

    def term(self, step: Step) -> str:
        """A step as a term."""
        return self._names.get(step) or f"({self._filled(step)})"


def _in_order(ends: Sequence[Step]) -> Iterator[Step]:
    """Steps after those that they rest on, each once."""
    seen: set[Step] = set()
    waiting = [(step, False) for step in reversed(ends)]
    while waiting:
        step, ready = waiting.pop()
        if ready:
            yield step
        elif step not in seen:
            seen.add(step)
            waiting.append((step, True))
            waiting += [(one, False) for one in reversed(step.before)]


def conjunction(proofs: Sequence[str]) -> str:
    """A proof of a conjunction, from those of its parts.

    >>> conjunction(["a", "b", "c"])
    '(conj a (conj b c))'
    """
    *front, last = proofs
    for one in reversed(front):
        last = f"(conj {one} {last})"
    return last
