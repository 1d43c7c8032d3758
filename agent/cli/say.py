"""Words on the terminal: errors and hints on stderr, free of control characters."""

from __future__ import annotations

import sys

from browser.text.hygiene import clean


def complain(message: str, hint: str = "") -> None:
    """Say what went wrong in one line, and what to do in a second one."""
    print(f"research: {clean(message)}", file=sys.stderr)
    if hint:
        print(f"  hint: {clean(hint)}", file=sys.stderr)
