"""The experiments, a figure of a document in each file.

What lives here: what is trained and measured for one figure, and what the document shows of it; and
what only these files share (`tasks`, `linear_notebooks`, `symmetry_task`, `symmetry_measures`).
`rankcheck.experiments.known` has their names.
May import: everything below `experiments`, and what the experiments share.
"""
