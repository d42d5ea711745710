"""A claim put to the test: search, controls, its row of the ledger; many claims on all cores.

What lives here: what `rankcheck verify` and pytest do with claims.
May import: `counterexamples`, `catalogue`, `claims`, and what is below them.
"""
