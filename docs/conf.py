"""Sphinx: the pages of this folder with what code makes of them, a page for each claim and room.

`python -m sphinx -W --keep-going -b html docs docs/_build/html` builds them; nothing is fetched.
"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / "_ext"), str(Path(__file__).parents[1])]

from rankcheck import __version__  # noqa: E402

project = "rankcheck"
author = copyright = "The rankcheck developers"  # noqa: A001 -- Sphinx reads this name
release = version = __version__

extensions = ["myst_parser", "made", "catalogue", "api", "mathml"]
exclude_patterns = ["_build", "_ext"]
myst_enable_extensions = ["amsmath", "dollarmath"]
myst_dmath_double_inline = True  # $$...$$ inside a paragraph
myst_heading_anchors = 3

highlight_language = "text"  # of a block that names no language

html_theme = "furo"
html_title = "rankcheck"
html_math_renderer = "mathml"
html_copy_source = False
html_css_files = ["page.css"]
html_static_path = ["_static"]
