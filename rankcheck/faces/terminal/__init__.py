"""What a person sees on a terminal: tables, progress, the catalogue as text.

What lives here: sentences and tables made from rows (`table`), hunts (`hunting`), sharpenings
(`sharpening`) and entries of the catalogue (`catalogue`), the display of a running command
(`display`, `live`), and what GitHub shows of a run (`github`). Nothing here computes a verdict.
May import: everything but `commands` and `pytest_plugin`.
"""
