"""Verbs and options that are gone, and what to do in place of each."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["GONE", "instead"]

#: By what was typed, a verb or a verb and its option.
GONE = {
    "experiment": "train with the scripts of examples/figures, which write the record of a claim",
    "audit --against": "audit both checkpoints, and compare the results of rankcheck.audit",
    "audit --balanced": "balance a chain with rankcheck.networks.balance_neurons",
    "audit --executor": "audit in one process, or on a GPU with --device cuda",
    "audit --max-rank": "read the bounds of the ranks that occur",
    "audit --no-theorems": "call rankcheck.audit.audit(model, data, theorems=False) in Python",
    "audit --order": "audit each checkpoint, in a loop over rankcheck.audit",
    "audit --prune": "remove the units that the audit names, and audit the network again",
    "audit --tolerance": "count in Python: (s > t * s[0]).sum() for the singular values of a layer",
    "audit --watch": "audit each checkpoint, in a loop over rankcheck.audit",
    "audit --workers": "audit in one process, or on a GPU with --device cuda",
    "hunt --journal": "a certificate is written as soon as a counterexample is proved",
    "hunt --resume": "hunt again with another --seed; what was proved has its certificate",
    "prove --coq": "a refutation is written for Coq by rankcheck export --coq",
    "prove --slack": "state the claim with its factor, and prove that",
    "report --badge": "read the counts from the ledger that verify --json writes",
    "verify --github": "annotations are printed where GITHUB_ACTIONS is true",
    "verify --no-github": "annotations are printed only where GITHUB_ACTIONS is true",
}


def instead(words: Iterable[str]) -> str | None:
    """What to do in place of a verb that is gone, or of an option; None if none of them is.

    Args:
        words: a verb, and then what was typed after it.
    """
    verb, *others = [*words, ""]
    for typed in (verb, *(f"{verb} {one.partition('=')[0]}" for one in others)):
        if typed in GONE:
            return f"rankcheck {typed} is gone: {GONE[typed]}"
    return None
