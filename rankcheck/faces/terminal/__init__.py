"""What a person sees on a terminal: tables, progress, the catalogue as text.

What lives here: sentences and tables made from rows (`table`), audits (`audit`) and entries of the
catalogue (`catalogue`), the display of a running command (`display`, `live`), what a claim does and
shows at a prompt (`asking`, `prompt`), exit codes (`exits`), and what GitHub shows of a run
(`github`). A hunt, a sharpening and a proof have their texts with their results. Nothing here
computes a verdict.
May import: everything but `commands` and `pytest_plugin`.
"""
