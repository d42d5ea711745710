"""What a claim does at a prompt: `claim.verify()`, `.hunt()`, `.sharpen()`, `.prove()`.

Each does what the command of its name does, with its options under the same names, in this process.
What they call stands on the floors above; it is imported when a method is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankcheck.doors import front


class Methods:
    """The methods of a `Claim`.

    All of them show how they go on: on a terminal, and in a notebook as one line that is gone at
    the end. Ctrl-C (or Interrupt) ends them. The results have a `verdict`, and a `counterexample`,
    which has the arguments of the body; it is None unless one is proved.
    """

    def verify(
        self,
        *,
        profile: str = "quick",
        seed: int = 0,
        shrink: float = 5.0,
    ) -> Any:
        """Put the claim to the test: `rankcheck verify`.

        Args:
            profile: how much is tried: quick, ci or deep.
            seed: of the sweeps and the draws.
            shrink: seconds for making a counterexample small.

        Returns:
            A `rankcheck.engine.verification.ledger.Row`.

        Raises:
            InputError: if an option is out of range.
            Exception: what the body or the generator raises, if it does so on every instance.
        """
        return front("asked")(self, "verify", profile=profile, seed=seed, shrink=shrink)

    def hunt(
        self,
        budget: float | None = 60.0,
        seed: int = 0,
        *,
        shrink: float = 5.0,
        scope: int | None = None,
        control: str | None = None,
        workers: int = 1,
        executor: Any = None,
        device: str = "cpu",
        rounds: int | None = None,
    ) -> Any:
        """Search for a counterexample, for a budget of seconds: `rankcheck hunt`.

        Args:
            budget: seconds; None for no limit, with `rounds`.
            scope: first, every instance of so many entries is evaluated; 0 for none.
            control: hunt this mutant, or hypothesis that is dropped, in place of the claim.
            workers, executor: processes, or `dask://host:port`; the claim is then in a file.
            device: of the tensors, cpu or cuda.
            rounds: the largest number of rounds.

        Returns:
            A `rankcheck.engine.hunt.Hunt`.

        Raises:
            InputError: if the claim cannot be hunted, or an option is out of range.
        """
        options = {
            "budget": budget,
            "seed": seed,
            "shrink": shrink,
            "scope": scope,
            "workers": workers,
            "executor": executor,
            "device": device,
            "rounds": rounds,
        }
        return front("asked")(self, "hunt", control=control, **options)

    def sharpen(
        self,
        *,
        dial: str | None = None,
        budget: float | None = 10.0,
        seed: int = 0,
        shrink: float = 2.0,
        record: bool = False,
        workers: int = 1,
        tasks: int | None = None,
    ) -> Any:
        """How sharp a bound is, and what attains it: `rankcheck sharpen`.

        Args:
            dial: a parameter of the body and an interval, `exponent=-2..0`: where is it false?
            budget: seconds; None for no limit, with `tasks`.
            record: keep better instances beside the claim.
            tasks: the largest number of batches.

        Returns:
            A `rankcheck.sharpen.result.Sharpened`.

        Raises:
            InputError: if there is nothing to measure, or an option is out of range.
        """
        options = {
            "dial": dial,
            "budget": budget,
            "seed": seed,
            "shrink": shrink,
            "workers": workers,
            "tasks": tasks,
        }
        return front("asked")(self, "sharpen", record=record, **options)

    def prove(
        self,
        *,
        shape: Mapping[str, int | Sequence[int]] | None = None,
        entries: int = 8,
        seconds: float = 20.0,
        seed: int = 0,
        keep: bool = False,
    ) -> Any:
        """Prove the claim at its smallest shapes, for all entries: `rankcheck prove`.

        Args:
            shape: sizes by name, `{"depth": (1, 2), "width": 1}`; all shapes otherwise.
            entries: shapes have at most so many entries.
            keep: keep the proofs beside the claim.

        Returns:
            A `rankcheck.decide.prove.result.Result`.

        Raises:
            InputError: if the claim has no instances that can be drawn, or is declared false; if
                there is no such size or shape; or an option is out of range.
            InstallationError: if the second checker refuses a proof, or a false mutant is proved.
        """
        options = {
            "shape": shape,
            "entries": entries,
            "seconds": seconds,
            "seed": seed,
        }
        return front("asked")(self, "prove", keep=keep, **options)
