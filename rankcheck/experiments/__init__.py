"""Experiments: the training runs behind the figures of the documents, remade and recorded.

What lives here: the experiments (`figures/`, one a file), what they share (`base`, `stack`,
`training`, `audited`), how they are run (`run`) and kept (`folder`), the results of scale `small`
(`recorded/`), what claims about them need (`claims`, `recording`, `statistics`), and what people
have written of them (`pages`).
How a result is shown is `terminal` and `report`.
May import: everything below it, `audit` among them.
"""

from rankcheck.experiments.known import NAMES, experiment
from rankcheck.experiments.records import recorded

__all__ = ["NAMES", "experiment", "recorded"]
