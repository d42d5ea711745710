"""Verbs and options that are gone, and what to do in place of each."""

from __future__ import annotations

from collections.abc import Iterable

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
    "certify --folder": "a certificate is stored beside its claim, or left in .rankcheck",
    "certify --shrink": "give the instance that you want with --instance",
    "certify --tight": "give a certificate with --instance; it names the generator",
    "export --claims": "put the certificate beside the file of its claim, or in a folder below it",
    "hunt --journal": "a certificate is written as soon as a counterexample is proved",
    "hunt --resume": "hunt again with another --seed; what was proved has its certificate",
    "new --file": "move the file that rankcheck new has written",
    "prove --coq": "a refutation is written for Coq by rankcheck export --coq",
    "prove --slack": "state the claim with its factor, and prove that",
    "record --folder": "records are kept beside their claim",
    "record --tight": 'give --instance \'{"family": NAME, "choices": [...]}\'',
    "report --badge": "read the counts from the ledger that verify --json writes",
    "report --hunt": "the margin of a hunt is in the JSON of rankcheck hunt",
    "report --limit": "verify with --limit and --json FILE, and report --ledger FILE",
    "report --profile": "verify with --profile and --json FILE, and report --ledger FILE",
    "report --seed": "verify with --seed and --json FILE, and report --ledger FILE",
    "report --shrink": "verify with --shrink and --json FILE, and report --ledger FILE",
    "report --workers": "verify with --workers and --json FILE, and report --ledger FILE",
    "score --relation": "score with --json has all relations by their names",
    "score --tight": 'give --instance \'{"family": NAME, "choices": [...]}\'',
    "sharpen --by": "ratios are grouped by the first size of the instances",
    "sharpen --device": "searches for ratios run on the CPU; rankcheck hunt takes --device",
    "sharpen --executor": "sharpen with --workers; rankcheck hunt takes --executor",
    "sharpen --fresh": "delete .rankcheck/records/ID.json, from which a search goes on",
    "sharpen --relation": "all relations of a claim are measured, each under its name",
    "sharpen --shrink": "claim.sharpen(shrink=SECONDS) in Python",
    "show --html": "rankcheck report SELECTOR --ledger FILE writes claims as a page",
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
