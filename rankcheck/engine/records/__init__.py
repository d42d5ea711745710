"""Records: how sharp a relation is, as far as anybody knows, and the instance that proves it.

What lives here: what balls prove of one instance (`ratio`), `given` or on record; the `file` beside
a claim that keeps the best ones, and its `renewal`; its proof, once `again`. Nothing here searches.
May import: `counterexamples`, and what is below it. `file` does not import torch.
"""
