"""A claim as a test item, which verifies the claim and keeps its row."""

from __future__ import annotations

from functools import wraps
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rankcheck.claims.registry import Malformed
from rankcheck.engine.parallel.arithmetic import single_thread
from rankcheck.engine.verification.ledger import Row
from rankcheck.engine.verification.one import stopped_by
from rankcheck.errors import ClaimFalse
from rankcheck.faces.pytest_plugin.options import Options
from rankcheck.faces.pytest_plugin.properties import CLAIM, VERDICT, properties_of, put
from rankcheck.files import shown_path

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim

#: The options of the run, in the stash of the configuration.
OPTIONS = pytest.StashKey[Options]()


def items_of(collector: Any, name: str, claim: Claim) -> list[ClaimItem]:
    """The tests of a claim: one, or as many as pytest finds settings of its dials.

    pytest is shown a function that has the marks of the claim, and for arguments the dials that are
    parametrized. So fixtures and marks act as on any test.
    """
    from rankcheck.claims.variants import at, settings

    @wraps(claim.body)
    def shown() -> None: ...

    seen: Any = shown
    dials = list(settings(claim)[0])
    seen.__signature__ = Signature([Parameter(dial, Parameter.KEYWORD_ONLY) for dial in dials])
    seen.pytestmark = [*getattr(seen, "pytestmark", []), *getattr(claim, "pytestmark", [])]
    items = []
    for made in collector._genfunctions(name, seen):
        call = getattr(made, "callspec", None)
        item = ClaimItem.from_parent(
            collector,
            name=made.name,
            claim=claim if call is None else at(claim, {dial: call.params[dial] for dial in dials}),
            callobj=seen,
            callspec=call,
            fixtureinfo=made._fixtureinfo,
            keywords=call and {call.id: True},
            originalname=name,
        )
        items.append(item)
    return items


class ClaimItem(pytest.Function):
    """The test of one claim.

    Attributes:
        row: what was found about the claim; None before the test has run.
    """

    def __init__(self, *, claim: Claim, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.claim = claim
        self.row: Row | None = None
        put(self.user_properties, properties_of(claim))

    def runtest(self) -> None:
        """Verify the claim, then hunt it if it is a conjecture and `--rankcheck-hunt` was given.

        Raises:
            ClaimFalse: if the row is not as expected, or a relation is asserted too seldom.
            Exception: what the check of the claim raised.
        """
        from rankcheck.engine.verification.check import verify_claim

        options = self.config.stash[OPTIONS]
        with single_thread():
            try:
                self.row = verify_claim(self.claim, options.settings)
                if self.row.expected and self.claim.kind == "conjecture" and options.hunt:
                    self.row = self._hunted(options.hunt, self.row)
            except Exception as error:
                self.row = stopped_by(self.claim, error)
                raise
        if not self.row.expected:
            raise ClaimFalse("\n".join(self.row.messages))
        seldom = self.row.seldom_asserted(options.least_asserted)
        if seldom:
            raise ClaimFalse(f"{self.claim.id}: {'; '.join(seldom)}")

    def _hunted(self, seconds: float, known: Row) -> Row:
        from rankcheck.engine.hunt.rows import row_of
        from rankcheck.engine.hunt.run import hunt

        settings = self.config.stash[OPTIONS].settings
        return row_of(hunt(self.claim, seconds, settings.seed, folder=settings.folder), known)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """For a claim that is not as expected: the message and its place, no traceback."""
        if not isinstance(excinfo.value, ClaimFalse):
            return super().repr_failure(excinfo)
        from _pytest._code.code import ReprExceptionInfo, ReprFileLocation, ReprTracebackNative

        message = str(excinfo.value)
        return ReprExceptionInfo(
            reprcrash=ReprFileLocation(
                str(self.claim.file), self.claim.line, message.split("\n", 1)[0]
            ),
            reprtraceback=ReprTracebackNative([message + "\n"]),
        )

    def reportinfo(self) -> tuple[Path, int, str]:
        """The file and the line of the claim, and its name."""
        return self.claim.file, self.claim.line - 1, self.name


class MalformedItem(pytest.Item):
    """The test of a claim that is not well formed: it fails and says why."""

    def __init__(self, *, claim: Malformed, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.claim = claim
        put(self.user_properties, [(CLAIM, claim.id), (VERDICT, "failed")])

    def runtest(self) -> None:
        """Fail.

        Raises:
            ClaimFalse: always.
        """
        raise ClaimFalse(f"{self.claim.id}: {self.claim.problem}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """The place and what is wrong, no traceback."""
        return f"{shown_path(self.claim.file)}:{self.claim.line}: {excinfo.value}"

    def reportinfo(self) -> tuple[Path, int, str]:
        """The file and the line of the claim, and its name."""
        return self.claim.file, self.claim.line - 1, self.name
