"""Claims are verified: searched for violations, their controls checked, their rows written.

What lives here: one claim (`check`, with `search` and `controls`), below them a batch of instances,
for hunts too (`batches`, which is `mapped` or runs one at a time, as `ways` knows; what became of
it, `evaluation`), many claims (`run`), and what they leave (`ledger`,
`counts`). `rankcheck.verify_claim`, which knows hunts and proofs as well, is in `decide.prove`.
May import: `counterexamples`, `parallel`, `catalogue`, `claims`, and what is below them.
`profiles`, `ledger` and `run` do not import torch.
"""
