"""What an action changed: lines that came, went or changed, with refs."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from browser.page.snapshot import snapshot_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.page.view import View

# Beyond this many lines a diff by matching is slow, and a page so different is better shown anew.
_DIFF_LINES = 4_000
_GONE_SHOWN = 3  # of a run of lines that went, the first few say which


def changes(before: View | None, after: View, budget: int, query: str | None) -> str:
    """Describe the change between two views: a diff, or the new snapshot where that is shorter.

    `+` lines are new, `-` lines are gone; an empty string says that nothing visible changed.
    """
    snapshot, _ = snapshot_of(after, budget, query)
    if before is None or before.url.split("#")[0] != after.url.split("#")[0]:
        return snapshot.text
    old = [line.rendered() for line in before.lines]
    new = [line.rendered() for line in after.lines]
    if old == new:
        return ""
    if len(old) + len(new) > _DIFF_LINES:
        return snapshot.text
    text = "\n".join(_diff(old, new))
    return text if len(text) <= len(snapshot.text) else snapshot.text


def _diff(old: Sequence[str], new: Sequence[str]) -> list[str]:
    out: list[str] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        out += [f"+ {text}" for text in new[j1:j2]]
        if tag == "replace" and j2 - j1 >= i2 - i1:
            continue  # the new lines stand for the old ones
        gone = [f"- {text[:80]}" for text in old[i1:i2]]
        out += gone[:_GONE_SHOWN]
        if len(gone) > _GONE_SHOWN:
            out.append(f"- ({len(gone) - _GONE_SHOWN} more lines went)")
    return out
