"""Prove a claim at a shape: it is true of all entries, and not only of those that were tried.

What lives here: what is written down of a proof (`proof`); the ways to make one (`exact` with
`sums`; `range`); the second checker, sharing no code with them (`checking`); what mutants say
(`controls`); the way of a claim through its shapes (`run`, `through`, `prover`); what comes out
(`result`, `sentences`), is kept (`file`, `again`), and is shown by verdicts (`standing`).
May import: `sharpen` and what is below.
"""
