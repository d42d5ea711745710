"""What no reader of a page should see outside of code and formulas."""

import re

#: An escape or a command of LaTeX, a dollar, a backtick, strong emphasis, a link, a role, an
#: entity, a tag.
MARKUP = re.compile(
    r"\\[^\s]?|\$|`|(?<!\w)\*\*|\*\*(?!\w)|\]\(|\{\w+\}`|&(?:[a-z]+|#\d+);"
    r"|</?(?:[abipq]|em|code|div|span|strong|sub|sup|br|math)\b[^<>]*>"
)
